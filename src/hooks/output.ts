/**
 * What a command writes, as lines: the last few kept, and each passed on while they come at a sensible rate.
 * Memory stays bounded however much is written, with or without newlines. What is cut or left out is counted.
 */
import type { Readable } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';
import { systemClock } from '../ports/clock.js';

const maxLineLength = 500;
const tailLines = 20;
/** Lines passed on in one period; the rest of it is left out. */
const linesPerPeriod = 200;
const periodMs = 1000;

export type OutputStream = 'stdout' | 'stderr';

export interface OutputListener {
  line(stream: OutputStream, text: string): void;
  /** So many lines came too fast to be passed on. */
  leftOut(lines: number): void;
}

export class HookOutput {
  readonly #tail: string[] = [];
  readonly #listener: OutputListener;
  #periodStartMs = 0;
  #inPeriod = 0;
  #leftOut = 0;

  constructor(listener: OutputListener) {
    this.#listener = listener;
  }

  get tail(): readonly string[] {
    return this.#tail;
  }

  read(stream: OutputStream, readable: Readable): void {
    let pending = '';
    readable.setEncoding('utf8');
    readable.on('data', (chunk: string) => {
      const lines = chunk.split('\n');
      for (const [at, piece] of lines.entries()) {
        if (pending.length <= maxLineLength) pending += piece.slice(0, maxLineLength + 1 - pending.length);
        if (at === lines.length - 1) break;
        this.#line(stream, pending);
        pending = '';
      }
    });
    readable.on('end', () => {
      if (pending !== '') this.#line(stream, pending);
      this.#reportLeftOut();
    });
    // The pipe of a killed command may break; its outcome tells more.
    readable.on('error', () => {});
  }

  #line(stream: OutputStream, raw: string): void {
    const text = stripVTControlCharacters(
      raw.length > maxLineLength ? `${raw.slice(0, maxLineLength)}…` : raw,
    );
    const line = text.endsWith('\r') ? text.slice(0, -1) : text;
    this.#tail.push(line);
    if (this.#tail.length > tailLines) this.#tail.shift();
    const now = systemClock.monotonicMs();
    if (now - this.#periodStartMs >= periodMs) {
      this.#reportLeftOut();
      this.#periodStartMs = now;
      this.#inPeriod = 0;
    }
    this.#inPeriod++;
    if (this.#inPeriod <= linesPerPeriod) this.#listener.line(stream, line);
    else this.#leftOut++;
  }

  #reportLeftOut(): void {
    if (this.#leftOut > 0) this.#listener.leftOut(this.#leftOut);
    this.#leftOut = 0;
  }
}
