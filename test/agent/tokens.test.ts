/**
 * Behaviour of a node whose ensemble issues smaller fencing tokens than the node has seen, for example after
 * a backup was restored.
 */
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { TokenFile } from '../../src/agent/leadership/token-file.js';
import type { TokenStore } from '../../src/agent/leadership/token-memory.js';
import { Group } from '../support/agent-group.js';
import { sharedZooKeeper } from '../support/ensemble.js';
import { until } from '../support/until.js';

let directory = '';
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'petrel-tokens-'));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** Greater than any fencing token that the ensemble issues in these tests. */
const far = 2n ** 62n;
const quickly = { backoff: { base: '100ms', max: '200ms' } };

function seeing(token: bigint): TokenStore {
  return { earlier: { epoch: 0, bySlot: new Map([[1, token]]) }, write: async () => {} };
}

it('V4 no node leads at a token below one that it has seen, until a person raises tokenEpoch', async () => {
  await using group = await Group.found(await sharedZooKeeper(), quickly);
  const a = group.start('a', { tokenStore: seeing(far) });
  const failed = await until(async () => {
    const records = await group.history();
    return records.find((record) => record.kind === 'transition' && record.outcome === 'FAILED') ?? null;
  });
  expect(failed).toMatchObject({
    node: 'a',
    error: { phase: 'claim', reason: expect.stringContaining(`is not greater than ${far}`) },
  });
  const { failures } = await group.elected();
  expect(failures).toMatchObject([{ node: 'a', reason: expect.stringContaining('tokenEpoch 1') }]);
  expect(a.log.filter((message) => message.startsWith('not taking over: fencing token'))).not.toEqual([]);
  expect(a.recorded.runs).toEqual([]);
  await group.configure({ tokenEpoch: 1 });
  await group.ready('a');
});

it('V4 a node that has seen greater tokens says so of another that leads', async () => {
  await using group = await Group.found(await sharedZooKeeper());
  await group.startInOrder(['a']);
  await group.ready('a');
  const b = group.start('b', { tokenStore: seeing(far) });
  await until(() =>
    b.log.some((message) => message.startsWith('the current claim is unsafe: fencing token')),
  );
});

it('V4 what is seen of any leader is remembered for the next life, and an older configuration is noticed', async () => {
  await using group = await Group.found(await sharedZooKeeper(), { ...quickly, tokenEpoch: 2 });
  const open = (node: string) => TokenFile.open(directory, group.root, node);
  await group.startInOrder(['a']);
  const { stat } = await group.ready('a');
  const b = group.start('b', { tokenStore: open('b') });
  const seen = { epoch: 2, bySlot: new Map([[1, stat.czxid]]) };
  await until(() => open('b').earlier !== null);
  expect(open('b').earlier).toEqual(seen);
  await b.stop();
  await group.members[0]?.abandon();
  await group.configure({ tokenEpoch: 1 });
  const again = group.start('b', { tokenStore: open('b') });
  await until(() => again.log.some((message) => message.includes('but it was 2 before')));
  expect(again.recorded.runs).toEqual([]);
  expect(open('b').earlier).toEqual(seen);
});

it('V4 a file of tokens that cannot be understood is not taken for an empty one', async () => {
  const root = '/unreadable';
  await TokenFile.open(directory, root, 'a').write({ epoch: 0, bySlot: new Map([[1, 48n]]) });
  expect(readdirSync(join(directory, 'unreadable'))).toEqual(['a.tokens.json']);
  const path = join(directory, 'unreadable', 'a.tokens.json');
  for (const text of [
    '',
    '{',
    '{"tokenEpoch":0,"greatest":{"1":"x"}}',
    '{"tokenEpoch":0,"greatest":{"y":"1"}}',
  ]) {
    writeFileSync(path, text);
    expect(() => TokenFile.open(directory, root, 'a')).toThrow(
      expect.objectContaining({ code: 'FAILED', message: expect.stringContaining(path) }),
    );
  }
});
