/**
 * Compiles to dist/. What a process starts with is put into one file each, with what it needs of others: to find, read and
 * compile hundreds of modules takes longer than all that a start does besides.
 */
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { bundle } from './bundle.mjs';
import { compile } from './compile.mjs';
import { rehearse } from './rehearse.mjs';

process.chdir(new URL('..', import.meta.url).pathname);
if (process.argv.includes('--without-types')) await compile();
else {
  const compiler = createRequire(import.meta.url).resolve('typescript/bin/tsc');
  execFileSync(process.execPath, [compiler, '-p', 'tsconfig.build.json'], { stdio: 'inherit' });
}
const borrowed = [
  await bundle('dist/src/guardian/program.js', 'dist/src/guardian/program.cjs'),
  await bundle('dist/src/cli/run.js', 'dist/src/cli/run.cjs'),
  await bundle('dist/src/index.js', 'dist/src/index.cjs'),
];
await rehearse();

const { compilePage } = await import('../dist/src/http/compile-page.js');
mkdirSync('dist/src/page', { recursive: true });
writeFileSync('dist/src/page/page.js', await compilePage(pathToFileURL('src/page/')));
for (const file of ['index.html', 'page.css', 'icon.svg'])
  copyFileSync(`src/page/${file}`, `dist/src/page/${file}`);
// These files hold code of theirs.
for (const name of ['preact', 'zod']) copyLicense(name, `dist/src/page/LICENSE.${name}`);
mkdirSync('dist/licenses', { recursive: true });
for (const name of new Set(borrowed.flat())) copyLicense(name, `dist/licenses/${name.replace('/', '.')}`);

function copyLicense(name, to) {
  const folder = `node_modules/${name}`;
  const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
  if (file === undefined) throw new Error(`${folder} has no file that says its licence`);
  copyFileSync(`${folder}/${file}`, to);
}
