/** Builds the command line, as it is shipped, for the tests that run it. */
import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const project = fileURLToPath(new URL('../..', import.meta.url));

/** The path of its main program. Types are not checked here (`npm run check` does), for speed. */
export async function buildCommandLine(): Promise<string> {
  await run(`${project}scripts/build.mjs`, '--without-types');
  return `${project}dist/src/cli/main.cjs`;
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
