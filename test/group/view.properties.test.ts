/**
 * The operators' view of a group whose znodes are malformed. It shows everything else, and names the
 * malformed znodes.
 */

import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PetrelError } from '../../src/errors.js';
import { readConfigText } from '../../src/group/config-text.js';
import { explain, explanationSchema } from '../../src/group/explain.js';
import { historySchema, readHistory } from '../../src/group/history.js';
import { listing, listingSchema } from '../../src/group/listing.js';
import { presentText } from '../../src/group/transition.js';
import { readGroup } from '../../src/group/view.js';
import { groupPaths } from '../../src/model/paths.js';
import { systemClock } from '../../src/ports/clock.js';
import type { Store } from '../../src/ports/store.js';
import { type DevelopmentServer, startDevelopmentServer } from '../../src/testing.js';
import { ensureTree } from '../../src/tree/ensure-tree.js';
import { builtInRules } from '../../strategies/index.js';
import { epoch0Ms } from '../core/builders.js';
import { connect } from '../support/agent-group.js';
import { anyJson, anyText, expectClear, holds, jsonText, spoilt } from '../support/properties.js';
import { examples } from '../support/znode-examples.js';

const paths = groupPaths('/group');
let server: DevelopmentServer;
let store: Store;
beforeAll(async () => {
  // Sessions are long, because a starved machine may stall for seconds.
  server = await startDevelopmentServer({ tickTimeMs: 5000 });
  store = connect(server.connectString, 60_000);
  await store.connected();
  await ensureTree(store, paths);
  for (const node of ['a1', 'b1']) {
    await store.create(paths.node(node), Buffer.alloc(0), 'ephemeral');
    await store.create(paths.seatPrefix(node), Buffer.alloc(0), 'ephemeral-sequential');
  }
  await store.create(paths.current, Buffer.alloc(0), 'ephemeral');
  await store.create(paths.scores, Buffer.alloc(0), 'persistent');
  await store.create(paths.score('a1'), Buffer.alloc(0), 'ephemeral');
  for (const record of ['0000000000', '0000000001', '0000000002'])
    await store.create(paths.historyRecord(record), Buffer.alloc(0), 'persistent');
  for (const stray of ['constructor-0000000007', '__proto__', '-0000000001', 'x-2147483648'])
    await store.create(paths.seat(stray), Buffer.alloc(0), 'persistent');
  await store.create(paths.node('__proto__'), Buffer.from('?'), 'persistent');
});
afterAll(async () => {
  await store.close();
  await server.close();
});

/** The content of a znode: valid, almost valid, or malformed. */
function content(example: unknown): fc.Arbitrary<Buffer> {
  const malformed = fc.oneof(anyJson.map(jsonText), anyText).map((text) => Buffer.from(text));
  return fc.oneof(
    fc.constant(Buffer.from(JSON.stringify(example))),
    { weight: 3, arbitrary: spoilt(example).map((value) => Buffer.from(jsonText(value))) },
    malformed,
    fc.uint8Array({ maxLength: 100 }).map((bytes) => Buffer.from(bytes)),
  );
}

const trees = fc.record({
  [paths.config]: fc.oneof(content(examples.config), fc.constant(Buffer.from('{"strategy":"history"}'))),
  [paths.elected]: content(examples.elected),
  [paths.current]: content(examples.claim),
  [paths.history]: content(examples.head),
  [paths.node('a1')]: content(examples.registration),
  [paths.node('b1')]: content({ ...examples.registration, node: 'b1', site: 'constructor' }),
  [paths.score('a1')]: content(examples.scores),
  [paths.historyRecord('0000000000')]: content(examples.transition),
  [paths.historyRecord('0000000001')]: content({ ...examples.transition, outcome: 'READY', term: 8 }),
  [paths.historyRecord('0000000002')]: content(examples.change),
});

describe('a group whose znodes are malformed', () => {
  it('is listed and explained, with its history, and what is malformed is named', async () => {
    await holds(
      fc.asyncProperty(trees, async (tree) => {
        await Promise.all(Object.entries(tree).map(([path, data]) => store.set(path, data, 'any')));
        const view = await readGroup({ store, paths, rules: builtInRules }, { scores: true });
        for (const { path, problem } of view.problems) {
          expect(path.startsWith('/group/')).toBe(true);
          expectClear(problem);
        }
        const listed = listing(view, epoch0Ms);
        expect(listingSchema.parse(JSON.parse(JSON.stringify(listed)))).toEqual(listed);
        expect(listed.nodes.map(({ node }) => node)).toEqual(['__proto__', 'a1', 'b1']);
        expectClear(presentText(view, epoch0Ms), 20_000);
        const history = await readHistory(store, paths, { limit: 10 });
        expect(historySchema.parse(JSON.parse(JSON.stringify(history)))).toEqual(history);
        expect(history.records.length + history.problems.length).toBe(3);
        await readConfigText({ store, paths, rules: builtInRules, clock: systemClock });
        try {
          const explained = explain(view, epoch0Ms);
          expect(explanationSchema.parse(JSON.parse(JSON.stringify(explained)))).toEqual(explained);
        } catch (error) {
          if (!(error instanceof PetrelError)) throw error;
          expectClear(error.message);
        }
      }),
      0.4,
    );
  });
});
