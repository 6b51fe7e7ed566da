/** Paths of what is built once for a test run. */
import { join } from 'node:path';
import { oncePerRun } from './once-per-run.js';

/** Path of a module of `src`, such as `log.js`. */
export async function builtModule(name: string): Promise<string> {
  return join(await oncePerRun('modules'), 'src', name);
}

/** Path of a test program (`build.ts`), by its path below test/ without its extension. */
export async function builtFixture(name: string): Promise<string> {
  await oncePerRun('build');
  return join(await oncePerRun('modules'), 'test', `${name}.js`);
}
