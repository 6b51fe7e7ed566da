/** A connection to ZooKeeper that delivers one chosen request but loses its reply. */
import { startProxy, type TcpProxy } from './proxy.js';

export class LossyWay implements AsyncDisposable {
  readonly #proxy: TcpProxy;
  readonly #watcher: Watcher;

  private constructor(proxy: TcpProxy, watcher: Watcher) {
    this.#proxy = proxy;
    this.#watcher = watcher;
  }

  static async to(target: string): Promise<LossyWay> {
    const watcher: Watcher = { matches: () => false, onMatch: () => {} };
    const rewriter = () => (chunk: Buffer) => {
      if (watcher.matches(chunk.toString('latin1'))) watcher.onMatch();
      return chunk;
    };
    return new LossyWay(await startProxy({ target, rewriter }), watcher);
  }

  get address(): string {
    return this.#proxy.address;
  }

  /** Resolves when a request that `matches` has been forwarded. From then on, no reply reaches the client. */
  loseReplyTo(matches: (request: string) => boolean): Promise<void> {
    return new Promise((resolve) => {
      this.#watcher.matches = matches;
      this.#watcher.onMatch = () => {
        this.#watcher.matches = () => false;
        this.#proxy.blackHole('toClient');
        resolve();
      };
    });
  }

  /** Breaks the connection and drops all data that was held back. The next connection works normally. */
  async breakAndHeal(): Promise<void> {
    this.#proxy.resetAll();
    await this.#proxy.heal();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#proxy.stop();
  }
}

interface Watcher {
  matches: (request: string) => boolean;
  onMatch: () => void;
}
