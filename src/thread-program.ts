/** What a worker thread is started with. */
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

/**
 * The module called `name` beside `module`: compiled, or, when Petrel runs from its sources, the source and
 * what can load it.
 */
export function threadProgram(module: string, name: string): URL {
  if (module.endsWith('.js')) return new URL(`./${name}.js`, module);
  // Its own way of being imported does nothing in a thread.
  const tsx = pathToFileURL(createRequire(import.meta.url).resolve('tsx'));
  const loader = new URL('./esm/api/index.mjs', tsx).href;
  const source = new URL(`./${name}.ts`, module).href;
  const program = `import { register } from ${JSON.stringify(loader)}; register(); await import(${JSON.stringify(source)});`;
  return new URL(`data:text/javascript,${encodeURIComponent(program)}`);
}
