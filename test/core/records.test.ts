import { describe, expect, it } from 'vitest';
import { previousLeader } from '../../src/core/effective-decision.js';
import { ended, phasesInTurn, reachedReady, recordSoFar, recordText } from '../../src/core/records.js';
import type { Registration } from '../../src/model/registration.js';
import type { Claim, GroupSnapshot, Member } from '../../src/model/snapshot.js';
import { type Elected, noCommand } from '../../src/model/znodes.js';
import {
  type ClaimChange,
  claim,
  decided,
  epoch0Ms,
  failure,
  group,
  instant,
  member,
  members,
  takeoverDetail,
  unreadable,
  versioned,
} from './builders.js';

const head = (term: number, fencingToken: string | null) => versioned({ term, fencingToken });
const release = { token: '101', term: 2, result: 'ok', durationMs: 700, error: null };

/** Decision that b1 replaces a1 in term 2. It was made one second after the start. */
const toB1 = decided({
  ...{ node: 'b1', term: 2, strategy: 'site-priority', reason: 'a1 is drained', cause: 'planned', by: 'c1' },
  previous: { node: 'a1', site: 'a' },
});

/** Returns what the elector has read: the decision, the claim, the head of the history, and the members. */
function read(elected: Elected, change: Partial<GroupSnapshot>, ...nodes: (string | Member)[]) {
  const snapshot = group({
    elected: versioned(elected, 5, epoch0Ms + 1_000),
    history: head(1, '101'),
    ...change,
  });
  return { snapshot, members: members(...nodes) };
}

function claimedAt(ms: number, node: string, change: ClaimChange = {}): Claim {
  return { ...claim(node, change), createdAtMs: epoch0Ms + ms, modifiedAtMs: epoch0Ms + ms + 250 };
}

/** Returns a member whose registration was last written at `ms`. */
function writtenAt(ms: number, node: string, change: Partial<Registration>): Member {
  return { ...member(node, change), modifiedAtMs: epoch0Ms + ms };
}

function malformed(node: string): Member {
  return { ...member(node), ...unreadable() };
}

/** Returns the claim without its content, which is unreadable. */
function unreadableClaim(one: Claim): Claim {
  const { token, owner, createdAtMs } = one;
  return { ...unreadable(), token, owner, createdAtMs };
}

describe('the previous leader', () => {
  const elected = versioned(decided({ node: 'b1', term: 3, previous: { node: 'c1', site: 'c' } }));

  it('is the owner of a READY claim, although the owner is no longer registered', () => {
    const seen = { current: claim('a1'), elected, history: head(3, null) };
    expect(previousLeader(seen, members('b1'))).toEqual({ node: 'a1', site: 'a' });
  });

  it('is otherwise the elected node if its term reached READY, and the leader before it if not', () => {
    const seen = { current: claim('b1', { status: 'PROGRESS' }), elected };
    expect(previousLeader({ ...seen, history: head(3, '7') }, [])).toEqual({ node: 'b1', site: 'b' });
    expect(previousLeader({ ...seen, history: head(2, '7') }, [])).toEqual({ node: 'c1', site: 'c' });
  });

  it('is the leader before it if the decision does not name both a node and its site', () => {
    for (const change of [{ node: null, site: 'b' }, { site: null }]) {
      const incomplete = versioned(decided({ ...elected.value, ...change }));
      const seen = { current: null, elected: incomplete, history: head(3, '7') };
      expect(previousLeader(seen, [])).toEqual({ node: 'c1', site: 'c' });
    }
  });
});

describe('a transition before the claim', () => {
  it('contains the decision, the release so far, and no instant that is still ahead', () => {
    const input = read(toB1, {}, 'c1', 'b1', writtenAt(1_700, 'a1', { lastRelease: release }));
    expect(recordSoFar(input, toB1)).toEqual({
      kind: 'transition',
      term: 2,
      fencingToken: null,
      node: 'b1',
      site: 'b',
      previous: { node: 'a1', site: 'a' },
      strategy: 'site-priority',
      reason: 'a1 is drained',
      cause: 'planned',
      electedAt: instant(1_000),
      claimedAt: null,
      readyAt: null,
      by: 'c1',
      resumes: null,
      release: { node: 'a1', result: 'ok', error: null, durationMs: 700, endedAt: instant(1_700) },
      phases: { releaseMs: 700, claimMs: null, takeoverMs: null },
    });
  });
});

describe('a transition after the claim', () => {
  it('ignores the claim of another node', () => {
    const input = read(toB1, { current: claim('a1') }, 'a1', 'b1');
    expect(recordSoFar(input, toB1)).toMatchObject({ fencingToken: null, claimedAt: null, readyAt: null });
  });

  it('knows the claim by its session if the content is unreadable', () => {
    const current = unreadableClaim(claimedAt(3_000, 'b1', { token: 102n }));
    expect(recordSoFar(read(toB1, { current }, 'b1'), toB1)).toMatchObject({
      fencingToken: '102',
      claimedAt: instant(3_000),
      readyAt: null,
      resumes: null,
      phases: { claimMs: 2_000, takeoverMs: null },
    });
  });

  it('takes the duration of the takeover from the claim if the registration does not contain it', () => {
    const current = claimedAt(3_000, 'b1', { token: 102n });
    const other = member('a1', { lastTakeover: { token: '102', durationMs: 5 } });
    const earlier = member('b1', { lastTakeover: { token: '99', durationMs: 5 } });
    for (const nodes of [[malformed('b1')], ['b1'], [earlier], [other], [other, 'b1']]) {
      const { readyAt, phases } = recordSoFar(read(toB1, { current }, ...nodes), toB1);
      expect([readyAt, phases.takeoverMs]).toEqual([instant(3_250), 250]);
    }
  });

  it('is not a resumption if no earlier token is known', () => {
    const current = claimedAt(3_000, 'b1', { token: 102n });
    for (const history of [null, unreadable(), head(2, null), head(2, '102'), head(1, '101')]) {
      expect(recordSoFar(read(toB1, { current, history }, 'b1'), toB1).resumes).toBeNull();
    }
  });
});

describe('the release by the previous leader', () => {
  const releaseIn = (change: Partial<GroupSnapshot>, ...nodes: (string | Member)[]) =>
    recordSoFar(read(toB1, change, ...nodes), toB1).release;

  it('ended when its node last wrote its registration, but before the next claim', () => {
    const a1 = writtenAt(1_700, 'a1', { lastRelease: release });
    for (const [claimedMs, endedMs] of [
      [3_000, 1_700],
      [1_600, 1_600],
    ] as const) {
      const current = claimedAt(claimedMs, 'b1', { token: 102n });
      expect(releaseIn({ current }, a1, 'b1')?.endedAt).toBe(instant(endedMs));
    }
  });

  it('has no known end if it was due to an earlier decision', () => {
    const a1 = writtenAt(1_700, 'a1', { lastRelease: { ...release, term: 1 } });
    expect(releaseIn({}, a1, 'b1')).toMatchObject({ node: 'a1', durationMs: 700, endedAt: null });
  });

  it('is unknown if that node does not report it', () => {
    const earlier = member('a1', { lastRelease: { ...release, token: '99' } });
    const other = member('c1', { lastRelease: release });
    for (const nodes of [['b1'], ['a1'], [malformed('a1')], [earlier], [other], [other, 'a1']])
      expect(releaseIn({}, ...nodes)).toBeNull();
  });

  it('is unknown if the history does not contain the token of that leadership', () => {
    for (const history of [null, unreadable(), head(1, null), head(1, '99')]) {
      expect(releaseIn({ history }, member('a1', { lastRelease: release }))).toBeNull();
      expect(releaseIn({ history }, 'a1')).toBeNull();
    }
  });
});

describe('a node that leads again under the same decision', () => {
  const again = decided({ node: 'a1', term: 1, reason: 'it is the best' });
  const loss = {
    ...{ token: '101', reason: 'the lease was not renewed', agoMs: 2_000 },
    ...{ lostLease: true, earlierAgoMs: [] },
  };
  const current = claimedAt(10_000, 'a1', { token: 102n, resumes: loss });
  const recordOf = (change: Partial<GroupSnapshot>, ...nodes: (string | Member)[]) =>
    recordSoFar(read(again, { current, ...change }, ...nodes), again);

  it('released when it had stopped, and before it claimed again', () => {
    for (const [durationMs, endedMs] of [
      [300, 8_300],
      [5_000, 10_000],
    ] as const) {
      const a1 = member('a1', { lastRelease: { ...release, durationMs } });
      const own = { node: 'a1', result: 'ok', error: null, durationMs, endedAt: instant(endedMs) };
      expect(recordOf({}, 'b1', a1).release).toEqual(own);
    }
  });

  it('has an unknown release if it does not report it', () => {
    const earlier = member('a1', { lastRelease: { ...release, token: '99' } });
    const other = member('b1', { lastRelease: release });
    for (const nodes of [['b1'], ['a1'], [malformed('a1')], [earlier], [other], [other, 'a1']])
      expect(recordOf({}, ...nodes).release).toBeNull();
  });

  it('is known from the history if its claim does not say so, but without a reason or an instant', () => {
    const a1 = member('a1', { lastRelease: { ...release, durationMs: 300 } });
    expect(recordOf({ current: unreadableClaim(current) }, a1)).toMatchObject({
      previous: { node: 'a1', site: 'a' },
      cause: 'retry',
      reason: 'leads again under the same decision after it stopped: no reason reported',
      resumes: { token: '101', reason: null, endedAt: null },
      release: { node: 'a1', durationMs: 300, endedAt: null },
      phases: { releaseMs: 300, claimMs: null },
    });
  });

  it('is not named as the previous leader if its site is unknown', () => {
    const nowhere = { ...again, site: null };
    expect(recordSoFar(read(nowhere, { current }, 'a1'), nowhere).previous).toBeNull();
  });
});

describe('a decision that ends without READY', () => {
  const end = (change: Partial<GroupSnapshot>, elected = toB1, ...nodes: (string | Member)[]) =>
    ended(read(elected, change, ...nodes), elected, { failed: null, next: 'b1 is drained' });
  const lastFailure = {
    electedVersion: 5,
    token: '102',
    detail: { ...takeoverDetail, reason: 'exit code 7' },
  };

  it('says what replaced it if nothing failed', () => {
    const current = unreadableClaim(claimedAt(3_000, 'b1', { token: 102n }));
    for (const nodes of [['b1'], [malformed('b1'), 'c1'], [member('a1', { lastFailure }), 'b1']]) {
      expect(end({ current }, toB1, ...nodes)).toMatchObject({
        outcome: 'FAILED',
        fencingToken: '102',
        error: { phase: 'takeover', reason: 'replaced before it was READY: b1 is drained', ...noCommand },
      });
    }
  });

  it('contains the failure that its node reports, and the token that the node had', () => {
    expect(end({}, toB1, 'a1', member('b1', { lastFailure }))).toMatchObject({
      outcome: 'FAILED',
      fencingToken: '102',
      error: lastFailure.detail,
    });
  });

  it('contains the failure that the elector has found', () => {
    const failed = { node: 'b1', incarnation: 'b1-life1', reason: 'it did not claim leadership' };
    const record = ended(read(toB1, {}, 'b1'), toB1, { failed, next: 'the node has priority 100' });
    expect(record?.error).toEqual({ phase: 'takeover', reason: 'it did not claim leadership', ...noCommand });
  });

  it('contains the failure that it has noted, unless that backoff has ended', () => {
    const noted = { ...toB1, failures: [failure('a1', { reason: 'exit code 3' }), failure('b1')] };
    expect(end({}, noted, 'b1')?.error?.reason).toBe('takeover failed: exit code 1');
    const before = { ...toB1, failures: [failure('b1', { until: null })] };
    expect(end({}, before, 'b1')?.error?.reason).toBe('replaced before it was READY: b1 is drained');
  });

  it('has no error if it elected nobody, and no token of a claim whose owner is unknown', () => {
    const nobody = decided({ term: 2 });
    const current = unreadableClaim(claim('gone'));
    expect(end({ current }, nobody, 'a1')).toMatchObject({
      outcome: 'NOBODY',
      fencingToken: null,
      claimedAt: null,
      error: null,
    });
  });
});

describe('a leadership that reached READY', () => {
  const current = claimedAt(3_000, 'b1', { token: 102n });

  it('is recorded once', () => {
    const record = (history: GroupSnapshot['history']) =>
      reachedReady(read(toB1, { current, history }, 'b1'), toB1, current);
    expect(record(head(1, '101'))).toMatchObject({ outcome: 'READY', fencingToken: '102', error: null });
    expect(record(head(2, '101'))).toMatchObject({ fencingToken: '102', resumes: { token: '101' } });
    expect(record(head(2, '102'))).toBeNull();
  });

  it('is not recorded without a history', () => {
    expect(reachedReady(read(toB1, { current, history: null }, 'b1'), toB1, current)).toBeNull();
  });
});

describe('phases in turn', () => {
  const phases = { releaseMs: 700, claimMs: 2_000, takeoverMs: 50 };
  const reported = { node: 'a1', result: 'ok', error: null, durationMs: 700 };
  const within = { ...reported, endedAt: instant(1_700) };

  it('do not count the release twice', () => {
    const inTurn = { releaseMs: 700, claimMs: 1_300, takeoverMs: 50 };
    expect(phasesInTurn({ phases, release: within })).toEqual(inTurn);
  });

  it('are as recorded if the release was over before the decision, or if there was none', () => {
    expect(phasesInTurn({ phases, release: { ...reported, endedAt: null } })).toEqual(phases);
    const without = { ...phases, releaseMs: null };
    expect(phasesInTurn({ phases: without, release: null })).toEqual(without);
  });

  it('are never negative, and unknown if the claim is', () => {
    const claimMs = (recordedMs: number | null) =>
      phasesInTurn({ phases: { ...phases, claimMs: recordedMs }, release: within }).claimMs;
    expect(claimMs(699)).toBe(0);
    expect(claimMs(null)).toBeNull();
  });
});

describe('a history record as text', () => {
  const record = {
    ...recordSoFar(read(toB1, {}, 'b1'), toB1),
    ...{ outcome: 'READY' as const, error: null },
  };

  it('names the slot, if there are several, the term, both leaders and the outcome', () => {
    expect(recordText(record)).toBe('term 2, a1 → b1: READY');
    expect(recordText({ ...record, slot: 3 })).toBe('slot 3, term 2, a1 → b1: READY');
  });

  it('says where there is no leader', () => {
    const nobody = { ...record, previous: null, node: null, outcome: 'NOBODY' as const };
    expect(recordText(nobody)).toBe('term 2, none → none: NOBODY');
  });

  it('shows only the change if an operator changed something', () => {
    const change = { kind: 'change' as const, by: 'ops', what: 'drain a1', reason: null, at: instant(0) };
    expect(recordText(change)).toBe('drain a1');
  });
});
