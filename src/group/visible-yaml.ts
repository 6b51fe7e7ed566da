/** YAML for a terminal or an editor. Its strings may come from untrusted sources. */
import { hasInvisible, visibleInQuotes } from '../model/outside.js';
import { yaml } from '../on-demand.js';

/** Returns equivalent YAML with invisible characters escaped, as in JSON. */
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
