/** Runs a program of the tests that an npm script runs from its source, compiled: that starts in a fraction of the time. */
import { execFile } from 'node:child_process';
import { builtFixture } from './built.js';

export interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** `main` is its file, below test/. Rejects where it ended by a signal. */
export async function runTool(main: string, ...args: string[]): Promise<Outcome> {
  const argv = [await builtFixture(main.replace(/\.ts$/, '')), ...args];
  return await new Promise((resolve, reject) => {
    execFile(process.execPath, argv, (error, stdout, stderr) => {
      const code = error === null ? 0 : error.code;
      if (typeof code === 'number') resolve({ code, stdout, stderr });
      else reject(new Error(`test/${main} did not end by itself`, { cause: error }));
    });
  });
}
