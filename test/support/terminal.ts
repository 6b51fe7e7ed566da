/** Runs Petrel's command line at a terminal, which the program `script` provides. */
import { tmpdir } from 'node:os';
import { environmentOf } from './agents.js';
import { exitOf, spawnBound } from './bound-process.js';
import { oncePerRun } from './once-per-run.js';

export interface TerminalOptions {
  readonly columns?: number;
  /** What the operator types. */
  readonly input?: string;
}

/** Runs `petrel ARGS`. Returns its exit code, and everything that the terminal shows. */
export async function runAtTerminal(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  { columns = 80, input = '' }: TerminalOptions = {},
): Promise<{ readonly code: number | null; readonly shown: string }> {
  const main = await oncePerRun('build');
  const command = [process.execPath, main, ...args].map(quoted).join(' ');
  const child = spawnBound('script', ['-qec', `stty cols ${columns} rows 24; exec ${command}`, '/dev/null'], {
    stdio: ['pipe', 'pipe', 'ignore'],
    env: { HOME: tmpdir(), SHELL: '/bin/sh', TERM: 'xterm', ...environmentOf(args, env) },
  });
  let shown = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    shown += text;
  });
  child.stdin?.write(input);
  const { code } = await exitOf(child);
  child.stdin?.destroy();
  return { code, shown: shown.replaceAll('\r', '') };
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}
