/** Keeps the output of the tests' processes in the folder PETREL_TEST_LOGS, for inspection after the run. */
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';

/** Returns a function that appends a line to the log, or does nothing if no logs are kept. */
export function keepLog(name: string): (line: string) => void {
  const folder = process.env.PETREL_TEST_LOGS;
  if (folder === undefined || folder === '') return () => {};
  const path = join(folder, `${name}.log`);
  return (line) => appendFileSync(path, `${line}\n`);
}
