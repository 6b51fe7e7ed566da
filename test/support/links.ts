/**
 * One node's connections to the servers. There is a proxy in front of each server, so that this node alone
 * can be cut off.
 */
import { type Directions, startProxy, type TcpProxy } from './proxy.js';
import type { Reached } from './servers.js';

export class Links implements AsyncDisposable {
  readonly #proxies: readonly TcpProxy[];

  private constructor(proxies: readonly TcpProxy[]) {
    this.#proxies = proxies;
  }

  static async to(servers: Reached['all']): Promise<Links> {
    const proxies = servers.map(({ connectString }) => startProxy({ target: connectString }));
    return new Links(await Promise.all(proxies));
  }

  get connectString(): string {
    return this.#proxies.map(({ address }) => address).join(',');
  }

  /**
   * Index of the server that the node is connected to. Undefined while it is connected to none, or to
   * several.
   */
  get server(): number | undefined {
    const open = [...this.#proxies.keys()].filter((index) => (this.#proxies[index]?.open ?? 0) > 0);
    return open.length === 1 ? open[0] : undefined;
  }

  /** Holds back every packet until the returned object is disposed of. */
  cut(directions: Directions = 'both'): AsyncDisposable {
    for (const proxy of this.#proxies) proxy.blackHole(directions);
    return { [Symbol.asyncDispose]: () => this.heal() };
  }

  /** Refuses connections to all other servers until the returned object is disposed of. */
  keepOnly(server: number): AsyncDisposable {
    for (const [index, proxy] of this.#proxies.entries()) {
      if (index === server) continue;
      proxy.refuse();
      proxy.resetAll();
    }
    return { [Symbol.asyncDispose]: () => this.heal() };
  }

  /** Delays all traffic by `delayMs`. */
  delay(delayMs: number): void {
    for (const proxy of this.#proxies) proxy.delay(delayMs);
  }

  /** Resets every connection. New connections are accepted. */
  reset(): void {
    for (const proxy of this.#proxies) proxy.resetAll();
  }

  async heal(): Promise<void> {
    await Promise.all(this.#proxies.map((proxy) => proxy.heal()));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#proxies.map((proxy) => proxy.stop()));
  }
}
