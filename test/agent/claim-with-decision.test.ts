/** An elector that elects its own node claims leadership in the transaction of its decision. */
import { describe, expect, it } from 'vitest';
import { electedSchema } from '../../src/model/znodes.js';
import { type Operation, type Store, StoreError } from '../../src/ports/store.js';
import { type DevelopmentServer, startDevelopmentServer } from '../../src/testing.js';
import { byHand, Group, type Member, type MemberOptions } from '../support/agent-group.js';
import { writesFromNowOn } from '../support/group-writes.js';
import { startProxy } from '../support/proxy.js';
import { RecordingWorkload } from '../support/recording-workload.js';
import { until } from '../support/until.js';

interface Fixture extends AsyncDisposable {
  readonly server: DevelopmentServer;
  readonly group: Group;
  readonly b: Member;
  /** Describes each write of the group's znodes since the start, without ends of sessions, as `type path`. */
  readonly writes: string[][];
  /** Ends the session of the leader `a`, which notices nothing. */
  kill(): Promise<void>;
}

/** Starts `a` and `b` in this order. Resolves once `a` leads, and nothing is left to write. */
async function led(order: readonly ('a' | 'b')[], options: MemberOptions = {}): Promise<Fixture> {
  const server = await startDevelopmentServer();
  const way = await startProxy({ target: server.connectString });
  const group = await Group.found(server.connectString, { failback: 'manual' });
  const start = { a: { connect: way.address, priority: 300 }, b: options };
  for (const node of order) await group.start(node, start[node]).joined();
  await until(async () => (await group.elected()).node !== null);
  if ((await group.elected()).node !== 'a') await group.switchover('a');
  await group.ready('a');
  await until(async () =>
    (await group.history()).some((one) => one.kind === 'transition' && one.node === 'a'),
  );
  const member = (node: string) => group.members.find((one) => one.node === node);
  const [a, b] = [member('a'), member('b')];
  if (a === undefined || b === undefined) throw new Error('nobody');
  const writes = writesFromNowOn(server, group);
  const kill = async () => {
    way.blackHole();
    await a.expire(server.connectString);
  };
  const close = async () => {
    await way.heal();
    await group[Symbol.asyncDispose]();
    await way[Symbol.asyncDispose]();
    await server.close();
  };
  return { server, group, b, writes, kill, [Symbol.asyncDispose]: close };
}

const decision = ['setData leader/elected', 'setData election/b'];
const claim = ['create leader/current', 'setData nodes/b'];

/** Returns the writes that elect or claim, without the sequence of the seat. */
function steps({ writes }: Fixture): string[][] {
  return writes
    .map((write) => write.map((one) => one.replace(/^(setData election\/b)-\d+$/, '$1')))
    .filter((write) => write.includes('setData leader/elected') || write.includes('create leader/current'));
}

async function terms(group: Group): Promise<number[]> {
  return (await group.history()).flatMap((one) => (one.kind === 'transition' ? [one.term] : []));
}

describe('an elector that follows a leader which has died', () => {
  const orders: [string, ('a' | 'b')[]][] = [
    ['the elector', ['a', 'b']],
    ['another node', ['b', 'a']],
  ];

  it.each(orders)('decides and claims in one write, if that was %s', async (_, order) => {
    await using fixture = await led(order);
    const { group, writes } = fixture;
    const before = await group.elected();
    await fixture.kill();
    const ready = await group.ready('b');
    // A new elector may have to read the clock first.
    const first = writes.find((write) => !write.includes('setData clock'));
    expect(first).toContain('create leader/current');
    expect(steps(fixture)).toEqual([[...decision, ...claim]]);
    const { data, stat } = await group.store.getData(group.paths.elected);
    expect(electedSchema.parse(JSON.parse(data.toString('utf8')))).toMatchObject({
      ...{ node: 'b', by: 'b', cause: 'failure', term: before.term + 1, previous: { node: 'a' } },
    });
    expect(ready).toMatchObject({ term: before.term + 1, electedVersion: stat.version, resumes: null });
    // The zxid of the transaction is the fencing token.
    expect(ready.stat.czxid).toBe(stat.mzxid);
    expect(fixture.b.status.fencingToken).toBe(stat.mzxid);
    const record = await until(async () => {
      const history = await group.history();
      return history.find((one) => one.kind === 'transition' && one.term === ready.term) ?? null;
    });
    expect(record).toMatchObject({
      ...{ node: 'b', by: 'b', cause: 'failure', outcome: 'READY', previous: { node: 'a' } },
      ...{ fencingToken: String(stat.mzxid), release: null },
      phases: { claimMs: 0 },
    });
  });

  it('decides first, if it has to prepare', async () => {
    const workload = new RecordingWorkload({ prepare: () => {} });
    await using fixture = await led(['b', 'a'], { workload });
    await fixture.kill();
    await fixture.group.ready('b');
    expect(steps(fixture)).toEqual([decision, claim]);
    expect(workload.runs.map(({ context }) => context.phase).slice(-2)).toEqual(['prepare', 'takeover']);
  });
});

describe('an elector whose lease would end before it can be renewed', () => {
  it('decides first, and claims later', async () => {
    let isShort = false;
    const wrap = (store: Store) =>
      new Proxy(store, {
        get: (target, name) => {
          if (name === 'lastsToRenewal') return () => !isShort && target.lastsToRenewal();
          const value: unknown = Reflect.get(target, name, target);
          return typeof value === 'function' ? value.bind(target) : value;
        },
      });
    await using fixture = await led(['b', 'a'], { wrap });
    isShort = true;
    await fixture.kill();
    await until(async () => (await fixture.group.elected()).node === 'b');
    isShort = false;
    await fixture.group.ready('b');
    expect(steps(fixture)).toEqual([decision, claim]);
  });
});

describe('the first election', () => {
  it('takes one write, if the elector elects itself', async () => {
    await using server = await startDevelopmentServer();
    await using group = await Group.found(server.connectString);
    const multis: string[][] = [];
    server.onCommit(({ operations }) => {
      if (operations.some(({ path }) => path.startsWith(group.paths.leader)))
        multis.push(operations.map(({ type, path }) => `${type} ${path.slice(group.root.length + 1)}`));
    });
    group.start('a');
    const { stat } = await group.ready('a');
    expect(multis[0]).toContain('setData leader/elected');
    expect(multis[0]).toContain('create leader/current');
    expect((await group.elected()).version).toBe(1);
    expect(stat.version).toBe(1);
  });
});

/** Returns a store that handles a decision with a claim in another way. */
function instead(store: Store, act: (send: () => Promise<unknown>) => Promise<void>): Store {
  const both = (operations: readonly Operation[]) =>
    operations.some(({ type, path }) => type === 'set' && path.endsWith('/leader/elected')) &&
    operations.some(({ type, path }) => type === 'create' && path.endsWith('/leader/current'));
  return new Proxy(store, {
    get: (target, name) => {
      if (name === 'multi') {
        return async (...call: Parameters<Store['multi']>) => {
          if (both(call[0])) await act(() => target.multi(...call));
          return await target.multi(...call);
        };
      }
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

/** Starts a group whose elector is `b`, and does something instead of its first decision with a claim. */
async function ledWith(
  act: (fixture: Fixture, send: () => Promise<unknown>) => Promise<void>,
): Promise<Fixture & { readonly tries: () => number }> {
  let fixture: Fixture | null = null;
  let tries = 0;
  const wrap = (store: Store) =>
    instead(store, async (send) => {
      if (fixture === null) return;
      tries += 1;
      if (tries === 1) await act(fixture, send);
    });
  const made = await led(['b', 'a'], { wrap });
  fixture = made;
  return { ...made, tries: () => tries };
}

describe('a decision with a claim', () => {
  it('is not written, if an operator has paused the group meanwhile', async () => {
    await using fixture = await ledWith(
      async ({ group }) => await group.configure({ paused: byHand('repair') }),
    );
    const { group } = fixture;
    const before = await group.elected();
    await fixture.kill();
    await until(() => fixture.tries() === 1);
    await until(() => fixture.b.log.some((line) => line.includes('paused')));
    expect(await group.elected()).toEqual(before);
    expect(await group.current()).toBe(null);
    await group.configure({ paused: null });
    const ready = await group.ready('b');
    expect(ready.term).toBe(before.term + 1);
    expect(steps(fixture)).toEqual([[...decision, ...claim]]);
  });

  it('is not written, if a claim exists by now, and the decision is made again', async () => {
    await using fixture = await ledWith(async ({ group }) => {
      await group.store.create(group.paths.current, Buffer.from('{}'), 'ephemeral');
    });
    const { group } = fixture;
    await fixture.kill();
    await until(() => fixture.tries() === 1);
    await until(async () => (await group.elected()).node === 'b');
    expect(steps(fixture).at(-1)).toEqual(decision);
    await group.store.delete(group.paths.current, 'any');
    await group.ready('b');
    expect(steps(fixture).slice(1)).toEqual([decision, claim]);
    expect(fixture.tries()).toBe(1);
  });

  it.each(['NO_AUTH', 'QUOTA_EXCEEDED'] as const)('is written without the claim after %s', async (code) => {
    await using fixture = await ledWith(async ({ group }) => {
      throw new StoreError(code, `${code} for a test`, { path: group.paths.current });
    });
    await fixture.kill();
    await fixture.group.ready('b');
    expect(steps(fixture)).toEqual([decision, claim]);
    expect(fixture.tries()).toBe(1);
  });

  it('whose reply is lost is found, and its token led under once', async () => {
    await using fixture = await ledWith(async (_, send) => {
      await send();
      throw new StoreError('CONNECTION_LOSS', 'the reply is lost for a test');
    });
    const { group, b } = fixture;
    const before = await group.elected();
    await fixture.kill();
    const ready = await group.ready('b');
    expect(ready.term).toBe(before.term + 1);
    expect(steps(fixture)).toEqual([[...decision, ...claim]]);
    const tokens = b.recorded.of('takeover').map(({ context }) => context.fencingToken);
    expect(tokens.filter((token) => token === ready.stat.czxid)).toHaveLength(1);
    expect(tokens.at(-1)).toBe(ready.stat.czxid);
    await until(async () => (await terms(group)).includes(ready.term));
    expect(await terms(group)).toEqual([...new Set(await terms(group))]);
  });
});
