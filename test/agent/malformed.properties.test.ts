/**
 * A running group whose znodes are filled with garbage. No agent ends, one node leads, and the elector
 * reports which znodes contain garbage.
 */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { GroupPaths } from '../../src/model/paths.js';
import { lastTerm } from '../../src/model/znodes.js';
import { isStoreError } from '../../src/ports/store.js';
import { type DevelopmentServer, startDevelopmentServer } from '../../src/testing.js';
import { Group } from '../support/agent-group.js';
import { anyJson, anyText, holds, jsonText, nested, spoilt } from '../support/properties.js';
import { overlaps } from '../support/recording-workload.js';
import { until } from '../support/until.js';
import { examples } from '../support/znode-examples.js';

let server: DevelopmentServer;
let group: Group;
beforeAll(async () => {
  server = await startDevelopmentServer({ tickTimeMs: 500 });
  group = await Group.found(server.connectString, { backoff: { base: '1s', max: '1s' } });
  await group.startInOrder(['a', 'b', 'c']);
  await group.ready('a');
});
afterAll(async () => {
  await group[Symbol.asyncDispose]();
  await server.close();
});

const places: Readonly<Record<string, (paths: GroupPaths) => string>> = {
  config: ({ config }) => config,
  elected: ({ elected }) => elected,
  current: ({ current }) => current,
  'the registration of one': (paths) => paths.node('a'),
  'the registration of another': (paths) => paths.node('b'),
  'the registration of nobody': (paths) => paths.node('nobody'),
  history: ({ history }) => history,
  nodes: ({ nodes }) => nodes,
  election: ({ election }) => election,
  clock: ({ clock }) => clock,
};

/** Writes to the znode if it exists: a claim, for example, may be gone. Retries on a starved machine. */
async function put(path: string, data: Buffer): Promise<void> {
  await until(
    async () => {
      try {
        await group.store.set(path, data, 'any');
      } catch (error) {
        if (isStoreError(error) && error.outcomeUnknown) return false;
        if (!isStoreError(error, 'NO_NODE')) throw error;
      }
      return true;
    },
    { timeoutMs: 20_000, describe: `a write to ${path}` },
  );
}

function expectNobodyEnded(): void {
  expect(group.members.filter(({ ended }) => ended !== null).map(({ node, ended }) => [node, ended])).toEqual(
    [],
  );
}

async function oneLeader(): Promise<void> {
  await put(group.paths.config, Buffer.from('{}'));
  await until(
    async () => {
      expectNobodyEnded();
      const current = await group.current().catch(() => null);
      const leaders = group.members.filter(({ status }) => status.leads).map(({ node }) => node);
      return current?.status === 'READY' && leaders.join() === current.node;
    },
    { timeoutMs: 30_000, describe: 'one leader' },
  );
}

const deep = Buffer.from(jsonText(nested(100_000)));

describe('malformed content in a living group', () => {
  it.each([
    ['config', "the group's configuration cannot be used"],
    ['elected', '/leader/elected is malformed: '],
    ['the registration of another', '/nodes/b is malformed: '],
    ['the registration of nobody', '/nodes/nobody is malformed: '],
    ['history', '/history is malformed: '],
  ])('in %s is reported by the elector, and does no harm', async (place, message) => {
    const path = places[place]?.(group.paths) ?? '';
    const isNobody = path === group.paths.node('nobody');
    if (isNobody) await group.store.create(path, deep, 'persistent');
    await until(
      async () => {
        await put(path, deep);
        return group.members.some(({ log }) => log.some((line) => line.includes(message)));
      },
      { timeoutMs: 20_000, describe: message },
    );
    await oneLeader();
  });

  it('of a term that is the last of all does no harm', async () => {
    await put(group.paths.history, Buffer.from(JSON.stringify({ term: lastTerm, fencingToken: null })));
    await group.members[0]?.expire(group.connectString);
    await until(async () => (await group.elected().catch(() => null))?.term === lastTerm, {
      timeoutMs: 20_000,
    });
    await oneLeader();
  });

  it('of any kind, anywhere, in any order: no agent ends, and one node leads', async () => {
    const overlapping = () =>
      overlaps(Object.fromEntries(group.members.map(({ node, recorded }) => [node, recorded])));
    // The cases above killed sessions by hand, one of which may have been the leader's. So leaderships may
    // overlap already.
    const before = overlapping();
    const texts = fc.oneof(
      ...Object.values(examples).map((example) => spoilt(example).map(jsonText)),
      anyJson.map(jsonText),
      anyText,
    );
    const writes = fc.noShrink(
      fc.array(fc.tuple(fc.constantFrom(...Object.keys(places)), texts), {
        minLength: 5,
        maxLength: 20,
      }),
    );
    await holds(
      fc.asyncProperty(writes, async (sequence) => {
        for (const [place, text] of sequence) {
          const path = places[place]?.(group.paths);
          if (path !== undefined) await put(path, Buffer.from(text));
        }
        await oneLeader();
      }),
      0.08,
    );
    expect(overlapping()).toEqual(before);
  });
});
