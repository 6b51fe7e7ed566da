/**
 * Compiles each module to dist/ and checks its types, which requires Petrel to be built first.
 * `--without-types` skips the check and is faster.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { build } from 'esbuild';
import { writeWhole } from '../../scripts/write-whole.mjs';

const [source, dist] = ['src', 'dist'].map((folder) => join(import.meta.dirname, folder));
if (process.argv.includes('--without-types')) {
  const names = readdirSync(source, { recursive: true }).filter((name) => name.endsWith('.ts'));
  const entryPoints = names.map((name) => join(source, name));
  const target = { platform: 'node', format: 'esm', target: 'node20' };
  const options = { outdir: dist, outbase: source, sourcemap: true, write: false, ...target };
  const { outputFiles } = await build({ entryPoints, ...options });
  for (const { path, contents } of outputFiles) {
    mkdirSync(dirname(path), { recursive: true });
    writeWhole(path, contents);
  }
} else {
  rmSync(dist, { recursive: true, force: true });
  const compiler = createRequire(import.meta.url).resolve('typescript/bin/tsc');
  const config = join(import.meta.dirname, 'tsconfig.build.json');
  execFileSync(process.execPath, [compiler, '-p', config], { stdio: 'inherit' });
}
