/**
 * Compiles each module to dist/ and checks its types, which requires Petrel to be built first.
 * `--without-types` skips the check and is faster.
 */
import { execFileSync } from 'node:child_process';
import { readdirSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { build } from 'esbuild';

const [source, dist] = ['src', 'dist'].map((folder) => join(import.meta.dirname, folder));
rmSync(dist, { recursive: true, force: true });
if (process.argv.includes('--without-types')) {
  const names = readdirSync(source, { recursive: true }).filter((name) => name.endsWith('.ts'));
  const entryPoints = names.map((name) => join(source, name));
  const target = { platform: 'node', format: 'esm', target: 'node20' };
  await build({ entryPoints, outdir: dist, outbase: source, sourcemap: true, ...target });
} else {
  const compiler = createRequire(import.meta.url).resolve('typescript/bin/tsc');
  const config = join(import.meta.dirname, 'tsconfig.build.json');
  execFileSync(process.execPath, [compiler, '-p', config], { stdio: 'inherit' });
}
