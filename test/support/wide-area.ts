/**
 * A simulated wide-area network between UDP sockets of this machine. Each participant has a name and a port
 * of the relay at which others reach it. The relay identifies a sender by the port it sends from. It delays
 * each packet by the distance between sender and receiver. It loses no packets.
 */
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';

const host = '127.0.0.1';

export class WideArea implements AsyncDisposable {
  readonly #delayMs: (from: string, to: string) => number;
  readonly #doors = new Map<string, Socket>();
  readonly #ports = new Map<string, number>();
  readonly #names = new Map<number, string>();
  #isClosed = false;

  /** `delayMs` returns the delay in one direction. */
  constructor(delayMs: (from: string, to: string) => number) {
    this.#delayMs = delayMs;
  }

  /**
   * Opens the port at which others reach `name`, and returns it. The port is `port`, or by default any free
   * one.
   */
  async enter(name: string, port = 0): Promise<number> {
    const door = createSocket('udp4');
    this.#doors.set(name, door);
    door.on('message', (bytes, from) => this.#pass(bytes, this.#names.get(from.port), name));
    const listening = once(door, 'listening');
    door.bind(port, host);
    await listening;
    return door.address().port;
  }

  /** Sets the port from which `name` sends. Packets from unknown ports are dropped. */
  is(name: string, port: number): void {
    this.#names.delete(this.#ports.get(name) ?? 0);
    this.#ports.set(name, port);
    this.#names.set(port, name);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#doors.values()].map((door) => new Promise<void>((done) => door.close(done))));
  }

  #pass(bytes: Buffer, from: string | undefined, to: string): void {
    if (from === undefined) return;
    const dueAtMs = performance.now() + this.#delayMs(from, to);
    const deliver = () => {
      if (this.#isClosed) return;
      // Timers have a resolution of 1 ms. The rest of the delay passes in iterations of the event loop.
      if (performance.now() < dueAtMs) setImmediate(deliver);
      else this.#doors.get(from)?.send(bytes, this.#ports.get(to) ?? 0, host);
    };
    const wholeMs = Math.floor(dueAtMs - performance.now());
    if (wholeMs < 1) deliver();
    else setTimeout(deliver, wholeMs);
  }
}
