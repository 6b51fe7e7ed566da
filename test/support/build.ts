/** Builds the command line, as it is shipped, for the tests that run it. */
import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { build } from 'esbuild';

const project = fileURLToPath(new URL('../..', import.meta.url));

/** The path of its main program. Types are not checked here (`npm run check` does), for speed. */
export async function buildCommandLine(): Promise<string> {
  await run(`${project}scripts/build.mjs`, '--without-types');
  await run(`${project}packages/lab/build.mjs`, '--without-types');
  return `${project}dist/src/cli/main.cjs`;
}

/** Programs that tests start in processes of their own, by their paths below test/. */
const fixtures = [
  'chaos/main',
  'exploration/main',
  'guardian/fixtures/guardian',
  'guardian/fixtures/starved',
  'guardian/fixtures/watched',
  'hooks/agent',
  'hooks/fixtures/starved',
  'library/fixtures/leader',
  'simulation/main',
];

/**
 * Compiles those, to run with the modules that were built. Each start from the sources would compile them anew, which takes
 * a second. Returns the folder where they lie, by their paths below test/.
 */
export async function buildFixtures(): Promise<string> {
  await build({
    entryPoints: fixtures.map((name) => `${project}test/${name}.ts`),
    outdir: `${project}dist/fixtures`,
    outbase: `${project}test`,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    packages: 'external',
    plugins: [
      {
        name: 'built-modules',
        setup({ onResolve }) {
          onResolve({ filter: /^\.\.\/.*src\/.*\.js$/ }, ({ path }) => ({
            path: path.replace(/^.*?src\//, `${project}dist/src/`),
            external: true,
          }));
        },
      },
    ],
  });
  return `${project}dist/fixtures`;
}

/** Adds the types of the package to what was built. */
export async function buildTypes(): Promise<string> {
  const compiler = createRequire(import.meta.url).resolve('typescript/bin/tsc');
  await run(
    compiler,
    '-p',
    `${project}tsconfig.build.json`,
    '--emitDeclarationOnly',
    '--incremental',
    'false',
  );
  return `${project}dist/src/index.d.ts`;
}

async function run(...args: string[]): Promise<void> {
  await promisify(execFile)(process.execPath, args).catch((error: { stdout?: string; stderr?: string }) => {
    throw new Error(`it does not compile:\n${error.stdout ?? error}\n${error.stderr ?? ''}`);
  });
}
