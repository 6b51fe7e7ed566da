// sum-results FILE...: one line that sums up the JSON reports of several vitest runs. Fails when a test failed, when
// a file could not be run, or when a run has no passed test.
import { readFileSync } from 'node:fs';

const runs = process.argv.slice(2).map((file) => JSON.parse(readFileSync(file, 'utf8')));
const sum = (key) => runs.reduce((total, run) => total + run[key], 0);
const passed = sum('numPassedTests');
const failed = sum('numFailedTests');
const skipped = sum('numPendingTests') + sum('numTodoTests');
const sound = runs.length > 0 && runs.every((run) => run.success && run.numPassedTests > 0);
// A file that can't be run fails without a failed test; it shall show in the sum all the same.
const shown = sound ? failed : Math.max(failed, 1);
console.log(`${passed} passed, ${shown} failed, ${skipped} skipped`);
process.exitCode = sound ? 0 : 1;
