/**
 * What processes of the tests write, kept for whoever looks through it after the run: in PETREL_TEST_LOGS, a
 * folder.
 */
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';

/** A function that keeps a line, or does nothing where nothing is to be kept. */
export function keepLog(name: string): (line: string) => void {
  const folder = process.env.PETREL_TEST_LOGS;
  if (folder === undefined || folder === '') return () => {};
  const path = join(folder, `${name}.log`);
  return (line) => appendFileSync(path, `${line}\n`);
}
