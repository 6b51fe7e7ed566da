/**
 * Values from outside, in messages and before they are trusted: whatever they are, what is said of them is
 * short.
 */

const longestQuote = 120;
const longestList = 20;
/** Nothing that Petrel reads nests deeper; what does would exhaust the stack of whoever walks it. */
const deepest = 64;

/** A value as a message shows it: on one line, cut where it is long. Never throws. */
export function quoted(value: unknown): string {
  if (typeof value === 'string') return `"${cut(value)}"`;
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' && value !== null ? 'an object' : cut(String(value));
}

/** Text on one line, cut where it is long. */
export function cut(text: string): string {
  return oneLine(text.length > longestQuote ? `${text.slice(0, longestQuote)}…` : text);
}

/**
 * Text that neither commands a terminal nor looks like another: on one line, with what is invisible spelt
 * out.
 */
export function oneLine(text: string): string {
  return visible(text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' '));
}

/** Characters that are not seen, and change what is (its direction, where words end), as `<U+202E>`. */
export function visible(text: string): string {
  return text.replaceAll(/\p{Cf}/gu, (character) => `<U+${codeOf(character).padStart(4, '0')}>`);
}

/**
 * Also what ends a line for some, and what commands a terminal in one character; JSON leaves both as they
 * are.
 */
const invisible = /[\p{Cf}\p{Zl}\p{Zp}\u007f-\u009f]/gu;

/** Whether JSON or YAML of a text would hold characters that are not seen. */
export function hasInvisible(text: string): boolean {
  return text.search(invisible) !== -1;
}

/** JSON that says the same without such characters. */
export function visibleJson(json: string): string {
  return json.replaceAll(invisible, (character) =>
    [...Array(character.length).keys()]
      .map((at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`)
      .join(''),
  );
}

/** YAML that says the same without such characters, where it stands in double quotes. */
export function visibleInQuotes(yaml: string): string {
  return yaml.replaceAll(invisible, (character) => {
    const code = codeOf(character).toLowerCase();
    return character.length === 1 ? `\\u${code.padStart(4, '0')}` : `\\U${code.padStart(8, '0')}`;
  });
}

function codeOf(character: string): string {
  return (character.codePointAt(0) ?? 0).toString(16).toUpperCase();
}

/** The first of many, and how many there are beside them. */
export function firstOf(lines: readonly string[]): string[] {
  const rest = lines.length - longestList;
  return rest <= 1 ? [...lines] : [...lines.slice(0, longestList), `and ${rest} more`];
}

export class UnusableKey extends Error {
  override readonly name = 'UnusableKey';
}

/** Returns a key as people wrote it. Throws UnusableKey for __proto__, which an object would not keep. */
export function usableKey(key: string): string {
  if (key === '__proto__') throw new UnusableKey('__proto__ is not allowed as a name');
  return key;
}

/** What is wrong with how deep a value nests; null when it is fine. A value that holds itself has no end. */
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
