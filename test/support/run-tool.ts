/** Runs a program of the tests as its npm script does. */
import { execFile } from 'node:child_process';

export interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** `main` is its file, below test/. Rejects where it ended by a signal. */
export function runTool(main: string, ...args: string[]): Promise<Outcome> {
  const argv = ['--import', 'tsx', `test/${main}`, ...args];
  return new Promise((resolve, reject) => {
    execFile(process.execPath, argv, (error, stdout, stderr) => {
      const code = error === null ? 0 : error.code;
      if (typeof code === 'number') resolve({ code, stdout, stderr });
      else reject(new Error(`test/${main} did not end by itself`, { cause: error }));
    });
  });
}
