/** Builds the command line, as it is shipped, for the tests that run it. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const project = fileURLToPath(new URL('../..', import.meta.url));

/** The path of its main program. Types are not checked here (`npm run check` does), for speed. */
export async function buildCommandLine(): Promise<string> {
  await promisify(execFile)(process.execPath, [`${project}scripts/build.mjs`]).catch(
    (error: { stdout?: string }) => {
      throw new Error(`the command line does not compile:\n${error.stdout ?? error}`);
    },
  );
  return `${project}dist/src/cli/main.cjs`;
}
