// sum-results FILE...: names the tests that failed in the JSON reports of several vitest runs, and prints the
// totals in its last line. Fails when a test failed, when a file could not be run, or when a run has no
// passed test.
import { readFileSync } from 'node:fs';
import { basename, relative } from 'node:path';

const files = process.argv.slice(2);
const runs = files.map((file) => JSON.parse(readFileSync(file, 'utf8')));

/** Without the lines of the stack that are not in the project's own files. */
function ownLines(failure) {
  const lines = failure.split('\n').filter((line) => !/^ +at (.*node_modules|new Promise)/.test(line));
  return lines.map((line) => `    ${line}`).join('\n');
}

for (const [index, run] of runs.entries()) {
  const kind = basename(files[index] ?? '', '.json');
  for (const { name, status, message, assertionResults } of run.testResults) {
    const where = `${kind}: ${relative(process.cwd(), name)}`;
    if (status === 'failed' && message) console.log(`FAILED ${where}\n    ${message}`);
    for (const test of assertionResults) {
      if (test.failureMessages.length === 0) continue;
      console.log(`FAILED ${where}: ${test.fullName}`);
      for (const failure of test.failureMessages) console.log(ownLines(failure));
    }
  }
}

const sum = (key) => runs.reduce((total, run) => total + run[key], 0);
const passed = sum('numPassedTests');
const failed = sum('numFailedTests');
const skipped = sum('numPendingTests') + sum('numTodoTests');
const sound = runs.length > 0 && runs.every((run) => run.success && run.numPassedTests > 0);
// A file that can't be run fails without a failed test; it shall show in the sum all the same.
const shown = sound ? failed : Math.max(failed, 1);
console.log(`${passed} passed, ${shown} failed, ${skipped} skipped`);
process.exitCode = sound ? 0 : 1;
