/**
 * Compiles each module to dist/ by itself, without checking types: much faster than tsc on a slow machine.
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';

/** The page has a build of its own, for browsers. */
const isOfPage = (path) => path.startsWith('src/page/');

export async function compile() {
  const paths = ['src', 'strategies'].flatMap((folder) =>
    readdirSync(folder, { recursive: true }).map((name) => join(folder, name)),
  );
  const endingWith = (end) => paths.filter((path) => path.endsWith(end) && !isOfPage(path));
  const options = { outdir: 'dist', outbase: '.', platform: 'node', target: 'node20', sourcemap: true };
  await build({ ...options, entryPoints: endingWith('.ts'), format: 'esm' });
  await build({
    ...options,
    entryPoints: endingWith('.cts'),
    format: 'cjs',
    outExtension: { '.js': '.cjs' },
  });
}
