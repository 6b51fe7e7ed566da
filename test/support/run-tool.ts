/**
 * Runs a compiled test program that an npm script runs from its source. The compiled one starts in a fraction
 * of the time.
 */
import { execFile } from 'node:child_process';
import { builtFixture } from './built.js';

export interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** `main` is its file, below test/. Rejects if a signal ended it. */
export async function runTool(main: string, ...args: string[]): Promise<Outcome> {
  return await runProgram(await builtFixture(main.replace(/\.ts$/, '')), args);
}

/** `program` is a file that Node.js runs. Rejects if a signal ended it. */
export function runProgram(program: string, args: readonly string[]): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    execFile(process.execPath, [program, ...args], (error, stdout, stderr) => {
      const code = error === null ? 0 : error.code;
      if (typeof code === 'number') resolve({ code, stdout, stderr });
      else reject(new Error(`${program} did not end by itself`, { cause: error }));
    });
  });
}
