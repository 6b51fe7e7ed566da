/**
 * Writes lines to a file descriptor without ever blocking or failing. A log that cannot be written (its disk
 * is full, or its collector hangs or is gone) must not stop a leader. Lines that do not fit into the buffer
 * are dropped, and so are lines that the system refuses to write.
 *
 * Not promised: that a process can end while one of its writes is blocked. Node.js waits for that write.
 */
import { fstat, write, writeSync } from 'node:fs';

const retryMs = 100;

export class LineWriter {
  readonly #fd: number;
  readonly #maxBytes: number;
  #waiting: Buffer[] = [];
  #waitingBytes = 0;
  #busy = false;

  /** Creates a writer that buffers at most `maxBytes`. */
  constructor(fd: number, maxBytes: number) {
    this.#fd = fd;
    this.#maxBytes = maxBytes;
    // Start the threads that will write. Node.js would abort if it could not start any of them later, when
    // the first line is written.
    fstat(fd, () => {});
  }

  write(line: string): void {
    const bytes = Buffer.from(line);
    if (this.#waitingBytes + bytes.length > this.#maxBytes) return;
    this.#waiting.push(bytes);
    this.#waitingBytes += bytes.length;
    if (this.#busy) return;
    this.#busy = true;
    process.once('exit', this.#writeRest);
    // Defer the write. If the process exits immediately, its lines are written at exit, in order.
    setImmediate(() => this.#next());
  }

  #next(): void {
    const chunk = this.#take();
    this.#busy = chunk.length > 0;
    if (!this.#busy) {
      process.off('exit', this.#writeRest);
      return;
    }
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

  readonly #writeRest = (): void => {
    try {
      writeSync(this.#fd, this.#take());
    } catch {
      // An error while writing at exit can no longer be reported.
    }
  };

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
