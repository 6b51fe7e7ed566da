/** Fits text to the terminal: wraps lines between words, and fits tables into the available columns. */
import { stripVTControlCharacters } from 'node:util';
import CliTable from 'cli-table3';
import { Help } from 'commander';
import { styled } from './style.js';

/** The space that is available for output to people. */
export interface Layout {
  /** Whether to show everything: every column, and exact times. */
  readonly isWide: boolean;
  /**
   * Number of columns of the terminal. Null if the output is not a terminal. Lines may then have any length.
   */
  readonly width: number | null;
}

export const unlimited: Layout = { isWide: true, width: null };

/**
 * Returns the number of columns of a terminal. Returns null if the stream is not a terminal or does not
 * report the number.
 */
export function widthOf({ isTTY, columns }: Partial<NodeJS.WriteStream>): number | null {
  return isTTY === true && columns !== undefined && columns > 0 ? columns : null;
}

/**
 * Wraps the lines that are too long. If a line is an item, such as `--slot <n>  slot of the term`, its
 * continuation lines begin below the text of the item. Otherwise, continuation lines are indented by
 * `hanging` columns more than the line itself. Examples are not wrapped, so that they can be copied.
 */
export function wrapped(text: string, width: number | null, hanging = 2): string {
  if (width === null) return text;
  return text
    .split('\n')
    .map((line) => (lengthOf(line) <= width || example.test(line) ? line : wrappedLine(line, width, hanging)))
    .join('\n');
}

const example = /^ +petrel /;
/** The beginning of an item: its term, such as an option, and the gap before its text. */
const termOfItem = /^.{0,40} {2}(?=\S)/;

function wrappedLine(line: string, width: number, hanging: number): string {
  const indented = (/^ */.exec(line)?.[0] ?? '').length;
  const term = (termOfItem.exec(line)?.[0] ?? '').length;
  const indentation = ' '.repeat(term > indented ? term : indented + hanging);
  const [first = '', ...rest] = linesOf(line, width);
  if (rest.length === 0) return first;
  const others = linesOf(rest.join(' '), width - indentation.length);
  return [first, ...others.map((one) => `${indentation}${one}`)].join('\n');
}

/** Breaks text between words. A word that is longer than a line gets a line of its own. */
function linesOf(text: string, width: number): string[] {
  const help = new Help();
  help.minWidthToWrap = 1;
  return help.boxWrap(text, Math.max(1, width)).split('\n');
}

function lengthOf(line: string): number {
  return stripVTControlCharacters(line).length;
}

export interface TableOptions {
  /** Titles of the columns that only the wide layout shows. */
  readonly wideOnly?: readonly string[];
  /** Content that counts as an empty cell, keyed by column title. */
  readonly idle?: Readonly<Record<string, string>>;
}

/**
 * Returns a table in the style of kubectl, with aligned columns and no lines between them. Columns without
 * content are left out, unless the layout is wide. If the table is too wide, its last column is wrapped. If
 * the table is still too wide, each row becomes a paragraph with one line for each cell.
 */
export function table(
  header: readonly string[],
  rows: readonly (readonly string[])[],
  { isWide, width }: Layout,
  options: TableOptions = {},
): string {
  const isShown = header.map((title, at) => {
    if (isWide || rows.length === 0) return true;
    if (options.wideOnly?.includes(title) === true) return false;
    const nothing = ['', '-', options.idle?.[title]];
    return rows.some((row) => !nothing.includes(stripVTControlCharacters(row[at] ?? '')));
  });
  const only = (cells: readonly string[]) => cells.filter((_, at) => isShown[at]);
  const titles = only(header).map((title) => title.toUpperCase());
  const shown = rows.map(only);
  const whole = drawn(titles, shown);
  if (width === null || broadest(whole) <= width) return whole;
  return narrowed(titles, shown, width) ?? paragraphs(titles, shown, width);
}

/** Minimum width of the last column, unless its content is narrower. */
const narrowest = 20;

/** Wraps the titles and the last column. Returns null if the table is still too wide. */
function narrowed(
  header: readonly string[],
  rows: readonly (readonly string[])[],
  width: number,
): string | null {
  const titles = header.map((title) => title.replaceAll(' ', '\n'));
  const last = titles.length - 1;
  if (last < 1) return null;
  const others = drawn(
    titles.slice(0, last),
    rows.map((row) => row.slice(0, last)),
  );
  const room = width - broadest(others) - gap.length;
  const content = rows.map((row) => row[last] ?? '');
  const least = Math.min(
    Math.max(...content.map(lengthOf)),
    Math.max(narrowest, ...content.flatMap((cell) => cell.split(' ').map(lengthOf))),
  );
  if (room < Math.max(least, ...(titles[last] ?? '').split('\n').map(lengthOf))) return null;
  return drawn(
    titles,
    rows.map((row) => [...row.slice(0, last), linesOf(row[last] ?? '', room).join('\n')]),
  );
}

/** Returns each row as a paragraph: the first cell, followed by the other cells with their titles. */
function paragraphs(titles: readonly string[], rows: readonly (readonly string[])[], width: number): string {
  const longest = Math.max(...titles.map(lengthOf));
  return rows
    .map(([first = '', ...others]) => {
      const lines = others.flatMap((cell, at) =>
        cell === '' ? [] : [`  ${(titles[at + 1] ?? '').padEnd(longest)}${gap}${cell}`],
      );
      return [styled('bold', `${titles[0]} ${first}`), ...lines].join('\n');
    })
    .map((paragraph) => wrapped(paragraph, width))
    .join('\n\n');
}

const gap = '  ';

function drawn(titles: readonly string[], rows: readonly (readonly string[])[]): string {
  const made = new CliTable({
    head: titles.map((title) => styled('bold', title)),
    chars: { ...noLines, middle: gap },
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0 },
  });
  made.push(...rows.map((row) => [...row]));
  return made
    .toString()
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n');
}

const noLines = Object.fromEntries(
  ['top', 'bottom', 'left', 'right', 'mid']
    .flatMap((side) => [side, `${side}-mid`, `${side}-left`, `${side}-right`])
    .map((name) => [name, '']),
);

function broadest(text: string): number {
  return Math.max(...text.split('\n').map(lengthOf));
}
