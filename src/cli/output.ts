/** Prints results in the requested format. */
import CliTable from 'cli-table3';
import type * as z from 'zod';
import type { OutputFormat } from '../config/settings.js';
import { visibleYaml } from '../group/visible-yaml.js';
import { oneLine, visibleJson } from '../model/outside.js';
import { styled } from './style.js';

/** One result, in a form for each output format. */
export interface Printable {
  /** The result as JSON. Its schema is next to the module that creates it. */
  readonly json: unknown;
  /** Text for operators. */
  pretty(): string;
  /** The result as a table. The first row contains the column names. */
  readonly rows: readonly (readonly string[])[];
}

export function print(format: OutputFormat, result: Printable): void {
  process.stdout.write(`${text(format, result)}\n`);
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
      // A cell never contains tabs or line breaks, whatever the data.
      return result.rows.map((row) => row.map(oneLine).join('\t')).join('\n');
    case 'pretty':
      return result.pretty();
  }
}

/** Returns a table. Columns are aligned without lines between them, as in kubectl. */
export function table(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const nothing = Object.fromEntries(borders.map((name) => [name, '']));
  const made = new CliTable({
    head: header.map((title) => styled('bold', title.toUpperCase())),
    chars: { ...nothing, middle: '  ' },
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0 },
  });
  made.push(...rows.map((row) => [...row]));
  return made
    .toString()
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n');
}

const borders = [
  'top',
  'top-mid',
  'top-left',
  'top-right',
  'bottom',
  'bottom-mid',
  'bottom-left',
  'bottom-right',
  'left',
  'left-mid',
  'mid',
  'mid-mid',
  'right',
  'right-mid',
];

/**
 * Returns a copy that is safe to show on a terminal. Data from ZooKeeper may have been written by any client,
 * so line breaks and control characters are replaced.
 */
export function forTerminal<T>(schema: z.ZodType<T>, value: T): T {
  const clean = (_key: string, part: unknown) => (typeof part === 'string' ? oneLine(part) : part);
  return schema.parse(JSON.parse(JSON.stringify(value), clean));
}
