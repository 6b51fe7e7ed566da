/** YAML for a terminal or an editor, from strings that may come from untrusted sources. */
import { hasInvisible, visibleInQuotes } from '../model/outside.js';
import { yaml } from '../on-demand.js';

/**
 * Returns YAML in which invisible characters are escaped, as in JSON. Parsing this YAML gives the same value.
 */
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
