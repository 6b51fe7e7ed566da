/** Help text that fits the terminal. */
import type { AddHelpTextContext } from 'commander';
import { wrapped } from './layout.js';

/** A line with this indentation continues the line before it. */
const continued = /^ {8,}\S/;

/**
 * Returns help text for `addHelpText`. Paragraphs and items are wrapped to fit the terminal, regardless of
 * the line breaks in the source. An indented line, such as an example or an item, always begins on a new
 * line.
 */
export function helpText(text: string): (context: AddHelpTextContext) => string {
  return ({ command }) => {
    const output = command.configureOutput();
    const width = output.getOutHelpWidth?.() ?? usualWidth;
    return wrapped(linesOf(text).join('\n'), width, 0);
  };
}

const usualWidth = 80;

function linesOf(text: string): string[] {
  const lines: string[] = [];
  for (const line of text.split('\n')) {
    const before = lines.at(-1);
    const isParagraph = /^\S/.test(line) && before !== undefined && /^\S.*[^:]$/.test(before);
    if (before !== undefined && (isParagraph || continued.test(line))) {
      lines[lines.length - 1] = `${before} ${line.trimStart()}`;
    } else lines.push(line);
  }
  return lines;
}
