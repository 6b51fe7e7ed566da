import { hostname } from 'node:os';
import { describe, expect, it } from 'vitest';
import { PetrelError } from '../../src/errors.js';
import type { JoinOptions } from '../../src/library/join-options.js';
import { Petrel } from '../../src/library/petrel.js';
import { digestIdentity } from '../../src/zookeeper/digest.js';
import { Group } from '../support/agent-group.js';
import { sharedZooKeeper, startZooKeeper, uniqueRoot } from '../support/ensemble.js';
import { LibraryNode } from '../support/node.js';
import { freePorts } from '../support/ports.js';
import { startStopwatch } from '../support/stopwatch.js';
import { until } from '../support/until.js';

/** Returns the error with which `join` rejects. */
async function refusal(options: JoinOptions): Promise<PetrelError> {
  const joined = Petrel.join(options);
  try {
    await (await joined).close();
  } catch (error) {
    if (error instanceof PetrelError) return error;
    throw error;
  }
  throw new Error('it joined');
}

describe('an option that is wrong', () => {
  const wrong: [string, JoinOptions, string][] = [
    ['a root without a slash', { root: 'cluster' }, 'root: expected an absolute path'],
    ['a root of ZooKeeper’s own', { root: '/zookeeper/quota' }, 'root: /zookeeper'],
    ['a node id with a slash', { nodeId: 'a/b' }, 'nodeId: expected a name of 1 to 128 letters'],
    ['an empty site', { site: '' }, 'site: expected a name of 1 to 128 letters'],
    ['half a priority', { priority: 1.5 }, 'priority: expected a whole number'],
    ['a negative priority', { priority: -1 }, 'priority: expected at least 0'],
    [
      'a timeout without a unit',
      { sessionTimeout: '6' },
      'sessionTimeout: 6 has no unit: write 6s, 6m or 6h',
    ],
    ['a timeout far too short', { sessionTimeout: '1ms' }, 'sessionTimeout: 1ms is too short'],
    ['no servers', { zookeeper: '' }, 'zookeeper: ZooKeeper connection string "": the string is empty'],
    [
      'a port out of range',
      { zookeeper: 'localhost:99999' },
      'zookeeper: ZooKeeper connection string "localhost:99999": the server has the port "99999"',
    ],
    ['credentials without a user', { credentials: ':secret' }, 'credentials: expected USER:PASSWORD'],
    [
      'an ACL that is not for it',
      { credentials: 'petrel:secret', acl: { agents: [digestIdentity('petrel:other').id] } },
      'acl.agents: this agent’s credentials (user and password) are not listed',
    ],
    ['a password in an ACL', { acl: { observers: ['eye:secret'] } }, 'acl.observers.0: expected USER:DIGEST'],
    [
      'a tag as long as a book',
      { tags: { book: 'x'.repeat(1000) } },
      'tags.book: expected a tag value of at most',
    ],
    ['an empty state directory', { stateDir: '' }, 'stateDir: expected a path'],
    [
      'a misspelt one',
      JSON.parse('{"nodeID":"a"}'),
      'unknown `nodeID`; expected one of zookeeper, root, nodeId',
    ],
    ['a number for a site', JSON.parse('{"site":7}'), 'site:'],
    ['nonsense for a certificate', { tls: { cert: 'nonsense' } }, 'TLS options'],
  ];

  it.each(wrong)('is refused, naming what would be right: %s', async (_, options, right) => {
    const error = await refusal({ zookeeper: await sharedZooKeeper(), root: uniqueRoot(), ...options });
    expect(error.code).toBe('INVALID');
    expect(error.message).toContain(right);
  });

  it('is named with all the others that are wrong', async () => {
    const error = await refusal({ root: 'x', site: '-', priority: -7 });
    expect(error.reasons.map((reason) => reason.split(':')[0])).toEqual(['root', 'site', 'priority']);
  });

  it('is refused for work that is no function', async () => {
    await using group = await Group.found(await sharedZooKeeper());
    await using a = await LibraryNode.join(group, 'a');
    const work = JSON.parse('7');
    expect(() => a.petrel.lead(work)).toThrow(/lead\(\) requires a function/);
  });

  it('is refused for a state directory that cannot be one', async () => {
    const error = await refusal({ zookeeper: await sharedZooKeeper(), stateDir: '/dev/null/petrel' });
    expect(error.code).toBe('INVALID');
    expect(error.message).toContain('/dev/null/petrel');
  });
});

describe('a node id that is in use', () => {
  it('P23 is refused at once, naming the other one', async () => {
    await using group = await Group.found(await sharedZooKeeper());
    await using a = await LibraryNode.join(group, 'a');
    const error = await refusal({ zookeeper: group.connectString, root: group.root, nodeId: 'a' });
    expect(error.code).toBe('DUPLICATE_NODE');
    expect(error.message).toContain(`process ${process.pid} on ${hostname()}`);
    expect(error.message).toMatch(/incarnation [0-9a-f-]{36}, .*started 20\d\d-/);
    expect(a.petrel.status.joined).toBe(true);
  });

  it('is free again once the other has left', async () => {
    await using group = await Group.found(await sharedZooKeeper());
    const a = await LibraryNode.join(group, 'a');
    await a[Symbol.asyncDispose]();
    await using again = await LibraryNode.join(group, 'a');
    expect(again.petrel.status.joined).toBe(true);
  });
});

describe('an ensemble that is not there', () => {
  it('P28 is joined within two seconds of its coming, and led', async () => {
    await using server = await startZooKeeper();
    await server.kill9();
    const options = { zookeeper: server.connectString, root: uniqueRoot(), nodeId: 'a' };
    const joining = Petrel.join(options);
    let joined = false;
    void joining.then(() => {
      joined = true;
    });
    await server.restart();
    const sinceBack = startStopwatch();
    await using petrel = await joining;
    expect(sinceBack.ms).toBeLessThan(2000);
    expect(joined).toBe(true);
    petrel.lead(async (_, signal) => {
      await until(() => signal.aborted, { timeoutMs: 60_000 });
    });
    await until(() => petrel.leads);
  });

  it('is waited for until the signal says otherwise', async () => {
    const [port] = await freePorts(1);
    const stop = new AbortController();
    const joining = Petrel.join({ zookeeper: `127.0.0.1:${port}`, signal: stop.signal });
    const reason = new Error('no longer wanted');
    stop.abort(reason);
    await expect(joining).rejects.toBe(reason);
  });

  it('is named when the time that the signal allows is over', async () => {
    const [port] = await freePorts(1);
    const error = await refusal({ zookeeper: `127.0.0.1:${port}`, signal: AbortSignal.timeout(500) });
    expect(error).toMatchObject({
      code: 'UNREACHABLE',
      message: `ZooKeeper is unreachable at 127.0.0.1:${port} (option zookeeper): connection refused`,
      cause: { name: 'TimeoutError' },
    });
  });
});

describe('the signal given to join', () => {
  it('keeps a process from joining when it has fired already', async () => {
    const reason = new Error('too late');
    await expect(Petrel.join({ signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  });

  it('makes it leave when it fires later', async () => {
    await using group = await Group.found(await sharedZooKeeper());
    const stop = new AbortController();
    await using a = await LibraryNode.join(group, 'a', { signal: stop.signal });
    a.lead();
    await a.leads();
    stop.abort();
    await until(async () => (await group.store.exists(group.paths.node('a'))) === null);
    expect(a.petrel.leads).toBe(false);
    expect(await group.current()).toBeNull();
  });
});

it('a node without work is never elected, whatever it says of its health', async () => {
  await using group = await Group.found(await sharedZooKeeper());
  await using a = await LibraryNode.join(group, 'a');
  a.petrel.setHealth(true);
  await using b = await LibraryNode.join(group, 'b');
  b.lead();
  await b.leads();
  expect((await group.elected()).term).toBe(1);
});

it('a node that was unhealthy before it got work stays so until it says otherwise', async () => {
  await using group = await Group.found(await sharedZooKeeper());
  await using a = await LibraryNode.join(group, 'a');
  a.petrel.setHealth(false, 'warming up');
  a.lead();
  await until(async () => {
    const { data } = await group.store.getData(group.paths.node('a'));
    return data.toString('utf8').includes('warming up');
  });
  a.petrel.setHealth(true);
  await a.leads();
});

it('a node that is forced to lead without work waits for it, and fails when none comes', async () => {
  const timeouts = { prepare: '500ms' };
  await using group = await Group.found(await sharedZooKeeper(), { timeouts });
  await using a = await LibraryNode.join(group, 'a');
  await group.switchover('a', true);
  await until(async () => {
    const { data } = await group.store.getData(group.paths.node('a'));
    return data.toString('utf8').includes('this process has no work');
  });
  expect(await group.current()).toBeNull();
  expect(a.petrel.leads).toBe(false);
});

it('a node that is elected before it has work leads as soon as it gets some', async () => {
  await using group = await Group.found(await sharedZooKeeper());
  await using a = await LibraryNode.join(group, 'a');
  await group.switchover('a', true);
  await until(async () => (await group.elected()).node === 'a');
  expect(await group.current()).toBeNull();
  a.lead();
  await a.leads();
  expect((await group.elected()).failures).toEqual([]);
});
