/**
 * Runs the compiled form of a test program that an npm script runs from its source. The compiled form starts
 * in a fraction of the time.
 */
import { execFile } from 'node:child_process';
import { builtFixture } from './built.js';

export interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Runs the program whose source file is `main`, a path below test/. Rejects if a signal ended the program.
 */
export async function runTool(main: string, ...args: string[]): Promise<Outcome> {
  return await runProgram(await builtFixture(main.replace(/\.ts$/, '')), args);
}

/** Runs a file with Node.js. Rejects if a signal ended the program. */
export function runProgram(program: string, args: readonly string[]): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    execFile(process.execPath, [program, ...args], (error, stdout, stderr) => {
      const code = error === null ? 0 : error.code;
      if (typeof code === 'number') resolve({ code, stdout, stderr });
      else reject(new Error(`${program} did not end by itself`, { cause: error }));
    });
  });
}
