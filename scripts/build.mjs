/** Compiles to dist/, the guardian's program into one file. */
import { execFileSync } from 'node:child_process';
import { createRequire } from 'node:module';
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
