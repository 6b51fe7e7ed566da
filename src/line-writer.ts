/**
 * Writes lines to a file descriptor without ever waiting for it and without ever failing: a log that cannot
 * be written (its disk is full, its collector hangs or is gone) must not stop a leader. What does not
 * eligible into the buffer meanwhile is dropped, and so is what the system refuses.
 *
 * Not promised: that a process can end while a write of its own is held up; Node.js waits for that.
 */
import { fstat, write, writeSync } from 'node:fs';

const retryMs = 100;

export class LineWriter {
  readonly #fd: number;
  readonly #maxBytes: number;
  #waiting: Buffer[] = [];
  #waitingBytes = 0;
  #busy = false;

  /** At most `maxBytes` wait to be written. */
  constructor(fd: number, maxBytes: number) {
    this.#fd = fd;
    this.#maxBytes = maxBytes;
    // Starts the threads that will write. Should there be none left for the first line, Node.js would abort.
    fstat(fd, () => {});
    process.once('exit', () => this.#writeRest());
  }

  write(line: string): void {
    const bytes = Buffer.from(line);
    if (this.#waitingBytes + bytes.length > this.#maxBytes) return;
    this.#waiting.push(bytes);
    this.#waitingBytes += bytes.length;
    if (this.#busy) return;
    this.#busy = true;
    // Not at once: a process that exits right away writes its lines then, in their order.
    setImmediate(() => this.#next());
  }

  #next(): void {
    const chunk = this.#take();
    this.#busy = chunk.length > 0;
    if (!this.#busy) return;
    write(this.#fd, chunk, 0, chunk.length, null, (error, written) => {
      if (error?.code === 'EAGAIN') {
        this.#putBack(chunk);
        setTimeout(() => this.#next(), retryMs).unref();
        return;
      }
      if (error === null && written < chunk.length) this.#putBack(chunk.subarray(written));
      this.#next();
    });
  }

  #writeRest(): void {
    try {
      writeSync(this.#fd, this.#take());
    } catch {
      // Nobody is left to be told.
    }
  }

  #take(): Buffer {
    const chunk = Buffer.concat(this.#waiting);
    this.#waiting = [];
    this.#waitingBytes = 0;
    return chunk;
  }

  #putBack(chunk: Buffer): void {
    this.#waiting.unshift(chunk);
    this.#waitingBytes += chunk.length;
  }
}
