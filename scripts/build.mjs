/** Compiles to dist/, the guardian's program and the page's script into one file each. */
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';

process.chdir(new URL('..', import.meta.url).pathname);
const compiler = createRequire(import.meta.url).resolve('typescript/bin/tsc');
execFileSync(process.execPath, [compiler, '-p', 'tsconfig.build.json'], { stdio: 'inherit' });
await build({
  entryPoints: ['dist/src/guardian/program.js'],
  outfile: 'dist/src/guardian/program.cjs',
  bundle: true,
  platform: 'node',
  format: 'cjs',
  target: 'node20',
  // A process keeps the text of what it runs.
  minifyWhitespace: true,
  minifySyntax: true,
  logLevel: 'warning',
});

const { compilePage } = await import('../dist/src/http/compile-page.js');
mkdirSync('dist/src/page', { recursive: true });
writeFileSync('dist/src/page/page.js', await compilePage(pathToFileURL('src/page/')));
for (const file of ['index.html', 'page.css', 'icon.svg'])
  copyFileSync(`src/page/${file}`, `dist/src/page/${file}`);
// The script holds code of theirs.
for (const name of ['preact', 'zod']) {
  copyFileSync(`node_modules/${name}/LICENSE`, `dist/src/page/LICENSE.${name}`);
}
