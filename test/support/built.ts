/** Paths of what is built once for a test run. */
import { join } from 'node:path';
import { oncePerRun } from './once-per-run.js';

/** A module of `src`, such as `log.js`. */
export async function builtModule(name: string): Promise<string> {
  return join(await oncePerRun('modules'), 'src', name);
}

/** A program of the tests (`build.ts`), by its path below test/ without its ending. */
export async function builtFixture(name: string): Promise<string> {
  await oncePerRun('build');
  return join(await oncePerRun('modules'), 'test', `${name}.js`);
}
