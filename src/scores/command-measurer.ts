/**
 * Reads a score that a command prints. Like the health check, the command runs in its own process group and
 * is killed when its timeout expires.
 */

import { argvOf, type Command, commandText } from '../hooks/command.js';
import { HookProcess } from '../hooks/hook-process.js';
import type { OutputStream } from '../hooks/output.js';
import type { Parsed } from '../model/names.js';
import type { Score } from '../model/scores.js';
import type { Machine } from '../ports/processes.js';
import type { Measurer } from './measurer.js';
import { readScore } from './measuring.js';

export interface CommandMeasurerOptions extends Machine {
  readonly name: string;
  readonly command: Command;
  readonly timeoutMs: number;
  /** Environment variables that are added to the agent's environment. */
  readonly env: Readonly<Record<string, string>>;
}

/** Milliseconds between asking a command to stop and killing it. */
const graceMs = 500;
/** Milliseconds to wait for output after the command has ended. On a busy machine, output may arrive late. */
const drainMs = 2000;

export class CommandMeasurer implements Measurer {
  readonly #options: CommandMeasurerOptions;
  #running: HookProcess | null = null;

  constructor(options: CommandMeasurerOptions) {
    this.#options = options;
  }

  async measure(): Promise<Parsed<Score>> {
    const { name, command, timeoutMs, env } = this.#options;
    const written = new Written();
    const running = new HookProcess(
      {
        name: `scores.${name}`,
        ...argvOf(command),
        commandText: commandText(command),
        env: { ...env, PETREL_PHASE: 'score', PETREL_SCORE: name, PETREL_DEADLINE_MS: String(timeoutMs) },
        timeoutMs,
        graceMs,
        leavesWorkload: false,
        drainMs,
        passesOutput: false,
      },
      written,
      this.#options,
    );
    this.#running = running;
    const { error, outputTail } = await running.outcome;
    this.#running = null;
    if (error === null) return written.score(name);
    const lastLine = outputTail.at(-1);
    return { value: null, problem: lastLine ? `${error}: ${lastLine}` : error };
  }

  async close(): Promise<void> {
    this.#running?.abort('closed');
    await this.#running?.outcome;
  }
}

/** Output of the command. Keeps the first nonblank line, and counts the lines. */
class Written {
  #first = '';
  #lines = 0;

  line(stream: OutputStream, text: string): void {
    if (stream !== 'stdout' || text.trim() === '') return;
    if (this.#lines === 0) this.#first = text;
    this.#lines += 1;
  }

  leftOut(lines: number): void {
    this.#lines += lines;
  }

  score(name: string): Parsed<Score> {
    const problemWith = (problem: string): Parsed<Score> => ({
      value: null,
      problem: `scores.${name}: ${problem}: the command must print one number`,
    });
    if (this.#lines === 0) return problemWith('the command printed nothing');
    if (this.#lines > 1) return problemWith(`the command printed ${this.#lines} lines`);
    const read = readScore(this.#first);
    return read.problem === null ? read : problemWith(`output of the command: ${read.problem}`);
  }
}
