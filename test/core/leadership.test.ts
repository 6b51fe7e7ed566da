import { describe, expect, it } from 'vitest';
import {
  claimHindrance,
  type LeadershipAction,
  type LeadershipInput,
  leadershipStep,
  type Stage,
} from '../../src/core/leadership.js';
import type { Claim, GroupSnapshot } from '../../src/model/snapshot.js';
import {
  byHand,
  type ClaimChange,
  claim,
  config,
  decided,
  failure,
  group,
  registration,
  unreadable,
  versioned,
} from './builders.js';
import {
  failed,
  leadership,
  mine,
  own,
  seen,
  self,
  situation,
  step,
  term,
  token,
  version,
} from './leadership-input.js';

const stages: readonly Stage[] = ['claimed', 'taking-over', 'taken-over', 'leading', 'releasing', 'released'];
const active: readonly (Stage | undefined)[] = ['claimed', 'taking-over', 'taken-over', 'leading'];
const ill = versioned(registration(self, { health: { ok: false, reason: 'no disk' } }), 3);

/** Possible contents of `elected`, as seen by a1 in term 3. */
const decisions: Record<string, GroupSnapshot['elected']> = {
  'names it': versioned(mine, version),
  'names it again': versioned({ ...mine, term: term + 1 }, version + 1),
  'names it, excluded': versioned({ ...mine, failures: [failure(self)] }, version),
  'names it, tried again': versioned({ ...mine, failures: [failure(self, { until: null })] }, version),
  'names another': versioned(decided({ node: 'b1', term: term + 1, reason: 'better' }), version + 1),
  'names nobody': versioned(decided({ term: term + 1, reason: 'drained' }), version + 1),
  'cannot be read': unreadable(version + 1),
  'is created again': versioned(decided(), 0),
};

const claims: Record<string, Claim | null> = {
  nobody: null,
  'it, PROGRESS': own(),
  'it, READY': own({ status: 'READY' }),
  'it, READY in an earlier term': own({ status: 'READY', term: term - 1 }),
  'it, malformed': { ...own(), ...unreadable(4) },
  'it, under a later token': own({ token: token + 5n }),
  another: claim('b1', { token: token + 5n, term: term + 1 }),
};

interface Case extends LeadershipInput {
  readonly name: string;
}

function allCases(): Case[] {
  const bools = [false, true];
  const cases: Case[] = [];
  const snapshots: [string, GroupSnapshot | null][] = [['out of touch', null]];
  for (const [decision, elected] of Object.entries(decisions)) {
    for (const [owner, current] of Object.entries(claims)) {
      for (const seated of bools) {
        const seat = seated ? group().seat : null;
        const name = `elected ${decision}, current is owned by ${owner}, ${seated ? 'seated' : 'no seat'}`;
        snapshots.push([name, seen({ elected, current, seat })]);
      }
    }
  }
  for (const [name, snapshot] of snapshots) {
    for (const stage of [null, ...stages]) {
      for (const failure of stage === null ? [null] : [null, failed]) {
        for (const paused of [null, byHand]) {
          for (const [draining, drainOverdue] of [
            [false, false],
            [true, false],
            [true, true],
          ] as const) {
            for (const nowMs of [0, 1000]) {
              for (const variant of stage === null ? [0, 1, 2, 3] : [0, 4]) {
                cases.push({
                  ...situation({
                    snapshot,
                    leadership: stage === null ? null : leadership(stage, { failure }),
                    config: config({ paused }),
                    draining,
                    drainOverdue,
                    nowMs,
                    failedUnder: variant === 1 ? version : null,
                    prepare:
                      variant === 2
                        ? { doneUnder: version - 1 }
                        : variant === 3
                          ? { doneUnder: version }
                          : null,
                    spentToken: variant === 1 ? token : 0n,
                    sessionOver: variant === 4,
                  }),
                  name: `${name}; stage ${stage}; failed ${failure !== null}; paused ${paused !== null}; draining ${draining} ${drainOverdue}; at ${nowMs}; variant ${variant}`,
                });
              }
            }
          }
        }
      }
    }
  }
  return cases;
}

const cases = allCases();
const all = (check: (one: Case, action: LeadershipAction | null) => void) => {
  for (const one of cases) check(one, leadershipStep(one));
};

/** Returns the node's claim of this leadership, as the snapshot shows it. */
function heldIn({ snapshot, session }: Case): Claim | null {
  const current = snapshot?.current ?? null;
  return current !== null && current.owner === session ? current : null;
}

describe('whatever a node sees, at whatever stage', () => {
  it('P05 P10 acts as leader only on a good lease, in touch, named, and with its own claim', () => {
    all((one, action) => {
      if (action?.do !== 'take-over' && action?.do !== 'write-ready') return;
      expect(one.nowMs, one.name).toBeLessThan(one.lease.releaseAtMs);
      expect(one.sessionOver, one.name).toBe(false);
      expect(one.snapshot?.elected.value?.node, one.name).toBe(self);
      expect(heldIn(one)?.token, one.name).toBe(one.leadership?.token);
      expect(one.leadership?.failure, one.name).toBeNull();
      if (action.do === 'take-over') {
        expect(one.leadership?.stage, one.name).toBe('claimed');
        expect(one.draining, one.name).toBe(false);
      } else {
        expect(['taken-over', 'leading'], one.name).toContain(one.leadership?.stage);
        expect(action.electedVersion, one.name).toBe(one.snapshot?.elected.version);
        expect(action.claimVersion, one.name).toBe(one.snapshot?.current?.version);
      }
    });
  });

  it('P05 releases as soon as the lease is due, the session over, the claim gone, or the takeover failed', () => {
    all((one, action) => {
      if (!active.includes(one.leadership?.stage)) return;
      const isOver =
        one.sessionOver ||
        one.nowMs >= one.lease.releaseAtMs ||
        one.drainOverdue ||
        one.leadership?.failure !== null ||
        (one.snapshot !== null && heldIn(one)?.token !== one.leadership?.token);
      if (isOver)
        expect(action, one.name).toMatchObject({ do: 'release', reason: expect.stringMatching(/\w/) });
    });
  });

  it('waits while out of touch as long as the lease lasts', () => {
    all((one, action) => {
      const isEnding =
        one.sessionOver || one.nowMs >= 1000 || one.drainOverdue || one.leadership?.failure != null;
      if (one.snapshot === null && !isEnding) expect(action, one.name).toBeNull();
    });
  });

  it('P14 claims only when named, seated, not leaving, not failed, and nobody owns the claim', () => {
    all((one, action) => {
      if (action?.do !== 'claim') return;
      const { snapshot } = one;
      expect(one.leadership, one.name).toBeNull();
      expect(snapshot?.current, one.name).toBeNull();
      expect(snapshot?.elected.value?.node, one.name).toBe(self);
      expect(
        snapshot?.elected.value?.failures.some(({ until }) => until !== null),
        one.name,
      ).toBe(false);
      expect(snapshot?.seat, one.name).not.toBeNull();
      expect(one.draining, one.name).toBe(false);
      expect(one.failedUnder, one.name).not.toBe(snapshot?.elected.version);
      expect(action.electedVersion, one.name).toBe(snapshot?.elected.version);
      if (one.prepare !== null) expect(one.prepare.doneUnder, one.name).toBe(snapshot?.elected.version);
    });
  });

  it('P17 gives a claim away only when nothing of its leadership can live, and only its own', () => {
    all((one, action) => {
      if (action?.do !== 'delete-claim') return;
      expect(heldIn(one), one.name).not.toBeNull();
      expect(action.claimVersion, one.name).toBe(one.snapshot?.current?.version);
      expect([undefined, 'released'], one.name).toContain(one.leadership?.stage);
      if (one.leadership === null) return;
      expect(heldIn(one)?.token, one.name).toBe(one.leadership.token);
      expect(action.failure, one.name).toBe(one.leadership.failure);
    });
  });

  it('P01 adopts only a claim of its own session, in PROGRESS, under a token that is not spent', () => {
    all((one, action) => {
      if (action?.do !== 'adopt') return;
      const held = heldIn(one);
      expect(one.leadership, one.name).toBeNull();
      expect(held?.value?.status, one.name).toBe('PROGRESS');
      expect(held?.token ?? 0n, one.name).toBeGreaterThan(one.spentToken);
      expect(claimHindrance(one, one.snapshot ?? seen()), one.name).toBeNull();
    });
  });

  it('P38 does nothing while it releases, and ends a leadership only when its claim is gone', () => {
    all((one, action) => {
      if (one.leadership?.stage === 'releasing') expect(action, one.name).toBeNull();
      if (one.leadership?.stage !== 'released' || one.snapshot === null) return;
      const verb = heldIn(one)?.token === one.leadership.token ? 'delete-claim' : 'forget-leadership';
      expect(action?.do, one.name).toBe(verb);
    });
  });

  it('moves on: a node that is elected and held up by nothing takes each step to READY', () => {
    all((one, action) => {
      const { snapshot } = one;
      if (
        snapshot === null ||
        one.draining ||
        one.sessionOver ||
        one.nowMs > 0 ||
        one.leadership?.failure != null
      )
        return;
      const elected = snapshot.elected.value;
      if (
        elected?.node !== self ||
        elected.term < term ||
        elected.failures.some(({ until }) => until !== null)
      )
        return;
      const held = heldIn(one);
      const expected = (() => {
        switch (one.leadership?.stage) {
          case undefined:
            return null;
          case 'claimed':
            return held?.token === token ? 'take-over' : 'release';
          case 'taken-over':
            return held?.token === token ? 'write-ready' : 'release';
          default:
            return null;
        }
      })();
      if (expected !== null) expect(action?.do, one.name).toBe(expected);
      const isFree =
        snapshot.current === null && snapshot.seat !== null && one.failedUnder !== snapshot.elected.version;
      if (one.leadership !== null || !isFree) return;
      const isPrepared = one.prepare === null || one.prepare.doneUnder === snapshot.elected.version;
      expect(action?.do, one.name).toBe(isPrepared ? 'claim' : 'prepare');
    });
  });

  it('covers enough', () => {
    expect(cases.length).toBeGreaterThan(5000);
    const verbs = new Set(cases.map((one) => leadershipStep(one)?.do));
    expect([...verbs].filter((verb) => verb !== undefined).toSorted()).toEqual([
      'adopt',
      'claim',
      'delete-claim',
      'forget-leadership',
      'prepare',
      'release',
      'take-over',
      'write-ready',
    ]);
  });
});

describe('a leadership', () => {
  const leading = (change: Partial<LeadershipInput> = {}) =>
    step({
      leadership: leadership('leading'),
      snapshot: seen({ current: own({ status: 'READY' }) }),
      ...change,
    });
  const under = (decision: string, current: ClaimChange = { status: 'READY' }) =>
    seen({ elected: decisions[decision] ?? unreadable(), current: own(current) });

  it('that leads, and is elected, goes on', () => {
    expect(leading()).toBeNull();
  });

  it.each<[string, Partial<LeadershipInput>, string, string | null]>([
    ['another is elected', { snapshot: under('names another') }, 'b1 is elected: better', 'b1'],
    ['no node is elected', { snapshot: under('names nobody') }, 'no node is elected: drained', null],
    [
      'no node is elected under its own term, the last possible one',
      {
        snapshot: seen({
          elected: versioned(decided({ term, reason: 'drained' }), version + 1),
          current: own({ status: 'READY' }),
        }),
      },
      'no node is elected: drained',
      null,
    ],
    ['its claim is gone', { snapshot: seen() }, 'the claim leader/current is gone', null],
    [
      'its claim is another’s',
      { snapshot: seen({ current: claim('b1') }) },
      'the claim leader/current is gone',
      null,
    ],
    ['the lease is due', { nowMs: 1000 }, 'no connection to the ensemble: the lease was not renewed', null],
    ['the session has ended', { sessionOver: true }, 'the session has ended, and the claim with it', null],
    [
      'the workload ended',
      { leadership: leadership('leading', { failure: failed }) },
      'takeover failed: exit code 1',
      null,
    ],
    [
      'nobody took over in time, or is waited for',
      { draining: true, drainOverdue: true },
      'shutting down without waiting any longer for a successor',
      null,
    ],
    [
      'it leaves a paused group',
      { draining: true, config: config({ paused: byHand }) },
      'shutting down while the group is paused',
      null,
    ],
  ])('ends when %s', (_, change, reason, newLeader) => {
    expect(leading(change)).toMatchObject({ do: 'release', reason, newLeader });
  });

  it('names the term of the decision that ends it, or else its own', () => {
    expect(leading({ snapshot: under('names another') })).toMatchObject({ term: term + 1 });
    expect(leading({ snapshot: under('names nobody') })).toMatchObject({ term: term + 1 });
    expect(leading({ snapshot: under('names another'), nowMs: 1000 })).toMatchObject({ term });
  });

  it('goes on while it leaves, until somebody or no node is elected', () => {
    expect(leading({ draining: true })).toBeNull();
    expect(leading({ draining: true, snapshot: under('names nobody') })).toMatchObject({ do: 'release' });
  });

  it('does not begin while it leaves', () => {
    expect(
      step({ leadership: leadership('claimed'), snapshot: seen({ current: own() }), draining: true }),
    ).toMatchObject({
      do: 'release',
      reason: 'shutting down before anything was started',
    });
    expect(step({ draining: true })).toBeNull();
  });

  it('elected away and back before it began to release goes on under its token, and says the new term', () => {
    expect(leading({ snapshot: under('names it again') })).toEqual({
      do: 'write-ready',
      elected: { ...mine, term: term + 1 },
      electedVersion: version + 1,
      claimVersion: 4,
    });
  });

  it('that took over while `elected` was rewritten and still names it says READY under the new version', () => {
    expect(
      step({ leadership: leadership('taken-over'), snapshot: under('names it again', {}) }),
    ).toMatchObject({
      do: 'write-ready',
      electedVersion: version + 1,
    });
  });

  it('says READY again when the reply was lost, and repairs what its claim says', () => {
    expect(step({ leadership: leadership('taken-over'), snapshot: under('names it') })).toMatchObject({
      do: 'write-ready',
    });
    expect(leading({ snapshot: seen({ current: { ...own(), ...unreadable(4) } }) })).toMatchObject({
      do: 'write-ready',
    });
    expect(leading({ snapshot: under('names it', { status: 'PROGRESS' }) })).toMatchObject({
      do: 'write-ready',
    });
  });

  it.each([
    ['another: it stops', 'b1', 'release'],
    ['it: it says so in its claim', self, 'write-ready'],
  ])('obeys a decision of an elector to whom its term was lost with its claim, for %s', (_, node, verb) => {
    const snapshot = seen({
      elected: versioned(decided({ node, term: 1 }), version + 2),
      current: { ...own(), ...unreadable(5) },
    });
    expect(step({ leadership: leadership('leading'), snapshot })).toMatchObject({ do: verb });
    // If the claim still contains the term, the node waits: the elector will repair a decision that is older.
    const isReady = { ...snapshot, current: own({ status: 'READY' }) };
    expect(step({ leadership: leadership('leading'), snapshot: isReady })).toBeNull();
  });

  it.each(['cannot be read', 'is created again'])('goes on as it is while `elected` %s', (decision) => {
    for (const stage of ['taking-over', 'taken-over', 'leading'] as const) {
      expect(step({ leadership: leadership(stage), snapshot: under(decision) })).toBeNull();
    }
  });

  it('P41 that is in backoff while it takes over ends; one that leads goes on', () => {
    for (const stage of ['claimed', 'taking-over', 'taken-over'] as const) {
      expect(step({ leadership: leadership(stage), snapshot: under('names it, excluded') })).toMatchObject({
        do: 'release',
        reason: 'the transition watchdog put this node into backoff',
      });
    }
    expect(leading({ snapshot: under('names it, excluded') })).toBeNull();
  });

  it('released, gives up its claim with what failed; without a claim it is over', () => {
    const released = leadership('released', { failure: failed });
    expect(step({ leadership: released, snapshot: seen({ current: own() }) })).toEqual({
      do: 'delete-claim',
      claimVersion: 4,
      failure: failed,
    });
    for (const current of [null, claim('b1'), own({ token: token + 1n })]) {
      expect(step({ leadership: released, snapshot: seen({ current }) })?.do).toBe('forget-leadership');
    }
    expect(step({ leadership: released, snapshot: null })).toBeNull();
  });
});

describe('without a leadership', () => {
  it('P57 a node that starts is a standby until it is elected', () => {
    expect(step({ snapshot: seen({ elected: versioned(decided(), 0) }) })).toBeNull();
    expect(step({ snapshot: seen({ elected: versioned(decided({ node: 'b1' }), 1) }) })).toBeNull();
  });

  it('the elected node waits while somebody owns the claim, and claims when it is free', () => {
    expect(step({ snapshot: seen({ current: claim('b1') }) })).toBeNull();
    expect(step({})).toEqual({ do: 'claim', elected: mine, electedVersion: version });
  });

  it('prepares while the old leader leads, once for each decision, and never holds a pause up', () => {
    const old = seen({ current: claim('b1') });
    const prepare = { doneUnder: version - 1 };
    expect(step({ prepare, snapshot: old })).toEqual({
      do: 'prepare',
      elected: mine,
      electedVersion: version,
    });
    expect(step({ prepare: { doneUnder: version }, snapshot: old })).toBeNull();
    expect(step({ prepare: { doneUnder: version } })?.do).toBe('claim');
    expect(step({ prepare, snapshot: old, config: config({ paused: byHand }) })).toBeNull();
    expect(step({ prepare, config: config({ paused: byHand }) })?.do).toBe('prepare');
  });

  it('adopts a claim whose reply was lost', () => {
    expect(step({ snapshot: seen({ current: own() }), spentToken: token - 1n })).toMatchObject({
      do: 'adopt',
      electedVersion: version,
    });
  });

  it.each<[string, Partial<LeadershipInput>]>([
    ['it is spent', { spentToken: token }],
    ['it says READY', { snapshot: seen({ current: own({ status: 'READY' }) }) }],
    ['it cannot be read', { snapshot: seen({ current: { ...own(), ...unreadable(4) } }) }],
    [
      'another is elected',
      { snapshot: seen({ current: own(), elected: versioned(decided({ node: 'b1' }), 9) }) },
    ],
    ['it failed under this decision', { failedUnder: version }],
    ['it leaves', { draining: true }],
  ])('gives a claim away that it finds it owns when %s', (_, change) => {
    expect(step({ snapshot: seen({ current: own() }), ...change })).toEqual({
      do: 'delete-claim',
      claimVersion: 4,
      failure: null,
    });
  });

  it('claims though unhealthy when a person forced it to lead all the same', () => {
    const forced = { ...mine, requested: { by: 'ann', overridden: ['unhealthy'] } };
    const snapshot = seen({ self: ill, elected: versioned(forced, version) });
    expect(step({ snapshot })).toMatchObject({ do: 'claim' });
  });

  it.each<[string, Partial<LeadershipInput>, string]>([
    ['unreadable', { snapshot: seen({ elected: unreadable() }) }, 'leader/elected is malformed'],
    ['another', { snapshot: seen({ elected: versioned(decided({ node: 'b1' }), 9) }) }, 'b1 is elected'],
    ['nobody', { snapshot: seen({ elected: versioned(decided(), 9) }) }, 'no node is elected'],
    ['leaving', { draining: true }, 'it is leaving'],
    ['failed', { failedUnder: version }, 'it failed under this decision'],
    [
      'backoff',
      { snapshot: seen({ elected: versioned({ ...mine, failures: [failure(self)] }, version) }) },
      'it is in backoff after a failure',
    ],
    ['no seat', { snapshot: seen({ seat: null }) }, 'it has no seat'],
    ['unhealthy', { snapshot: seen({ self: ill }) }, 'it is unhealthy'],
    ['unhealthy since it was read', { healthy: false }, 'it is unhealthy'],
  ])('says why it does not claim: %s', (_, change, reason) => {
    const one = situation(change);
    expect(claimHindrance(one, one.snapshot ?? seen())).toBe(reason);
    expect(leadershipStep(one)).toBeNull();
  });
});
