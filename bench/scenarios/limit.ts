/**
 * Measures the lower bound for any election on these servers. It consists of committed writes and one
 * notification. For contenders with commands, the start of a command is added. Uses Petrel's own client.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Store } from '../../src/ports/store.js';
import { monotonicMs } from '../clocks.js';
import type { ZooKeeper } from '../servers.js';
import type { Samples } from '../statistics.js';

export const limit = 'limit';
const none = Buffer.alloc(0);

export class Limit implements AsyncDisposable {
  readonly #one: Store;
  readonly #other: Store;
  readonly #path: string;

  private constructor(zookeeper: ZooKeeper) {
    this.#one = zookeeper.open(30_000);
    this.#other = zookeeper.open(30_000);
    this.#path = `/limit-${process.pid}-${Math.round(monotonicMs())}`;
  }

  static async open(zookeeper: ZooKeeper): Promise<Limit> {
    const limits = new Limit(zookeeper);
    await Promise.all([limits.#one.connected(), limits.#other.connected()]);
    return limits;
  }

  async warmUp(rounds: number): Promise<void> {
    for (let round = 0; round < rounds; round++) {
      await this.commit();
      await this.transition();
    }
  }

  async measure(samples: Samples, scenario: string, rounds: number): Promise<void> {
    for (let round = 0; round < rounds; round++) {
      const commit = await this.commit();
      const { transition, notified } = await this.transition();
      const { started, ended } = await command();
      samples.add(scenario, limit, 'commit', commit);
      samples.add(scenario, limit, 'transition', transition);
      samples.add(scenario, limit, 'notified', notified);
      // Two parts lie between the first line of one command and the first line of the next: the rest of the
      // first command, and the start of the second.
      samples.add(scenario, limit, 'transition with commands', transition + ended);
      samples.add(scenario, limit, 'handover with commands', started + transition + ended);
    }
  }

  /** Returns the duration of one committed write, in milliseconds. */
  async commit(): Promise<number> {
    const atMs = monotonicMs();
    await this.#one.create(this.#path, none, 'ephemeral');
    const tookMs = monotonicMs() - atMs;
    await this.#one.delete(this.#path, 'any');
    return tookMs;
  }

  /**
   * Measures a transition: one session deletes a znode, and another session that watches it is notified and
   * creates a znode. That takes two commits and one notification. Returns times in milliseconds.
   */
  async transition(): Promise<{ readonly transition: number; readonly notified: number }> {
    await this.#one.create(this.#path, none, 'ephemeral');
    // The other session's server may lag behind. Without the sync, its watch could fire for the creation of
    // the znode.
    await this.#other.sync(this.#path);
    await this.#other.exists(this.#path, { watch: true });
    const heard = firstChange(this.#other, this.#path);
    const atMs = monotonicMs();
    const deleted = this.#one.delete(this.#path, 'any');
    await heard;
    const notifiedAtMs = monotonicMs();
    await this.#other.create(this.#path, none, 'ephemeral');
    const endedAtMs = monotonicMs();
    await deleted;
    await this.#other.delete(this.#path, 'any');
    return { transition: endedAtMs - atMs, notified: notifiedAtMs - atMs };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([this.#one.close(), this.#other.close()]);
  }
}

/** Measures a shell command. Returns the milliseconds until its first line is read, and until its exit. */
async function command(): Promise<{ readonly started: number; readonly ended: number }> {
  const atMs = monotonicMs();
  const child = spawn('/bin/bash', ['-c', 'echo begun'], { stdio: ['ignore', 'pipe', 'inherit'] });
  const end = once(child, 'exit').then(() => monotonicMs());
  await once(child.stdout, 'data');
  const startedAtMs = monotonicMs();
  return { started: startedAtMs - atMs, ended: (await end) - atMs };
}

export function firstChange(store: Store, path: string): Promise<void> {
  return new Promise((resolve) => {
    const unlisten = store.onChange((changed) => {
      if (changed !== path) return;
      unlisten();
      resolve();
    });
  });
}

/**
 * Measures the end of a silent session. Returns the milliseconds from its last request until another session
 * is notified of its end.
 */
export async function sessionEnd(zookeeper: ZooKeeper, sessionMs: number): Promise<number> {
  const path = `/session-${process.pid}-${Math.round(monotonicMs() * 1000)}`;
  const session = zookeeper.open(sessionMs);
  await session.connected();
  await session.create(path, none, 'ephemeral');
  await zookeeper.store.sync(path);
  await zookeeper.store.exists(path, { watch: true });
  const ended = firstChange(zookeeper.store, path);
  const atMs = monotonicMs();
  await session.exists(path);
  await session.close({ abandon: true });
  await ended;
  return monotonicMs() - atMs;
}
