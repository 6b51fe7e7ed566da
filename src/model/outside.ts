/**
 * Checks values from outside before they are trusted, and formats them for messages. Messages about such
 * values are short, whatever the values contain.
 */

const longestQuote = 120;
const longestList = 20;
/**
 * Maximum nesting depth of any value that Petrel reads. A more deeply nested value could exhaust the stack of
 * the code that traverses it.
 */
const deepest = 64;

/** Formats a value for a message. The result is on one line, and is truncated if it is long. Never throws. */
export function quoted(value: unknown): string {
  if (typeof value === 'string') return `"${cut(value)}"`;
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' && value !== null ? 'an object' : cut(String(value));
}

/** Returns the text on one line, truncated if it is long. */
export function cut(text: string): string {
  return oneLine(text.length > longestQuote ? `${text.slice(0, longestQuote)}…` : text);
}

/**
 * Returns the text in a form that can neither control a terminal nor be mistaken for other text. The result
 * is on one line, with invisible characters spelled out.
 */
export function oneLine(text: string): string {
  return visible(text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' '));
}

/**
 * Spells out invisible characters that change how people read text, for example its direction or its word
 * boundaries. Writes each as its code point, such as `<U+202E>`.
 */
export function visible(text: string): string {
  return text.replaceAll(/\p{Cf}/gu, (character) => `<U+${codeOf(character).padStart(4, '0')}>`);
}

/**
 * Matches invisible characters, characters that some readers treat as line ends, and one-character terminal
 * controls. `JSON.stringify` does not escape them.
 */
const invisible = /[\p{Cf}\p{Zl}\p{Zp}\u007f-\u009f]/gu;

/** Whether the JSON or YAML form of `text` would contain invisible characters. */
export function hasInvisible(text: string): boolean {
  return text.search(invisible) !== -1;
}

/** Returns equivalent JSON without invisible characters. */
export function visibleJson(json: string): string {
  return json.replaceAll(invisible, (character) =>
    [...Array(character.length).keys()]
      .map((at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`)
      .join(''),
  );
}

/** Returns equivalent YAML without invisible characters. Replaces only text in double quotes. */
export function visibleInQuotes(yaml: string): string {
  return yaml.replaceAll(invisible, (character) => {
    const code = codeOf(character).toLowerCase();
    return character.length === 1 ? `\\u${code.padStart(4, '0')}` : `\\U${code.padStart(8, '0')}`;
  });
}

function codeOf(character: string): string {
  return (character.codePointAt(0) ?? 0).toString(16).toUpperCase();
}

/** Returns the first lines. If lines were omitted, a final line gives their number. */
export function firstOf(lines: readonly string[]): string[] {
  const rest = lines.length - longestList;
  return rest <= 1 ? [...lines] : [...lines.slice(0, longestList), `and ${rest} more`];
}

export class UnusableKey extends Error {
  override readonly name = 'UnusableKey';
}

/**
 * Returns a key that a user wrote. Throws UnusableKey for `__proto__`, which an object would not store as a
 * key.
 */
export function usableKey(key: string): string {
  if (key === '__proto__') throw new UnusableKey('__proto__ is not allowed as a name');
  return key;
}

/**
 * Returns the problem if a value is nested too deeply. Returns null if it is not. A value that contains
 * itself counts as nested too deeply.
 */
export function depthProblem(value: unknown): string | null {
  let level = new Set([value]);
  for (let depth = 0; depth <= deepest; depth++) {
    level = new Set([...level].flatMap(inside));
    if (level.size === 0) return null;
  }
  return `the content is nested deeper than ${deepest} levels`;
}

function inside(value: unknown): unknown[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).filter((part) => typeof part === 'object' && part !== null);
}
