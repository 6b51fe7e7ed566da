import { describe, expect, it } from 'vitest';
import { type Author, changeGroup, planChange } from '../../src/group/change.js';
import { cancelSwitchover, failover, switchover, type Target } from '../../src/group/handover.js';
import { newGroup, type TestGroup } from '../support/group.js';

const eve: Author = { by: 'eve', reason: 'tests' };
const byHand = { by: 'bob', reason: 'his', at: '2026-01-01T00:00:00.000Z' };

/** Returns a group that a1 leads in term 3. The nodes a2 and b1 are eligible, but b2 is not. */
async function ledGroup(): Promise<TestGroup> {
  const group = await newGroup();
  await group.node('a1');
  await group.node('a2');
  await group.node('b1');
  await group.node('b2', { health: { ok: false, reason: 'disk full' } });
  await group.lead('a1', 3);
  return group;
}

function ask(to: Target) {
  return switchover({ to, notBeforeMs: null });
}

describe('a switchover', () => {
  it.each<[Target, string]>([
    [{ node: 'b1' }, 'b1'],
    [{ site: 'b' }, 'b1'],
    ['best-other', 'a2'],
  ])('to %j names the term it replaces, and is what the elector takes', async (to, node) => {
    await using group = await ledGroup();
    const plan = await planChange(group.access, eve, ask(to));
    expect(plan.config?.switchover).toMatchObject({
      to,
      replacesTerm: 3,
      force: false,
      notBefore: null,
      by: 'eve',
    });
    expect(plan.follows).toMatchObject({ node, changes: true, cause: 'planned' });
  });

  it.each<[Target, string, string]>([
    [{ node: 'b2' }, 'b2 cannot take over from a1', 'b2: it is unhealthy: disk full'],
    [{ node: 'c1' }, 'c1 cannot take over from a1', 'c1 is not registered'],
    [{ site: 'c' }, 'site c cannot take over from a1', 'no node of site c is registered'],
    [{ node: 'a1' }, 'a1 is already the leader', 'it is the best'],
    [{ site: 'a' }, 'a1 is already the leader', 'it is the best'],
  ])('to %j is refused: %s', async (to, message, reason) => {
    await using group = await ledGroup();
    await expect(changeGroup(group.access, eve, ask(to))).rejects.toMatchObject({
      code: 'REFUSED',
      message,
      reasons: expect.arrayContaining([reason]),
    });
  });

  it('that is refused says of every node why it does not do', async () => {
    await using group = await ledGroup();
    await group.configure({ drained: { a2: byHand }, sites: { b: { drained: byHand } } });
    await expect(changeGroup(group.access, eve, ask('best-other'))).rejects.toMatchObject({
      message: 'the best other node cannot take over from a1',
      reasons: [
        'a1: is the leader',
        'a2: it was drained by bob: his',
        'b1: site b was drained by bob: his',
        'b2: it is unhealthy: disk full, site b was drained by bob: his',
      ],
    });
  });

  it('is refused where nobody leads', async () => {
    await using group = await newGroup();
    await group.node('a1');
    await expect(changeGroup(group.access, eve, ask({ node: 'a1' }))).rejects.toMatchObject({
      code: 'REFUSED',
      message: 'the group has no leader that could hand over',
    });
  });

  it('can wait for its time, for which its target must be fit', async () => {
    await using group = await ledGroup();
    const inMs = (lengthMs: number) => (nowMs: number) => nowMs + lengthMs;
    const soon = new Date(Date.now() + 600_000).toISOString();
    const failure = {
      node: 'b1',
      incarnation: 'b1',
      count: 1,
      reason: 'exit 1',
      failedAt: byHand.at,
      until: soon,
    };
    await group.elect({ node: 'a1', site: 'a', term: 3, failures: [{ ...failure, restarted: false }] });
    const to = { node: 'b1' };
    const tooEarly = switchover({ to, notBeforeMs: inMs(60_000) });
    await expect(planChange(group.access, eve, tooEarly)).rejects.toMatchObject({ code: 'REFUSED' });
    const plan = await planChange(group.access, eve, switchover({ to, notBeforeMs: inMs(700_000) }));
    expect(plan.config?.switchover?.notBefore).toBe(new Date(plan.nowMs + 700_000).toISOString());
    expect(plan.follows).toMatchObject({ node: 'a1', changes: false });
    const past = switchover({ to, notBeforeMs: inMs(-1) });
    await expect(planChange(group.access, eve, past)).rejects.toMatchObject({ code: 'INVALID' });
  });

  it('P32 of two at once is only one', async () => {
    await using group = await ledGroup();
    const results = await Promise.allSettled([
      changeGroup(group.access, { by: 'eve', reason: null }, ask({ node: 'b1' })),
      changeGroup(group.access, { by: 'bob', reason: null }, ask({ node: 'a2' })),
    ]);
    const refused = results.filter((result) => result.status === 'rejected');
    expect(refused).toHaveLength(1);
    expect(refused[0]?.reason).toMatchObject({
      code: 'CONFLICT',
      message: expect.stringMatching(/^transition 4, requested by (eve|bob), is pending$/),
    });
  });

  it('P32 is refused while a transition is under way, and can be taken back before', async () => {
    await using group = await ledGroup();
    await group.elect({ node: 'b1', site: 'b', term: 4, by: 'a2' });
    await expect(changeGroup(group.access, eve, ask({ node: 'a2' }))).rejects.toMatchObject({
      message: 'transition 4, decided by a2, is in progress',
      reasons: [expect.stringMatching(/^a1 is releasing leadership \(\d+ s of 30 s\); b1 is waiting/)],
    });
    await group.lead('a1', 5);
    expect((await changeGroup(group.access, eve, cancelSwitchover)).what).toBe(
      'no switchover is pending; a missed switchover is listed in petrel history',
    );
    await changeGroup(group.access, eve, ask({ node: 'b1' }));
    const cancelled = await changeGroup(group.access, eve, cancelSwitchover);
    expect(cancelled.what).toMatch(/^switchover to b1, requested by eve at .*, cancelled$/);
    expect(cancelled.config?.switchover).toBeNull();
  });
});

it('A7 a request whose term has ended is not waiting any more: taking it back says that it was missed', async () => {
  await using group = await ledGroup();
  await changeGroup(group.access, eve, ask({ node: 'b1' }));
  await group.elect({ node: 'a2', site: 'a', term: 4, missedRequest: true });
  const cancelled = await planChange(group.access, eve, cancelSwitchover);
  expect(cancelled.what).toMatch(
    /^no switchover is pending: switchover to b1, requested by eve at .*, was missed$/,
  );
  expect(cancelled.config).toBeNull();
});

describe('a failover', () => {
  it('A7 that takes the place of a scheduled switchover says so', async () => {
    await using group = await ledGroup();
    const later = switchover({ to: { node: 'b1' }, notBeforeMs: (nowMs) => nowMs + 3_600_000 });
    await changeGroup(group.access, eve, later);
    const plan = await planChange(group.access, eve, failover({ to: 'a2', evenUnderWay: true }));
    expect(plan.what).toMatch(
      /^failover requested: a1 → a2; this replaces the pending switchover to b1 not before .*, requested by eve at .*/,
    );
  });

  it('takes a node that is not eligible', async () => {
    await using group = await ledGroup();
    const plan = await planChange(group.access, eve, failover({ to: 'b2' }));
    expect(plan.config?.switchover).toMatchObject({ to: { node: 'b2' }, replacesTerm: 3, force: true });
    expect(plan.follows).toMatchObject({ node: 'b2', changes: true });
  });

  it('takes over from nobody, too', async () => {
    await using group = await newGroup();
    await group.node('b1', { health: { ok: false, reason: 'disk full' } });
    const { what } = await planChange(group.access, eve, failover({ to: 'b1' }));
    expect(what).toBe('failover requested: none → b1');
  });

  it('is refused for one that cannot lead at all, and for the leader', async () => {
    await using group = await ledGroup();
    await group.node('b3', { draining: true });
    const reasons = async (to: string) => {
      return changeGroup(group.access, eve, failover({ to })).then(
        () => null,
        (error: { code: string; reasons: string[] }) => [error.code, ...error.reasons],
      );
    };
    expect(await reasons('c1')).toEqual(['REFUSED', 'c1: not registered; registered: a1, a2, b1, b2, b3']);
    expect(await reasons('b3')).toEqual(['REFUSED', 'b3: shutting down']);
    expect(await reasons('a1')).toEqual(['REFUSED', 'it is the best']);
  });

  it('goes before a transition under way only when that is meant', async () => {
    await using group = await ledGroup();
    await group.elect({ node: 'b1', site: 'b', term: 4 });
    await expect(changeGroup(group.access, eve, failover({ to: 'a2' }))).rejects.toMatchObject({
      message: 'transition 4, decided by a1, is in progress',
    });
    const { config } = await changeGroup(group.access, eve, failover({ to: 'a2', evenUnderWay: true }));
    expect(config?.switchover).toMatchObject({ to: { node: 'a2' }, replacesTerm: 4 });
  });
});
