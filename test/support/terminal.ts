/** Programs at a terminal of their own, which `script` (util-linux) provides. */
import type { ChildProcess } from 'node:child_process';
import { tmpdir } from 'node:os';
import { environmentOf } from './agents.js';
import { type Exit, exitOf, killAndWait, spawnBound } from './bound-process.js';
import { oncePerRun } from './once-per-run.js';

const firstColumn = '\u001B[1G';
const clearLine = ['\u001B[K', '\u001B[0K'];

export interface TerminalOptions {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly columns?: number;
}

export class Terminal implements AsyncDisposable {
  readonly exited: Promise<Exit>;
  readonly #child: ChildProcess;
  #output = '';

  /**
   * Starts a program. `command` is its command line, quoted for the shell. The shell does not remain, because
   * shells differ in what they do after Ctrl-C.
   */
  constructor(command: string, { cwd, env, columns = 80 }: TerminalOptions) {
    const sized = `stty cols ${columns} rows 24; exec ${command}`;
    const args = ['--quiet', '--return', '--command', sized, '/dev/null'];
    const ofShell = { ...env, SHELL: '/bin/sh' };
    this.#child = spawnBound('script', args, { cwd, env: ofShell, stdio: ['pipe', 'pipe', 'inherit'] });
    this.#child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.#output += text;
    });
    this.exited = exitOf(this.#child);
  }

  /** Everything that was printed, with the control characters. */
  get printed(): string {
    return this.#output;
  }

  /** Everything that was printed. Of a line that replaces itself, only what it shows last. */
  get output(): string {
    const plain = clearLine
      .reduce((text, code) => text.replaceAll(code, ''), this.#output)
      .replaceAll(firstColumn, '\r')
      .replaceAll('\r\n', '\n');
    const lines = plain.split('\n');
    return lines.map((line) => line.slice(line.lastIndexOf('\r') + 1)).join('\n');
  }

  /** Presses keys. `\u0003` is Ctrl-C. */
  press(keys: string): void {
    this.#child.stdin?.write(keys);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await killAndWait(this.#child);
  }
}

export interface CommandOptions {
  readonly columns?: number;
  /** What the operator types. */
  readonly input?: string;
}

/** Runs `petrel ARGS` at a terminal. Returns its exit code, and everything that the terminal shows. */
export async function runAtTerminal(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  { columns = 80, input = '' }: CommandOptions = {},
): Promise<{ readonly code: number | null; readonly shown: string }> {
  const main = await oncePerRun('build');
  const command = [process.execPath, main, ...args].map(quoted).join(' ');
  const shell = { HOME: tmpdir(), TERM: 'xterm', ...environmentOf(args, env) };
  await using terminal = new Terminal(command, { cwd: tmpdir(), env: shell, columns });
  terminal.press(input);
  const { code } = await terminal.exited;
  return { code, shown: terminal.printed.replaceAll('\r', '') };
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}
