/** A client that keeps asking who leads: each server by itself, so that one that hangs keeps no answer back. */
import { setTimeout as sleep } from 'node:timers/promises';
import { errorMessage } from '../../src/errors.js';
import { GroupView, type Leader } from '../support/group-view.js';
import { type Journal, nowMs } from './journal.js';

const intervalMs = 100;
const sessionTimeoutMs = 4_000;

export class Client {
  readonly #journal: Journal;
  readonly #stopped = new AbortController();
  readonly #asking: Promise<void>[];
  /** The newest answer of any server; null: nobody leads. */
  leader: Leader | null = null;

  constructor(servers: readonly string[], root: string, journal: Journal) {
    this.#journal = journal;
    this.#asking = servers.map((address, server) => this.#ask(server, address, root));
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    await Promise.all(this.#asking);
  }

  async #ask(server: number, address: string, root: string): Promise<void> {
    const view = new GroupView(address, root, sessionTimeoutMs);
    const { signal } = this.#stopped;
    while (!signal.aborted) {
      const askedAtMs = nowMs();
      const { leader, error } = await view.leader().then(
        (leader) => ({ leader, error: null }),
        (error: unknown) => ({ leader: null, error: errorMessage(error) }),
      );
      if (error === null) this.leader = leader;
      const told = leader && { ...leader, session: undefined, token: String(leader.token) };
      this.#journal.answer({ askedAtMs, answeredAtMs: nowMs(), server, leader: told, error });
      await sleep(intervalMs, undefined, { signal }).catch(() => undefined);
    }
    await view.close().catch(() => undefined);
  }
}
