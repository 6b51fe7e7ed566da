/** What a command prints, in the format that was asked for. */
import CliTable from 'cli-table3';
import type * as z from 'zod';
import type { OutputFormat } from '../config/settings.js';
import { visibleYaml } from '../group/visible-yaml.js';
import { oneLine, visibleJson } from '../model/outside.js';
import { styled } from './style.js';

/** One result, ready for each format. */
export interface Printable {
  /** Its schema stands beside the module that makes it. */
  readonly json: unknown;
  /** For people. */
  pretty(): string;
  /** The first row names the columns. */
  readonly rows: readonly (readonly string[])[];
}

export function print(format: OutputFormat, result: Printable): void {
  process.stdout.write(`${text(format, result)}\n`);
}

/** One line a result, so that a stream of results can be read line by line. */
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
      // A cell stays in its cell, whatever it holds.
      return result.rows.map((row) => row.map(oneLine).join('\t')).join('\n');
    case 'pretty':
      return result.pretty();
  }
}

/** Columns without lines between them, as kubectl prints them. */
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
 * A copy for a terminal: what comes out of the tree was written by others, so it keeps no line breaks and
 * nothing that commands a terminal.
 */
export function forTerminal<T>(schema: z.ZodType<T>, value: T): T {
  const clean = (_key: string, part: unknown) => (typeof part === 'string' ? oneLine(part) : part);
  return schema.parse(JSON.parse(JSON.stringify(value), clean));
}
