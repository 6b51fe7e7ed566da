/** A leader that leaves hands over to the published successor, in one transaction. */
import { describe, expect, it } from 'vitest';
import { registrationSchema } from '../../src/model/registration.js';
import { type Successor, successorSchema } from '../../src/model/znodes.js';
import { isStoreError, type Store } from '../../src/ports/store.js';
import { type DevelopmentServer, startDevelopmentServer } from '../../src/testing.js';
import { Group, type Member, type MemberOptions } from '../support/agent-group.js';
import { writesFromNowOn } from '../support/group-writes.js';
import { RecordingWorkload } from '../support/recording-workload.js';
import { until } from '../support/until.js';

async function published(group: Group): Promise<Successor | null> {
  try {
    const { data } = await group.store.getData(group.paths.successor);
    return successorSchema.parse(JSON.parse(data.toString('utf8')));
  } catch (error) {
    if (isStoreError(error, 'NO_NODE')) return null;
    throw error;
  }
}

interface Fixture extends AsyncDisposable {
  readonly server: DevelopmentServer;
  readonly group: Group;
  readonly members: readonly Member[];
  /** Describes the writes of the group's znodes since the start, without renewals, as `type path`. */
  readonly writes: string[][];
}

/** Starts the nodes in order. Resolves once `b` leads and the successor `next` is published. */
async function led(
  nodes: readonly string[],
  next: string,
  options: (node: string) => MemberOptions = () => ({}),
): Promise<Fixture> {
  const server = await startDevelopmentServer();
  const group = await Group.found(server.connectString, { failback: 'manual' });
  const members: Member[] = [];
  for (const node of nodes) {
    const priority = node === 'b' ? 300 : node === 'c' ? 200 : 100;
    const member = group.start(node, { priority, ...options(node) });
    await member.joined();
    members.push(member);
  }
  await until(async () => (await group.elected()).node !== null);
  if ((await group.elected()).node !== 'b') await group.switchover('b');
  await group.ready('b');
  await until(async () => {
    const { decision, electedVersion, configVersion } = (await published(group))?.prepared ?? {};
    const { stat } = await group.store.getData(group.paths.config);
    const isCurrent = electedVersion === (await group.elected()).version && configVersion === stat.version;
    return isCurrent && decision?.node === next;
  });
  const writes = writesFromNowOn(server, group);
  const close = async () => {
    await group[Symbol.asyncDispose]();
    await server.close();
  };
  return { server, group, members, writes, [Symbol.asyncDispose]: close };
}

function memberOf({ members }: Fixture, node: string): Member {
  const found = members.find((member) => member.node === node);
  if (found === undefined) throw new Error(`no ${node}`);
  return found;
}

describe('a leader that leaves', () => {
  it('is followed after two writes, neither of them by the elector', async () => {
    await using fixture = await led(['a', 'b', 'c'], 'c');
    const { group, writes } = fixture;
    const before = await group.elected();
    await memberOf(fixture, 'b').stop();
    const claim = await group.ready('c');
    expect(claim.term).toBe(before.term + 1);
    expect(writes[0]?.map((write) => write.replace(/-\d+$/, ''))).toEqual([
      'setData leader/elected',
      'delete leader/current',
      'setData election/c',
      'setData nodes/b',
    ]);
    expect(writes[1]).toEqual(['create leader/current', 'setData nodes/c']);
    const record = await until(async () => {
      const history = await group.history();
      return history.find((one) => one.kind === 'transition' && one.term === claim.term) ?? null;
    });
    expect(record).toMatchObject({
      node: 'c',
      by: 'a',
      cause: 'shutdown',
      outcome: 'READY',
      previous: { node: 'b' },
      reason: 'instead of b (it is shutting down): site here has priority 100, the node has priority 200',
    });
    expect(memberOf(fixture, 'b').recorded.of('release')).toMatchObject([{ context: { newLeader: 'c' } }]);
  });

  it('hands over in the same way if it is the elector', async () => {
    await using fixture = await led(['b', 'a'], 'a');
    const { group, writes } = fixture;
    await memberOf(fixture, 'b').stop();
    await group.ready('a');
    expect(writes[0]).toContain('delete leader/current');
    expect(writes[0]).toContain('setData leader/elected');
  });

  it('does not say that it leaves while it releases, and is not replaced', async () => {
    let end = () => {};
    const workload = new RecordingWorkload({ release: () => new Promise((resolve) => (end = resolve)) });
    await using fixture = await led(['a', 'b', 'c'], 'c', (node) => (node === 'b' ? { workload } : {}));
    const { group, writes } = fixture;
    const b = memberOf(fixture, 'b');
    b.agent.stop();
    await until(() => b.status.stage === 'releasing');
    // A node that joins makes every elector look at the group again.
    await group.start('d', { priority: 1 }).joined();
    expect((await group.elected()).node).toBe('b');
    expect(writes.flat().filter((write) => write.endsWith(' nodes/b'))).toEqual([]);
    end();
    await group.ready('c');
  });
});

type Operations = Parameters<Store['multi']>[0];

const isHandover = (operations: Operations) =>
  operations.some((one) => one.type === 'set' && one.path.endsWith('/elected')) &&
  operations.some((one) => one.type === 'delete');

/** Whether a claim rests on the published successor, and on no read since then. */
const isAssumed = (operations: Operations) =>
  operations.some((one) => one.type === 'check' && one.path.endsWith('/leader/successor')) &&
  operations.some((one) => one.type === 'create');

/** Returns a store that does something before it sends these operations. */
function actingFirst(
  store: Store,
  isIt: (operations: Operations) => boolean,
  act: () => Promise<void>,
): Store {
  return new Proxy(store, {
    get: (target, name) => {
      if (name === 'multi') {
        return async (...call: Parameters<Store['multi']>) => {
          if (isIt(call[0])) await act();
          return await target.multi(...call);
        };
      }
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

describe('a handover whose ground has changed writes nothing, and the elector decides', () => {
  const changes: [string, string, (fixture: Fixture) => Promise<unknown>][] = [
    ['a', 'an operator asked for another node', async ({ group }) => await group.switchover('a')],
    [
      'a',
      'an operator drained the successor',
      async ({ group }) => {
        const drained = { c: { by: 'a test', reason: 'repair', at: new Date().toISOString() } };
        await group.configure({ drained });
      },
    ],
    [
      'a',
      'the successor became unhealthy',
      async (fixture) => {
        memberOf(fixture, 'c').agent.setHealth(false, 'disk full');
        const path = fixture.group.paths.node('c');
        await until(async () => (await fixture.group.store.getData(path)).data.includes('disk full'));
      },
    ],
    ['a', 'the successor left', async (fixture) => await memberOf(fixture, 'c').stop()],
    [
      'd',
      'a better node joined',
      async ({ group }) => {
        await group.start('d', { priority: 250 }).joined();
        await until(async () => (await published(group))?.prepared?.decision.node === 'd');
      },
    ],
  ];

  it.each(changes)('%s leads: %s', async (next, _, change) => {
    let fixture: Fixture | null = null;
    let tries = 0;
    const wrap = (store: Store) =>
      actingFirst(store, isHandover, async () => {
        tries += 1;
        if (fixture !== null) await change(fixture);
      });
    await using made = await led(['a', 'b', 'c'], 'c', (node) => (node === 'b' ? { wrap } : {}));
    fixture = made;
    await memberOf(made, 'b').stop();
    const claim = await made.group.ready(next);
    expect(tries).toBe(1);
    expect(claim.node).toBe(next);
    const terms = (await made.group.history()).flatMap((one) =>
      one.kind === 'transition' ? [one.term] : [],
    );
    expect(terms).toEqual([...new Set(terms)]);
  });
});

describe('the successor', () => {
  it.each([
    ['b', 'a'],
    ['a', 'b', 'c'],
    ['a', 'd', 'b', 'c'],
  ])('claims without a read when it is notified: %s %s %s %s', async (...nodes) => {
    const next = nodes.includes('c') ? 'c' : 'a';
    const assumed: string[] = [];
    const wrap = (node: string) => (store: Store) =>
      actingFirst(store, isAssumed, async () => void assumed.push(node));
    await using fixture = await led(
      nodes.filter((node) => node !== undefined),
      next,
      (node) => ({ wrap: wrap(node) }),
    );
    await memberOf(fixture, 'b').stop();
    await fixture.group.ready(next);
    expect(assumed).toEqual([next]);
  });

  it('does not claim if another node has been elected since it was notified', async () => {
    let fixture: Fixture | null = null;
    let tries = 0;
    const wrap = (store: Store) =>
      actingFirst(store, isAssumed, async () => {
        tries += 1;
        await fixture?.group.switchover('a');
        await until(async () => (await fixture?.group.elected())?.node === 'a');
      });
    await using made = await led(['a', 'b', 'c'], 'c', (node) => (node === 'c' ? { wrap } : {}));
    fixture = made;
    await memberOf(made, 'b').stop();
    expect((await made.group.ready('a')).node).toBe('a');
    expect(tries).toBe(1);
    expect(memberOf(made, 'c').recorded.of('takeover')).toEqual([]);
    // An elector that reads a claim here would take the claim of a stuck leader for this node's.
    memberOf(made, 'c').agent.describe(201, {});
    const registered = await until(async () => {
      const { data } = await made.group.store.getData(made.group.paths.node('c'));
      const registration = registrationSchema.parse(JSON.parse(data.toString('utf8')));
      return registration.priority === 201 ? registration : null;
    });
    expect(registered.claimedUnder).toBe(null);
  });

  it('does not claim when it is published again', async () => {
    const tries: string[] = [];
    const wrap = (store: Store) => actingFirst(store, isAssumed, async () => void tries.push('c'));
    await using fixture = await led(['a', 'b', 'c'], 'c', (node) => (node === 'c' ? { wrap } : {}));
    const { group } = fixture;
    await group.configure({ failbackHold: '31s' });
    const { stat } = await group.store.getData(group.paths.config);
    await until(async () => (await published(group))?.prepared?.configVersion === stat.version);
    await memberOf(fixture, 'b').stop();
    await group.ready('c');
    expect(tries).toEqual(['c']);
  });
});
