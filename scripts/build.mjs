/**
 * Compiles the content of the package to dist/. With --without-types, the build is faster, includes
 * petrel-lab, and does not empty dist/ first, so that programs that are running keep their files.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { compile } from './compile.mjs';
import { keepTypes } from './keep-types.mjs';
import { project, sourcesNow } from './sources.cjs';
import { writeWhole } from './write-whole.mjs';

process.chdir(project);
// Computed before anything is read. After a change during the build, the result counts as out of date.
const sources = sourcesNow();
const exported = Object.values(JSON.parse(readFileSync('package.json', 'utf8')).exports);
const modules = exported.map((entry) => entry.default.replace('./dist/', '').replace('.js', '.ts'));
if (process.argv.includes('--without-types')) {
  await compile(modules);
  await compilePage();
  await import('../packages/lab/build.mjs');
  // petrel-lab imports Petrel as a package. npm links it only together with the development dependencies.
  if (!existsSync('node_modules/petrel')) symlinkSync('..', 'node_modules/petrel');
  // Written last, so that a failed build does not count as up to date.
  writeWhole('dist/package.json', `${JSON.stringify({ type: 'commonjs', sources })}\n`);
} else {
  rmSync('dist', { recursive: true, force: true });
  await compile(modules);
  const compiler = createRequire(import.meta.url).resolve('typescript/bin/tsc');
  execFileSync(process.execPath, [compiler, '-p', 'tsconfig.build.json'], { stdio: 'inherit' });
  keepTypes(exported.map(({ types }) => types));
  await compilePage();
}

async function compilePage() {
  const page = await import('../dist/src/http/compile-page.js');
  mkdirSync('dist/src/page', { recursive: true });
  writeWhole('dist/src/page/page.js', await page.compilePage(pathToFileURL('packages/page/src/')));
  for (const file of ['index.html', 'page.css', 'icon.svg'])
    writeWhole(`dist/src/page/${file}`, readFileSync(`packages/page/src/${file}`));
  // Copy the licenses of these packages, because the page's script contains their code.
  for (const name of ['preact', 'zod']) copyLicense(name, `dist/src/page/LICENSE.${name}`);
}

function copyLicense(name, to) {
  const folder = `node_modules/${name}`;
  const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
  if (file === undefined) throw new Error(`${folder} has no file that says its licence`);
  writeWhole(to, readFileSync(`${folder}/${file}`));
}
