/** YAML for a terminal or an editor, where a string may have been written by others. */
import { hasInvisible, visibleInQuotes } from '../model/outside.js';
import { yaml } from '../on-demand.js';

/** YAML that says the same with what is invisible escaped, as in JSON. */
export function visibleYaml(value: unknown): string {
  const { Document, visit } = yaml();
  const document = new Document(value, { aliasDuplicateObjects: false });
  visit(document, {
    Scalar(_key, scalar) {
      if (typeof scalar.value === 'string' && hasInvisible(scalar.value)) scalar.type = 'QUOTE_DOUBLE';
    },
  });
  return visibleInQuotes(document.toString({ lineWidth: 0 }));
}
