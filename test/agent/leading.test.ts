import { expect, test } from 'vitest';
import { alone, type Sharing } from '../../src/agent/session/sharing.js';
import { type Store, StoreError } from '../../src/ports/store.js';
import { Group } from '../support/agent-group.js';
import { sharedZooKeeper } from '../support/ensemble.js';
import { overlaps, RecordingWorkload } from '../support/recording-workload.js';
import { until } from '../support/until.js';

test('the first node leads, and hands over when it leaves', async () => {
  await using group = await Group.found(await sharedZooKeeper());
  const [a, b] = await group.startInOrder(['a', 'b']);
  const first = await group.ready('a');
  await a?.stop();
  const second = await group.ready('b');
  expect(second.term).toBeGreaterThan(first.term);
  expect(second.stat.czxid).toBeGreaterThan(first.stat.czxid);
  expect(a?.ended).toEqual({ error: null });
  if (a === undefined || b === undefined) return;
  expect(overlaps({ a: a.recorded, b: b.recorded })).toEqual([]);
  await until(async () => (await group.history()).length === 2);
});

test('a release is logged as a warning if the leader failed, and not if the change is planned', async () => {
  await using group = await Group.found(await sharedZooKeeper(), { failback: 'manual' });
  const [a, b] = await group.startInOrder(['a', 'b']);
  await group.ready('a');
  await group.switchover('b');
  await group.ready('b');
  expect(a?.log).toContainEqual(expect.stringMatching(/^releasing: b is elected: /));
  expect(a?.warnings).not.toContainEqual(expect.stringMatching(/^releasing: /));
  b?.agent.setHealth(false, 'disk full');
  await group.ready('a');
  expect(b?.warnings).toContainEqual(expect.stringMatching(/^releasing: a is elected: .*disk full/));
});

test('a node whose workload may still live leaves its session to expire', async () => {
  class Undead extends RecordingWorkload {
    override async close(): Promise<boolean> {
      await super.close();
      return false;
    }
  }
  await using group = await Group.found(await sharedZooKeeper());
  const a = group.start('a', { workload: new Undead(), sessionTimeoutMs: 30_000 });
  await group.ready('a');
  const { sessionId } = a.store;
  await a.stop();
  expect((await group.store.exists(group.paths.node('a')))?.ephemeralOwner).toBe(sessionId);
});

/**
 * A server that answers no read and commits no write between `begin` and `end`. Reads that were waiting fail
 * at the end.
 */
class SilentServer {
  #waiting: (() => void)[] | null = null;

  begin(): void {
    this.#waiting = [];
  }

  end(): void {
    for (const fail of this.#waiting ?? []) fail();
    this.#waiting = null;
  }

  get hasReaders(): boolean {
    return (this.#waiting?.length ?? 0) > 0;
  }

  of(store: Store): Store {
    const silent = new StoreError('CONNECTION_LOSS', 'the server is silent');
    return new Proxy(store, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name, target);
        if (typeof value !== 'function') return value;
        return (...call: unknown[]): unknown => {
          if (this.#waiting === null) return Reflect.apply(value, target, call);
          if (name === 'multi') return Promise.reject(silent);
          if (name !== 'getData' && name !== 'getChildren') return Reflect.apply(value, target, call);
          return new Promise((_, reject) => this.#waiting?.push(() => reject(silent)));
        };
      },
    });
  }
}

class Unguarded extends RecordingWorkload {
  override holdLease(): void {}
}

test('a leader that waits for an answer releases when its lease is due, though nobody guards it', async () => {
  const workload = new Unguarded();
  const server = new SilentServer();
  await using group = await Group.found(await sharedZooKeeper());
  const a = group.start('a', { workload, wrap: (store) => server.of(store) });
  await group.ready('a');
  server.begin();
  try {
    await group.configure({ historySize: 7 });
    await until(() => server.hasReaders);
    await until(() => workload.of('release').length === 1);
    expect(a.status.leads).toBe(false);
  } finally {
    server.end();
  }
});

test('a leader that waits for its turn releases when its lease is due, though nobody guards it', async () => {
  const waiting: (() => void)[] = [];
  let isFull = false;
  const sharing: Sharing = {
    ...alone,
    turn: () =>
      isFull ? { ...alone.turn(), come: new Promise((come) => waiting.push(come)) } : alone.turn(),
  };
  const workload = new Unguarded();
  const server = new SilentServer();
  await using group = await Group.found(await sharedZooKeeper());
  const a = group.start('a', { workload, sharing, wrap: (store) => server.of(store) });
  await group.ready('a');
  isFull = true;
  server.begin();
  try {
    await group.configure({ historySize: 7 });
    await until(() => waiting.length > 0);
    await until(() => workload.of('release').length === 1);
    expect(a.status.leads).toBe(false);
  } finally {
    isFull = false;
    server.end();
    for (const come of waiting) come();
  }
});

test('T3 a failure that is reported late does not count for a later term, in which nothing was tried yet', async () => {
  const timeouts = { takeover: '3s', grace: '50ms' };
  await using group = await Group.found(await sharedZooKeeper(), {
    timeouts,
    backoff: { base: '300ms', max: '300ms' },
  });
  let stops = () => {};
  const stopped = new Promise<void>((resolve) => {
    stops = resolve;
  });
  const workload = new RecordingWorkload();
  workload.does('takeover', () => Promise.reject(new Error('exit code 9')));
  workload.does('release', () => stopped);
  group.start('a', { workload });
  try {
    // The elector replaces `a` and elects it again, while its first leadership is still being released.
    await until(async () => {
      const { node, term } = await group.elected();
      return node === 'a' && term > 1;
    });
    workload.does('takeover', () => {});
    stops();
    await group.ready('a');
    const outcomes = async () =>
      (await group.history()).flatMap((one) => (one.kind === 'transition' ? [[one.term, one.outcome]] : []));
    await until(async () => (await outcomes()).some(([, outcome]) => outcome === 'READY'));
    expect(await outcomes()).toEqual([
      [1, 'FAILED'],
      [2, 'NOBODY'],
      [3, 'READY'],
    ]);
  } finally {
    stops();
  }
});
