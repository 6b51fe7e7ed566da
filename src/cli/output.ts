/** Prints results in the requested format. */
import type * as z from 'zod';
import type { OutputFormat } from '../config/settings.js';
import { visibleYaml } from '../group/visible-yaml.js';
import { oneLine, visibleJson } from '../model/outside.js';
import { type Layout, widthOf, wrapped } from './layout.js';

/** One result, in a form for each output format. */
export interface Printable {
  /** The result as JSON. The schema is defined next to the code that creates the result. */
  readonly json: unknown;
  /** Returns the result as text for operators, fitted to the layout. */
  pretty(layout: Layout): string;
  /** The result as a table. The first row contains the column names. */
  readonly rows: readonly (readonly string[])[];
}

export function print(format: OutputFormat, result: Printable): void {
  process.stdout.write(`${text(format, result)}\n`);
}

/** Prints text for people. Lines that are too long for the terminal are wrapped by `wrapped`. */
export function printText(text: string, hanging?: number): void {
  process.stdout.write(`${wrapped(text, widthOf(process.stdout), hanging)}\n`);
}

/** Whether the format is for people rather than for programs. */
export function isForPeople(format: OutputFormat): boolean {
  return format === 'pretty' || format === 'wide';
}

/** Returns the text for people, laid out for the terminal. */
export function prettyText(format: OutputFormat, result: Printable): string {
  const layout = { isWide: format === 'wide', width: widthOf(process.stdout) };
  return wrapped(result.pretty(layout), layout.width);
}

/** Prints a result. JSON results take one line each, so that a stream of results can be read line by line. */
export function printLine(format: OutputFormat, result: Printable): void {
  process.stdout.write(
    format === 'json' ? `${visibleJson(JSON.stringify(result.json))}\n` : `${text(format, result)}\n`,
  );
}

function text(format: OutputFormat, result: Printable): string {
  switch (format) {
    case 'json':
      return visibleJson(JSON.stringify(result.json, null, 2));
    case 'yaml':
      return visibleYaml(result.json).trimEnd();
    case 'tsv':
      // A cell never contains tabs or line breaks, whatever the data contains.
      return result.rows.map((row) => row.map(oneLine).join('\t')).join('\n');
    case 'pretty':
    case 'wide':
      return prettyText(format, result);
  }
}

/**
 * Returns a copy that is safe to show on a terminal. Data from ZooKeeper may have been written by any client,
 * so line breaks and control characters are replaced.
 */
export function forTerminal<T>(schema: z.ZodType<T>, value: T): T {
  const clean = (_key: string, part: unknown) => (typeof part === 'string' ? oneLine(part) : part);
  return schema.parse(JSON.parse(JSON.stringify(value), clean));
}
