/**
 * One direction of a proxied connection. It reads data from one socket, holds, slows or cuts it, and writes
 * it to another socket.
 */
import type { Socket } from 'node:net';

export interface Impairment {
  readonly blackHole: boolean;
  readonly delayMs: number;
  readonly bytesPerSecond: number;
  readonly cutAfterBytes: number;
}

export const noImpairment: Impairment = {
  blackHole: false,
  delayMs: 0,
  bytesPerSecond: Number.POSITIVE_INFINITY,
  cutAfterBytes: Number.POSITIVE_INFINITY,
};

interface Item {
  readonly what: Buffer | 'end' | 'reset';
  readonly arrivedAtMs: number;
}

export class Channel {
  readonly #queue: Item[] = [];
  readonly #onCut: () => void;
  #impairment: Impairment = noImpairment;
  #destination: Socket | undefined;
  #timer: NodeJS.Timeout | undefined;
  #passedBytes = 0;
  #freeAtMs = 0;

  /** `onCut` is called when this channel itself has ended the connection. */
  constructor(onCut: () => void) {
    this.#onCut = onCut;
  }

  /**
   * Forwards the data that `source` sends, and the way in which `source` ends. Resets the connection if
   * `rewrite` returns null, because the data is not meant for this proxy.
   */
  readFrom(source: Socket, rewrite: (chunk: Buffer) => Buffer | null = (chunk) => chunk): void {
    source.on('data', (chunk: Buffer) => {
      const rewritten = rewrite(chunk);
      if (rewritten === null) source.destroy();
      this.#push(rewritten ?? 'reset');
    });
    source.once('end', () => this.#push('end'));
    source.on('error', () => this.#push('reset'));
  }

  writeTo(destination: Socket): void {
    this.#destination = destination;
    this.#pump();
  }

  impair(impairment: Impairment): void {
    if (impairment.cutAfterBytes !== this.#impairment.cutAfterBytes) this.#passedBytes = 0;
    this.#impairment = impairment;
    this.#freeAtMs = 0;
    this.#pump();
  }

  /** Resets the destination after all held data has been sent. */
  breakOff(): void {
    this.#push('reset');
  }

  /** Drops all held data. */
  discard(): void {
    clearTimeout(this.#timer);
    this.#queue.length = 0;
  }

  #push(what: Item['what']): void {
    this.#queue.push({ what, arrivedAtMs: performance.now() });
    this.#pump();
  }

  #pump(): void {
    clearTimeout(this.#timer);
    for (;;) {
      const [item] = this.#queue;
      if (item === undefined || this.#destination === undefined || this.#impairment.blackHole) return;
      const dueAtMs = Math.max(item.arrivedAtMs + this.#impairment.delayMs, this.#freeAtMs);
      const waitMs = dueAtMs - performance.now();
      if (waitMs > 0) {
        this.#timer = setTimeout(() => this.#pump(), waitMs);
        return;
      }
      this.#queue.shift();
      this.#forward(item, this.#destination);
    }
  }

  #forward({ what, arrivedAtMs }: Item, destination: Socket): void {
    if (what === 'reset') {
      destination.resetAndDestroy();
    } else if (what === 'end') {
      destination.end();
    } else {
      const length = Math.min(what.length, this.#shareBytes(), this.#leftBytes());
      if (length < what.length) this.#queue.unshift({ what: what.subarray(length), arrivedAtMs });
      this.#write(what.subarray(0, length), destination);
    }
  }

  #write(bytes: Buffer, destination: Socket): void {
    this.#passedBytes += bytes.length;
    this.#freeAtMs = performance.now() + (bytes.length / this.#impairment.bytesPerSecond) * 1000;
    if (destination.writable) destination.write(bytes);
    if (this.#leftBytes() > 0) return;
    this.discard();
    destination.end(() => this.#onCut());
  }

  /** Returns the number of bytes that a throttled channel may write in a twentieth of a second. */
  #shareBytes(): number {
    return Math.max(1, Math.floor(this.#impairment.bytesPerSecond / 20));
  }

  #leftBytes(): number {
    return Math.max(0, this.#impairment.cutAfterBytes - this.#passedBytes);
  }
}
