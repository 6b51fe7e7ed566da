/**
 * A client that requests the leader of each slot again and again. The client queries each server separately,
 * so a server that hangs does not delay the answers of the others.
 */
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
  readonly #slots: readonly number[];
  readonly #leaders = new Map<number, Leader>();

  constructor(servers: readonly string[], root: string, slots: readonly number[], journal: Journal) {
    this.#journal = journal;
    this.#slots = slots;
    this.#asking = servers.map((address, server) => this.#ask(server, address, root));
  }

  /** Returns the leader in the newest answer from any server. Null if the slot has no leader. */
  leader(slot: number): Leader | null {
    return this.#leaders.get(slot) ?? null;
  }

  /** Returns the nodes that lead a slot. */
  leading(): string[] {
    return [...this.#leaders.values()].map(({ node }) => node);
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    await Promise.all(this.#asking);
  }

  async #ask(server: number, address: string, root: string): Promise<void> {
    const view = new GroupView(address, root, sessionTimeoutMs);
    const { signal } = this.#stopped;
    while (!signal.aborted) {
      const requestedAtMs = nowMs();
      const { leaders, error } = await view.leaders(this.#slots).then(
        (leaders) => ({ leaders, error: null }),
        (error: unknown) => ({ leaders: [], error: errorMessage(error) }),
      );
      const answeredAtMs = nowMs();
      for (const [index, slot] of this.#slots.entries()) {
        const leader = leaders[index] ?? null;
        if (error === null) this.#remember(slot, leader);
        const recorded = leader && { ...leader, session: undefined, token: String(leader.token) };
        this.#journal.answer({ requestedAtMs, answeredAtMs, server, slot, leader: recorded, error });
      }
      await sleep(intervalMs, undefined, { signal }).catch(() => undefined);
    }
    await view.close().catch(() => undefined);
  }

  #remember(slot: number, leader: Leader | null): void {
    if (leader === null) this.#leaders.delete(slot);
    else this.#leaders.set(slot, leader);
  }
}
