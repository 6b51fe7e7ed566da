/**
 * Parses YAML, and reports problems in helpful terms. The parsing time is proportional to the length of the
 * text, even if the text is malformed. The parser's own check for duplicate keys and its quoting of lines
 * would take longer, so both are disabled.
 */
import { type Document, isScalar, LineCounter, parseDocument, visit, type YAMLMap } from 'yaml';
import { errorMessage } from '../errors.js';
import { cut } from '../model/outside.js';

export interface YamlProblem {
  /** Position of the problem, as an offset in the text. */
  readonly offset: number;
  readonly message: string;
}

export interface ParsedYaml {
  readonly document: Document;
  readonly problems: readonly YamlProblem[];
  /** Converts offsets to positions. `line` and `col` start at 1. */
  readonly lines: LineCounter;
}

/** Parses YAML text. Throws an Error if the text cannot be parsed at all. */
export function parseYaml(text: string): ParsedYaml {
  const lines = new LineCounter();
  const options = { lineCounter: lines, prettyErrors: false, uniqueKeys: false, logLevel: 'error' } as const;
  const document = parseDocument(text, options);
  const errors = document.errors.map((error) => ({ offset: error.pos[0], message: yamlProblem(error) }));
  return { document, lines, problems: [...errors, ...doubledKeys(document)] };
}

/**
 * Returns the parsed value of YAML text, or null if the text is empty. Throws an Error that says what is
 * wrong, and where.
 */
export function readYaml(text: string): unknown {
  try {
    const { document, problems, lines } = parseYaml(text);
    const [problem] = problems;
    if (problem === undefined) return document.toJS();
    const { line, col } = lines.linePos(problem.offset);
    throw new Error(`${problem.message} at line ${line}, column ${col}`);
  } catch (error) {
    throw new Error(yamlProblem(error), { cause: error });
  }
}

/** Returns a clearer message for an error from the parser, or for an error about an alias. */
export function yamlProblem(error: unknown): string {
  const message = errorMessage(error).trim();
  if (/call stack/i.test(message)) return 'the YAML is nested too deeply';
  if (/multiple documents/i.test(message))
    return 'expected one YAML document, found several: keep one, and remove the --- lines';
  if (/alias count/i.test(message)) return 'the YAML aliases expand to too many values';
  return cut(message);
}

function doubledKeys(document: Document): YamlProblem[] {
  const problems: YamlProblem[] = [];
  visit(document, { Map: (_, map) => void problems.push(...doubledIn(map)) });
  return problems;
}

function doubledIn({ items }: YAMLMap): YamlProblem[] {
  const seen = new Set<unknown>();
  return items.flatMap(({ key }) => {
    if (!isScalar(key) || key.value === '<<') return [];
    // Reject the key `__proto__`: it would be lost as an object key.
    if (key.value === '__proto__')
      return [{ offset: key.range?.[0] ?? 0, message: '__proto__ is not allowed as a name' }];
    const isDoubled = seen.has(key.value);
    seen.add(key.value);
    return isDoubled ? [{ offset: key.range?.[0] ?? 0, message: 'Map keys must be unique' }] : [];
  });
}
