/** Compiles to dist/ what the package holds. With --without-types it takes less time, and dist/ is not emptied first. */
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { compile } from './compile.mjs';
import { keepTypes } from './keep-types.mjs';

process.chdir(new URL('..', import.meta.url).pathname);
const withTypes = !process.argv.includes('--without-types');
if (withTypes) rmSync('dist', { recursive: true, force: true });
await compile('dist');
if (withTypes) {
  const compiler = createRequire(import.meta.url).resolve('typescript/bin/tsc');
  execFileSync(process.execPath, [compiler, '-p', 'tsconfig.build.json'], { stdio: 'inherit' });
  keepTypes('dist', ['src/index.d.ts', 'src/internals.d.ts', 'src/testing.d.ts', 'strategies/index.d.ts']);
}

const { compilePage } = await import('../dist/src/http/compile-page.js');
mkdirSync('dist/src/page', { recursive: true });
writeFileSync('dist/src/page/page.js', await compilePage(pathToFileURL('src/page/')));
for (const file of ['index.html', 'page.css', 'icon.svg'])
  copyFileSync(`src/page/${file}`, `dist/src/page/${file}`);
// The page's script holds code of theirs.
for (const name of ['preact', 'zod']) copyLicense(name, `dist/src/page/LICENSE.${name}`);

function copyLicense(name, to) {
  const folder = `node_modules/${name}`;
  const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
  if (file === undefined) throw new Error(`${folder} has no file that says its licence`);
  copyFileSync(`${folder}/${file}`, to);
}
