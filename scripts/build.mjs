/**
 * Compiles the content of the package to dist/. With --without-types, the build is faster and does not empty
 * dist/ first.
 */
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { compile } from './compile.mjs';
import { keepTypes } from './keep-types.mjs';

process.chdir(new URL('..', import.meta.url).pathname);
const exported = Object.values(JSON.parse(readFileSync('package.json', 'utf8')).exports);
const withTypes = !process.argv.includes('--without-types');
if (withTypes) rmSync('dist', { recursive: true, force: true });
await compile(exported.map((entry) => entry.default.replace('./dist/', '').replace('.js', '.ts')));
if (withTypes) {
  const compiler = createRequire(import.meta.url).resolve('typescript/bin/tsc');
  execFileSync(process.execPath, [compiler, '-p', 'tsconfig.build.json'], { stdio: 'inherit' });
  keepTypes(exported.map(({ types }) => types));
}

const { compilePage } = await import('../dist/src/http/compile-page.js');
mkdirSync('dist/src/page', { recursive: true });
writeFileSync('dist/src/page/page.js', await compilePage(pathToFileURL('packages/page/src/')));
for (const file of ['index.html', 'page.css', 'icon.svg'])
  copyFileSync(`packages/page/src/${file}`, `dist/src/page/${file}`);
// Copy the licenses of these packages, because the page's script contains their code.
for (const name of ['preact', 'zod']) copyLicense(name, `dist/src/page/LICENSE.${name}`);

function copyLicense(name, to) {
  const folder = `node_modules/${name}`;
  const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
  if (file === undefined) throw new Error(`${folder} has no file that says its licence`);
  copyFileSync(`${folder}/${file}`, to);
}
