/**
 * Reads a command's output as lines. Keeps the last few lines, and passes lines on at a limited rate.
 *
 * Memory and processor time remain bounded however much a command writes, with or without newlines. Long
 * lines are truncated. Excess lines are counted and omitted. A command that writes faster than its output is
 * read must wait, as with any pipe. The supervisor loads this module, so the module depends only on Node.js.
 */
import type { Readable } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';
import type { Clock } from '../ports/clock.js';

const maxLineLength = 500;
const tailLines = 20;
/** Maximum number of lines passed on in one period. Any further lines in that period are omitted. */
const linesPerPeriod = 200;
const periodMs = 1000;
/** Number of characters to read in one time slice. After that, the command must wait for the next slice. */
const charactersPerSlice = 1024 * 1024;
const sliceMs = 100;

export type OutputStream = 'stdout' | 'stderr';

export interface OutputListener {
  line(stream: OutputStream, text: string): void;
  /** Reports the number of lines that arrived too fast to be passed on. */
  leftOut(lines: number): void;
}

export class HookOutput {
  readonly #listener: OutputListener;
  readonly #clock: Clock;
  readonly #readers: LineReader[] = [];
  readonly #tail: string[] = [];
  #periodStartMs = 0;
  #inPeriod = 0;
  #leftOut = 0;

  constructor(listener: OutputListener, clock: Clock) {
    this.#listener = listener;
    this.#clock = clock;
  }

  get tail(): readonly string[] {
    return this.#tail;
  }

  read(stream: OutputStream, readable: Readable): void {
    const reader = new LineReader(readable, this.#clock, {
      allowance: () => this.#allowance(),
      lines: (lines, leftOut) => this.#lines(stream, lines, leftOut),
      end: () => this.#reportLeftOut(),
    });
    this.#readers.push(reader);
  }

  /** Reads the remaining output without pauses, because the command has ended. */
  hurry(): void {
    for (const reader of this.#readers) reader.hurry();
  }

  /** Returns the number of lines that may be passed on now. */
  #allowance(): number {
    const now = this.#clock.monotonicMs();
    if (now - this.#periodStartMs >= periodMs) {
      this.#reportLeftOut();
      this.#periodStartMs = now;
      this.#inPeriod = 0;
    }
    return linesPerPeriod - this.#inPeriod;
  }

  #lines(stream: OutputStream, passed: readonly string[], leftOut: LeftOut): void {
    for (const line of passed) this.#listener.line(stream, shown(line));
    this.#inPeriod += passed.length;
    this.#leftOut += leftOut.count;
    this.#tail.push(...[...passed, ...leftOut.last].slice(-tailLines).map(shown));
    this.#tail.splice(0, this.#tail.length - tailLines);
  }

  #reportLeftOut(): void {
    if (this.#leftOut > 0) this.#listener.leftOut(this.#leftOut);
    this.#leftOut = 0;
  }
}

/** Number of lines that were not passed on, and the last few of these lines. */
interface LeftOut {
  readonly count: number;
  readonly last: readonly string[];
}

const nothingLeftOut: LeftOut = { count: 0, last: [] };

interface LineListener {
  allowance(): number;
  lines(passed: readonly string[], leftOut: LeftOut): void;
  end(): void;
}

class LineReader {
  readonly #readable: Readable;
  readonly #clock: Clock;
  readonly #listener: LineListener;
  /**
   * Start of an unfinished line. It holds at most one more character than is shown, so that truncation can be
   * detected.
   */
  #pending = '';
  #sliceEndMs = 0;
  #inSlice = 0;

  constructor(readable: Readable, clock: Clock, listener: LineListener) {
    this.#readable = readable;
    this.#clock = clock;
    this.#listener = listener;
    readable.setEncoding('utf8');
    readable.on('data', (chunk: string) => {
      this.#take(chunk);
      this.#pace(chunk.length);
    });
    readable.on('end', () => {
      if (this.#pending !== '') listener.lines([this.#pending], nothingLeftOut);
      listener.end();
    });
    // The pipe of a killed command may break. The command's outcome says more than this error does.
    readable.on('error', () => {});
  }

  hurry(): void {
    this.#sliceEndMs = 0;
    this.#readable.resume();
  }

  #take(chunk: string): void {
    const passed: string[] = [];
    const allowance = this.#listener.allowance();
    let from = 0;
    for (
      let end = chunk.indexOf('\n');
      end >= 0 && passed.length < allowance;
      end = chunk.indexOf('\n', from)
    ) {
      passed.push(this.#joined(chunk, from, end));
      from = end + 1;
    }
    const lastEnd = chunk.lastIndexOf('\n');
    const leftOut = lastEnd < from ? nothingLeftOut : this.#leftOut(chunk, from, lastEnd);
    this.#listener.lines(passed, leftOut);
    this.#pending = this.#joined(chunk, Math.max(from, lastEnd + 1), chunk.length);
  }

  /**
   * Counts the lines that are not passed on, and returns the last of them. Must be fast, because a command
   * may write a flood of output.
   */
  #leftOut(chunk: string, from: number, lastEnd: number): LeftOut {
    let start = lastEnd;
    for (let lines = 0; lines < tailLines && start >= from; lines++) {
      start = start === 0 ? -1 : chunk.lastIndexOf('\n', start - 1);
    }
    const begin = Math.max(start + 1, from);
    const [first = '', ...others] = chunk.slice(begin, lastEnd).split('\n');
    const last = [begin === from ? this.#pending + first : first, ...others];
    let count = 0;
    for (let end = from - 1; end < lastEnd; end = chunk.indexOf('\n', end + 1)) count++;
    this.#pending = '';
    return { count, last };
  }

  /** Returns the pending text, joined with this part of the chunk. No text is pending afterwards. */
  #joined(chunk: string, from: number, to: number): string {
    const room = Math.max(0, maxLineLength + 1 - this.#pending.length);
    const line = this.#pending + chunk.slice(from, Math.min(to, from + room));
    this.#pending = '';
    return line;
  }

  #pace(length: number): void {
    const now = this.#clock.monotonicMs();
    if (now >= this.#sliceEndMs) {
      this.#sliceEndMs = now + sliceMs;
      this.#inSlice = 0;
    }
    this.#inSlice += length;
    if (this.#inSlice < charactersPerSlice) return;
    this.#readable.pause();
    this.#clock.timer(this.#sliceEndMs - now, () => this.#readable.resume());
  }
}

function shown(line: string): string {
  const cut = line.length > maxLineLength ? `${line.slice(0, maxLineLength)}…` : line;
  const text = stripVTControlCharacters(cut);
  return text.endsWith('\r') ? text.slice(0, -1) : text;
}
