/** YAML that people wrote, and what is wrong with it in words that help them. */
import { parseDocument } from 'yaml';
import { cut } from '../core/outside.js';
import { errorMessage } from '../errors.js';

/** Throws an Error that says what is wrong; `pretty`: with its line. Null for an empty text. */
export function readYaml(text: string, { pretty = false } = {}): unknown {
  try {
    const document = parseDocument(text, { prettyErrors: pretty, logLevel: 'error' });
    const [broken] = document.errors;
    if (broken !== undefined) throw broken;
    return document.toJS();
  } catch (error) {
    throw new Error(yamlProblem(error), { cause: error });
  }
}

/** What a parser or an alias stumbled over. */
export function yamlProblem(error: unknown): string {
  const message = errorMessage(error).trim();
  if (/call stack/i.test(message)) return 'it nests too deeply';
  if (/alias count/i.test(message)) return 'its aliases multiply without end';
  return message.split('\n').map(cut).join('\n');
}
