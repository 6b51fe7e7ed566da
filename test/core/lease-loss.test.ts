import { describe, expect, it } from 'vitest';
import {
  clearedByNewEpoch,
  type LeaseLoss,
  lostLeaseAgain,
  type ObservedLosses,
  resumption,
  withLeaseLoss,
} from '../../src/core/lease-loss.js';
import { isPlainlyDue, newElector } from '../../src/core/round.js';
import { type ClaimContent, claimSchema } from '../../src/model/znodes.js';
import { Bench } from './bench.js';
import {
  byHand,
  claim,
  config,
  decided,
  epoch0Ms,
  instant,
  member,
  members,
  strategyOf,
  unhealthy,
  unreadable,
  versioned,
} from './builders.js';

const minute = 60_000;
const sites = { a: { priority: 200 }, b: { priority: 100 } };
const unrenewed = 'no connection to the ensemble: the lease was not renewed';

/** Returns a group in which a1 has led for an hour. */
function led(nodes: readonly string[] = ['a1', 'b1'], settings: ConstructorParameters<typeof Bench>[1] = {}) {
  const bench = new Bench(nodes, { sites, ...settings });
  bench.lead();
  bench.nowMs = 60 * minute;
  bench.settle();
  return bench;
}

type Resumes = NonNullable<ClaimContent['resumes']>;

/** Makes the leader return from a lease loss. It has lost its lease once before, four minutes earlier. */
function comeBack(bench: Bench, change: Partial<Resumes> = {}): void {
  const token = String(bench.current?.token);
  const leaseLoss = { token, reason: unrenewed, agoMs: 1_000, lostLease: true, earlierAgoMs: [4 * minute] };
  bench.current = null;
  bench.claim({ resumes: { ...leaseLoss, ...change } });
}

describe('a leader that lost its lease twice', () => {
  it('has failed: it is in backoff, and another is elected', () => {
    const bench = led();
    comeBack(bench);
    bench.settle();
    const reason = `it lost its lease twice within 10m: ${unrenewed}`;
    expect(bench.elected.value).toMatchObject({
      node: 'b1',
      term: 2,
      cause: 'failure',
      reason: expect.stringContaining(reason),
      previous: { node: 'a1' },
      failures: [{ node: 'a1', count: 1, reason, until: instant(60 * minute + 10_000) }],
    });
  });

  it('has failed also where it was READY before the elector looked', () => {
    const bench = led();
    comeBack(bench);
    bench.ready();
    bench.settle();
    expect(bench.node).toBe('b1');
    expect(bench.elected.value?.failures).toHaveLength(1);
  });

  it('has failed but once, also where it is the only one that is left to lead', () => {
    const bench = led();
    comeBack(bench);
    bench.settle();
    bench.crash('b1');
    bench.advance(10_000);
    expect(bench.elected.value).toMatchObject({
      node: 'a1',
      term: 4,
      cause: 'retry',
      failures: [{ count: 1 }],
    });
    expect(bench.elected.value?.failures[0]?.until).toBeNull();
    bench.join('b2', {}, 77n);
    bench.settle();
    expect(bench.node).toBe('a1');
  });

  it('leads on after the backoff only as any other that has failed', () => {
    const bench = led();
    comeBack(bench);
    bench.handOver();
    bench.advance(9 * minute);
    expect(bench.node).toBe('b1');
    bench.advance(2 * minute);
    expect(bench.node).toBe('a1');
  });

  it('is not blamed for it if another node is elected for another reason', () => {
    const bench = led();
    const switchover = { to: { node: 'b1' }, replacesTerm: 1, force: false, ...byHand };
    bench.configure({ sites, switchover });
    comeBack(bench);
    bench.settle();
    expect(bench.elected.value).toMatchObject({ node: 'b1', term: 2, cause: 'planned', failures: [] });
  });

  it('has failed also if it was elected by force while it was in backoff', () => {
    const bench = led();
    const requested = { by: 'ops', overridden: ['backoff'], forced: true as const };
    bench.elected = versioned({ ...decided({ node: 'a1', term: 1 }), ...bench.elected.value, requested });
    comeBack(bench);
    bench.settle();
    expect(bench.node).toBe('b1');
  });

  it('is described by how often it was', () => {
    const bench = led();
    comeBack(bench, { earlierAgoMs: [11 * minute, 9 * minute, 5 * minute] });
    bench.settle();
    expect(bench.elected.value?.failures[0]?.reason).toMatch(/^it lost its lease 3 times within 10m: /);
  });

  it('is found so by a clock that was read since', () => {
    const bench = led();
    bench.nowMs += 30_000;
    comeBack(bench);
    const [action] = bench.round().actions;
    expect(action).toEqual({ do: 'read-clock' });
    bench.settle();
    expect(bench.node).toBe('b1');
    expect(bench.elected.value?.failures[0]?.failedAt).toBe(instant(60 * minute + 30_000));
  });

  it('is none of what the next elector misses of a silent elector', () => {
    const bench = led();
    bench.clock = { epochMs: bench.epochMs, atMs: bench.nowMs };
    comeBack(bench);
    const round = bench.round();
    expect(round.actions).toMatchObject([{ do: 'write-elected', elected: { node: 'b1' } }]);
    expect(isPlainlyDue(round)).toBe(false);
  });
});

describe('nothing is held against a leader that came back', () => {
  const stays: [string, (bench: Bench) => void][] = [
    ['once', (bench) => comeBack(bench, { earlierAgoMs: [] })],
    ['again after a long time', (bench) => comeBack(bench, { earlierAgoMs: [10 * minute + 1_001] })],
    ['from another end than that of its lease', (bench) => comeBack(bench, { lostLease: false })],
    [
      'while the group is paused',
      (bench) => {
        bench.configure({ sites, paused: { by: 'ops', reason: 'works', at: instant(0) } });
        comeBack(bench);
      },
    ],
    [
      'where nobody else is eligible',
      (bench) => {
        bench.updateRegistration('b1', unhealthy);
        comeBack(bench);
      },
    ],
    [
      'where nobody else is there',
      (bench) => {
        bench.crash('b1');
        comeBack(bench);
      },
    ],
    [
      'where it would only be elected again',
      (bench) => {
        bench.configure({ sites, backoff: { base: '0s' } });
        comeBack(bench);
      },
    ],
    [
      'where the strategy cannot rank the nodes without it',
      (bench) => {
        const { rank, ...strategy } = strategyOf(bench.lastConfig);
        const needsIt = (input: Parameters<typeof rank>[0]) =>
          input.candidates.some(({ node }) => node === 'a1') ? rank(input) : [];
        bench.strategy = { ...strategy, rank: needsIt };
        comeBack(bench);
      },
    ],
    [
      'where the elector was out of touch itself, or not there yet',
      (bench) => {
        bench.observedSinceMs = bench.nowMs - 999;
        comeBack(bench);
      },
    ],
    ['under another leader of the ensemble', (bench) => comeBack(bench, { token: String((7n << 32n) + 1n) })],
    [
      'and has led for as long as it would have been excluded',
      (bench) => {
        bench.updateRegistration('b1', unhealthy);
        comeBack(bench);
        bench.ready();
        bench.advance(10_001);
        bench.updateRegistration('b1', { health: { ok: true, reason: null } });
      },
    ],
    [
      'before the clock was set back',
      (bench) => {
        comeBack(bench);
        if (bench.current !== null)
          bench.current = { ...bench.current, createdAtMs: bench.current.createdAtMs + 10_001 };
      },
    ],
  ];
  it.each(stays)('%s', (_, happens) => {
    const bench = led();
    happens(bench);
    bench.settle();
    expect(bench.elected.value).toMatchObject({ node: 'a1', term: 1, failures: [] });
  });
});

describe('a lease loss', () => {
  const leaseLoss = { token: '90', reason: unrenewed, lostLease: true, agoMs: 1_000 };
  const resumes = { ...leaseLoss, earlierAgoMs: [4 * minute] };
  const nowMs = 60 * minute;

  /** Returns the finding of an elector that sees the claim of a1 when it is `ageMs` old. */
  function found(ageMs: number, change: Partial<ObservedLosses> = {}, earlierAgoMs = resumes.earlierAgoMs) {
    const observed = {
      config: config(),
      members: members('a1', 'b1'),
      current: claim('a1', { resumes: { ...resumes, earlierAgoMs } }),
      nowMs,
      epochMs: epoch0Ms + ageMs,
      observedSinceMs: Number.NEGATIVE_INFINITY,
      ...change,
    };
    return lostLeaseAgain(observed, decided({ node: 'a1', term: 1 }));
  }

  const reason = `it lost its lease twice within 10m: ${unrenewed}`;
  const failed = { node: 'a1', incarnation: 'a1-life1', reason };

  it('counts until the new claim is as old as the shortest backoff', () => {
    expect(found(10_000)).toEqual(failed);
    expect(found(10_001)).toBeNull();
  });

  it('counts although the ensemble’s clock differs a little between two servers', () => {
    expect(found(-10_000)).toEqual(failed);
    expect(found(-10_001)).toBeNull();
  });

  it('counts only if the elector observed the ensemble from the loss on, before the new claim', () => {
    expect(found(5_000, { observedSinceMs: nowMs - 6_000 })).toEqual(failed);
    expect(found(5_000, { observedSinceMs: nowMs - 5_999 })).toBeNull();
    expect(found(-5_000, { observedSinceMs: nowMs - 1_000 })).toEqual(failed);
    expect(found(-5_000, { observedSinceMs: nowMs - 999 })).toBeNull();
  });

  it('counts together with those in the longest backoff before it', () => {
    expect(found(0, {}, [10 * minute + 1_000])).toEqual(failed);
    expect(found(0, {}, [10 * minute + 1_001])).toBeNull();
  });

  it('counts only for the elected node, while it is registered and the group is not paused', () => {
    const current = claim('b1', { resumes });
    expect(found(0, { current })).toBeNull();
    expect(found(0, { members: members('b1') })).toBeNull();
    expect(found(0, { config: config({ paused: byHand }) })).toBeNull();
  });

  it('counts for a node whose registration cannot be read', () => {
    const malformed = { ...member('a1'), ...unreadable() };
    const expected = { ...failed, incarnation: 'unknown' };
    expect(found(0, { members: members(malformed, 'b1') })).toEqual(expected);
  });
});

describe('an elector that lost its own lease twice', () => {
  const own = () => {
    const bench = led();
    bench.self = 'a1';
    comeBack(bench);
    return bench;
  };

  it('leaves it to the next elector to judge, once', () => {
    const bench = own();
    expect(bench.round().actions).toMatchObject([
      { do: 'give-up-seat', reason: expect.stringContaining('twice within 10m'), configVersion: null },
    ]);
    expect(bench.round().actions).toEqual([]);
    bench.self = 'b1';
    bench.memory = newElector;
    bench.settle();
    expect(bench.node).toBe('b1');
  });

  it('keeps its seat where nobody else has one', () => {
    const bench = own();
    bench.members = bench.members.map((one) => (one.node === 'b1' ? { ...one, seat: null } : one));
    expect(bench.round().actions).toEqual([]);
    expect(bench.node).toBe('a1');
  });
});

describe('what a node knows of its lease losses', () => {
  const lease = { releaseAtMs: 1_000, endsAtMs: 3_000 };
  const ended = (term: number, token = 100n + BigInt(term)) => ({ slot: 1, term, token, reason: unrenewed });

  it('is whether the lease had run out', () => {
    const [kept] = withLeaseLoss([], ended(1), lease, 999);
    expect(kept).toMatchObject({ lostLease: false, atMs: 999 });
    const [lost] = withLeaseLoss([], ended(1), lease, 1_500);
    expect(lost).toMatchObject({ lostLease: true, atMs: 1_000 });
    const [due] = withLeaseLoss([], ended(1), lease, 1_000);
    expect(due).toMatchObject({ lostLease: true, atMs: 1_000 });
  });

  it('goes into a claim by the same decision, with those before', () => {
    let leaseLosses: readonly LeaseLoss[] = withLeaseLoss([], ended(1), lease, 2_000);
    leaseLosses = withLeaseLoss(leaseLosses, ended(1), { releaseAtMs: 9_000, endsAtMs: 9_500 }, 5_000);
    leaseLosses = withLeaseLoss(leaseLosses, ended(2), { releaseAtMs: 10_000, endsAtMs: 11_000 }, 12_000);
    expect(resumption(leaseLosses, { slot: 1, term: 1 }, 15_000)).toBeNull();
    expect(resumption(leaseLosses, { slot: 2, term: 2 }, 15_000)).toBeNull();
    expect(resumption(leaseLosses, { slot: 1, term: 2 }, 15_000)).toEqual({
      ...{ token: '102', reason: unrenewed, agoMs: 5_000, lostLease: true },
      earlierAgoMs: [14_000],
    });
  });

  it('goes into a claim with every loss before, or none', () => {
    const inTerm = { slot: 1, term: 1 };
    expect(resumption([], inTerm, 15_000)).toBeNull();
    const once = withLeaseLoss([], ended(1), lease, 2_000);
    expect(resumption(once, inTerm, 15_000)?.earlierAgoMs).toEqual([]);
    const twice = withLeaseLoss(once, ended(1), { releaseAtMs: 4_000, endsAtMs: 5_000 }, 6_000);
    const thrice = withLeaseLoss(twice, ended(1), { releaseAtMs: 8_000, endsAtMs: 9_000 }, 10_000);
    expect(resumption(thrice, inTerm, 15_000)).toMatchObject({
      agoMs: 7_000,
      earlierAgoMs: [14_000, 11_000],
    });
  });

  it('is cleared by a new leader of the ensemble', () => {
    const leaseLosses = withLeaseLoss([], ended(1), lease, 2_000);
    expect(clearedByNewEpoch(leaseLosses, 200n)).toBe(leaseLosses);
    expect(clearedByNewEpoch(leaseLosses, (1n << 32n) + 1n)).toMatchObject([{ lostLease: false }]);
    expect(clearedByNewEpoch([], 200n)).toEqual([]);
  });

  it('is no more than a claim may contain', () => {
    let leaseLosses: readonly LeaseLoss[] = [];
    for (let nowMs = 2_000; nowMs < 100_000; nowMs += 1_000)
      leaseLosses = withLeaseLoss(leaseLosses, ended(1), lease, nowMs);
    const resumes = resumption(leaseLosses, { slot: 1, term: 1 }, 100_000);
    const said = { node: 'a1', site: 'a', incarnation: 'x', status: 'READY', term: 1, electedVersion: 1 };
    expect(claimSchema.parse({ ...said, resumes }).resumes).toEqual(resumes);
  });

  it('is not written by earlier versions, and what cannot be read of it counts for nothing', () => {
    const said = { node: 'a1', site: 'a', incarnation: 'x', status: 'READY', term: 1, electedVersion: 1 };
    const before = { token: '101', reason: unrenewed, agoMs: 5 };
    const nothing = { ...before, lostLease: false, earlierAgoMs: [] };
    expect(claimSchema.parse({ ...said, resumes: before }).resumes).toEqual(nothing);
    const malformed = { ...before, lostLease: 'yes', earlierAgoMs: [-1] };
    expect(claimSchema.parse({ ...said, resumes: malformed }).resumes).toEqual(nothing);
  });
});
