import { describe, expect, it } from 'vitest';
import { readTerm } from '../../src/group/term.js';
import { readGroup } from '../../src/group/view.js';
import { noCommand } from '../../src/model/znodes.js';
import { newGroup, type TestGroup, transition } from '../support/group.js';

const at = (seconds: number) => new Date(Date.UTC(2026, 0, 1) + seconds * 1000).toISOString();

async function logContext(group: TestGroup, term: number, slot?: number) {
  return await readTerm(group.store, group.paths, await readGroup(group.access), { term, slot });
}

/** Returns a group that a1 has led. After that b1 failed, and c1 became READY. */
async function eventful(): Promise<TestGroup> {
  const group = await newGroup();
  const change = { kind: 'change', by: 'eve', reason: null } as const;
  await group.record({ ...change, what: 'long before', at: at(-10) });
  await group.record(transition({ term: 1, electedAt: at(0), claimedAt: at(1), readyAt: at(2) }));
  await group.record({ ...change, what: 'switchover requested', at: at(9) });
  const error = { ...noCommand, phase: 'takeover', reason: 'exit code 3', durationMs: 40 };
  const release = { node: 'a1', result: 'ok', error: null, durationMs: 2000, endedAt: at(13) };
  const failed = { outcome: 'FAILED', error, readyAt: null, cause: 'planned', release } as const;
  await group.record(transition({ term: 2, node: 'b1', electedAt: at(10), claimedAt: at(13), ...failed }));
  const ready = { claimedAt: at(21), readyAt: at(25), cause: 'failure' } as const;
  await group.record(transition({ term: 3, node: 'c1', by: 'b1', electedAt: at(20), ...ready }));
  return group;
}

describe('the story of a term', () => {
  it('begins with what was changed, and with who failed before', async () => {
    await using group = await eventful();
    const { steps, failed, hooks, lengths, ...report } = await logContext(group, 3);
    expect(report).toMatchObject({ root: group.root, term: 3, outcome: 'READY', node: 'c1', by: 'b1' });
    expect(steps.map((one) => [one.at, one.node, one.step])).toEqual([
      [at(9), null, 'changed'],
      [at(10), 'a1', 'decided'],
      [at(11), 'a1', 'release-began'],
      [at(13), 'a1', 'release-ended'],
      [at(13), 'b1', 'takeover-began'],
      [null, 'b1', 'failed'],
      [at(20), 'b1', 'decided'],
      [at(21), 'c1', 'takeover-began'],
      [at(22), 'c1', 'takeover-ended'],
      [at(25), 'c1', 'ready'],
    ]);
    expect(failed).toMatchObject([{ term: 2, node: 'b1' }]);
    expect(hooks).toEqual([{ node: 'c1', phase: 'takeover', result: 'ok', error: null, durationMs: 1000 }]);
    expect(lengths).toMatchObject({ totalMs: 5000, leaderlessMs: 14_000 });
  });

  it('ends with why it failed', async () => {
    await using group = await eventful();
    const { steps, hooks, outcome, failed } = await logContext(group, 2);
    expect(outcome).toBe('FAILED');
    expect(failed).toEqual([]);
    expect(steps.at(-1)?.text).toBe('term 2: b1 fails: takeover: exit code 3');
    expect(hooks).toMatchObject([
      { node: 'a1', phase: 'release', result: 'ok', durationMs: 2000 },
      { node: 'b1', phase: 'takeover', result: 'failed', error: 'exit code 3' },
    ]);
  });

  it('is shown while it is under way, from the decision and the claim', async () => {
    await using group = await eventful();
    await group.node('d1');
    await group.elect({ node: 'd1', site: 'd', term: 4, reason: 'better', cause: 'preference', by: 'c1' });
    expect(await logContext(group, 4)).toMatchObject({ outcome: 'UNDER_WAY', claimedAt: null, by: 'c1' });
    await group.claim('d1', { status: 'PROGRESS', term: 4 });
    const { steps, outcome, lengths } = await logContext(group, 4);
    expect(outcome).toBe('UNDER_WAY');
    expect(steps.map(({ step }) => step)).toEqual(['decided', 'takeover-began']);
    expect(lengths).toMatchObject({ takeoverMs: null, totalMs: null, leaderlessMs: null });
    await group.claim('d1', { term: 4 });
    expect((await logContext(group, 4)).outcome).toBe('READY');
  });

  it('has both leaderships of a leader that lost its lease and came back, and why the first ended', async () => {
    await using group = await eventful();
    const again = { token: '7', reason: 'the lease was not renewed', endedAt: at(300) };
    const release = { node: 'c1', result: 'ok', error: null, durationMs: 1000, endedAt: at(301) };
    const back = { claimedAt: at(302), readyAt: at(303), cause: 'retry', fencingToken: '9' } as const;
    await group.record(
      transition({ term: 3, node: 'c1', electedAt: at(20), ...back, resumes: again, release }),
    );
    const { steps, hooks, lengths, failed } = await logContext(group, 3);
    expect(steps.slice(-8).map((one) => [one.at, one.step])).toEqual([
      [at(22), 'takeover-ended'],
      [at(25), 'ready'],
      [at(300), 'stopped'],
      [at(300), 'release-began'],
      [at(301), 'release-ended'],
      [at(302), 'takeover-began'],
      [at(303), 'takeover-ended'],
      [at(303), 'ready'],
    ]);
    expect(steps.find(({ step }) => step === 'stopped')?.text).toBe(
      'c1 stops leading: the lease was not renewed',
    );
    expect(hooks.map(({ phase }) => phase)).toEqual(['takeover', 'release', 'takeover']);
    expect(lengths).toMatchObject({ totalMs: 3000, leaderlessMs: 3000 });
    expect(failed).toMatchObject([{ term: 2 }]);
  });

  it('is refused where there is none', async () => {
    await using group = await eventful();
    await group.elect({ node: 'c1', site: 'c', term: 3 });
    await expect(logContext(group, 9)).rejects.toThrow('term 9 does not exist yet: the newest term is 3');
    await using other = await newGroup();
    await other.record(transition({ term: 5 }));
    await expect(logContext(other, 2)).rejects.toThrow(
      'term 2 is not in the history any more: the oldest term is 5',
    );
  });

  it('is that of one slot where the group has several leaders, also of one that it has no more', async () => {
    await using group = await newGroup();
    for (const id of ['a1', 'b1']) await group.node(id);
    const [first, second] = [{ slot: 1 }, { slot: 2, node: 'b1', site: 'b' }];
    await group.record(transition({ ...first, term: 1, electedAt: at(0), readyAt: at(2) }));
    await group.record(transition({ ...second, term: 1, electedAt: at(0), readyAt: at(3) }));
    const failed = { claimedAt: null, readyAt: null, outcome: 'FAILED', cause: 'failure' } as const;
    await group.record(transition({ ...first, term: 2, electedAt: at(10), ...failed }));
    const ready = { electedAt: at(20), claimedAt: at(21), readyAt: at(24), cause: 'failure' } as const;
    await group.record(transition({ ...second, term: 2, ...ready }));
    await group.elect({ node: null, term: 3, slots: 2 });
    await group.elect({ node: 'b1', site: 'b', term: 3, cause: 'failure' }, 2);
    await group.claim('b1', { term: 3, status: 'PROGRESS' }, 2);

    expect(await logContext(group, 2, 2)).toMatchObject({
      slot: 2,
      node: 'b1',
      outcome: 'READY',
      failed: [],
    });
    expect((await logContext(group, 2, 2)).lengths.leaderlessMs).toBe(4000);
    expect(await logContext(group, 2)).toMatchObject({ slot: 1, node: 'a1', outcome: 'FAILED' });
    expect(await logContext(group, 3, 2)).toMatchObject({ slot: 2, node: 'b1', outcome: 'UNDER_WAY' });
    expect(await logContext(group, 3)).toMatchObject({ slot: 1, node: null, outcome: 'NOBODY' });
    await expect(logContext(group, 9, 2)).rejects.toThrow(
      'term 9 of slot 2 does not exist yet: the newest term is 3',
    );
    await expect(logContext(group, 1, 3)).rejects.toThrow(
      'slot 3 does not exist: the group has slots 1 to 2',
    );

    await group.elect({ node: 'a1', site: 'a', term: 4 });
    expect(await logContext(group, 2, 2)).toMatchObject({ slot: 2, node: 'b1', outcome: 'READY' });
    await expect(logContext(group, 3, 2)).rejects.toThrow(
      'term 3 of slot 2 does not exist yet: the newest term is 2',
    );
    await expect(logContext(group, 1, 3)).rejects.toThrow('slot 3 does not exist: the group has only slot 1');
  });
});
