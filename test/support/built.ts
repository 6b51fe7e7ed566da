/** Paths of files that are built once per test run. */
import { join } from 'node:path';
import { oncePerRun } from './once-per-run.js';

/** Returns the path of a module of `src`, such as `log.js`. */
export async function builtModule(name: string): Promise<string> {
  return join(await oncePerRun('modules'), 'src', name);
}

/**
 * Returns the path of a test program (see `build.ts`). `name` is its path below test/ without the extension.
 */
export async function builtFixture(name: string): Promise<string> {
  await oncePerRun('build');
  return join(await oncePerRun('modules'), 'test', `${name}.js`);
}
