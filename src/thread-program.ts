/** Finds the program that a worker thread runs. */
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

/**
 * Returns the URL of a program that runs the module `name` next to `module`. Normally, the program is the
 * compiled module itself. If Petrel runs from source, the program registers a loader and then imports the
 * source.
 */
export function threadProgram(module: string, name: string): URL {
  if (module.endsWith('.js')) return new URL(`./${name}.js`, module);
  // In a worker thread, tsx's usual import hook has no effect.
  const tsx = pathToFileURL(createRequire(import.meta.url).resolve('tsx'));
  const loader = new URL('./esm/api/index.mjs', tsx).href;
  const source = new URL(`./${name}.ts`, module).href;
  const program = `import { register } from ${JSON.stringify(loader)}; register(); await import(${JSON.stringify(source)});`;
  return new URL(`data:text/javascript,${encodeURIComponent(program)}`);
}
