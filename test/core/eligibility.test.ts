import { describe, expect, it } from 'vitest';
import { isInBackoff } from '../../src/core/backoff.js';
import type { Registration } from '../../src/model/registration.js';
import { constraints } from '../../strategies/constraints/index.js';
import {
  ask,
  byHand,
  config,
  decided,
  epoch0Ms,
  failure,
  ineligibleReasons,
  instant,
  member,
  subsets,
  unhealthy,
  unreadable,
} from './builders.js';

interface Keeping {
  readonly kind: string;
  readonly registration?: Partial<Registration>;
  readonly site?: Record<string, unknown>;
  readonly drained?: boolean;
  readonly inBackoff?: boolean;
}

/** Everything that can make a readable node ineligible, one at a time. */
const keeping: readonly Keeping[] = [
  { kind: 'unhealthy', registration: unhealthy },
  { kind: 'leaving', registration: { draining: true } },
  { kind: 'drained', drained: true },
  { kind: 'site-drained', site: { drained: byHand } },
  { kind: 'priority-zero', registration: { priority: 0 } },
  { kind: 'priority-zero', site: { priority: 0 } },
  { kind: 'backoff', inBackoff: true },
];

function withAll(some: readonly Keeping[]) {
  const registration = Object.assign({}, ...some.map((one) => one.registration));
  const site = Object.assign({}, ...some.map((one) => one.site));
  const settings = config({
    sites: { a: site },
    drained: some.some(({ drained }) => drained) ? { a1: byHand } : {},
  });
  const failures = some.some(({ inBackoff }) => inBackoff) ? [failure('a1')] : [];
  return { one: member('a1', registration), settings, failures };
}

describe('who may lead', () => {
  it('P35 P51 each thing that keeps a node from leading is named, alone and with every other', () => {
    for (const some of subsets(keeping)) {
      const { one, settings, failures } = withAll(some);
      const found = ineligibleReasons(one, settings, failures, epoch0Ms);
      expect(found.map(({ kind }) => kind).toSorted()).toEqual(some.map(({ kind }) => kind).toSorted());
      expect(found.every(({ reason }) => /^\S.+\S$/.test(reason))).toBe(true);
    }
  });

  it('P35 P51 an election, a switchover, a retry and a what-if go by the same reasons', () => {
    for (const some of subsets(keeping)) {
      const { one, settings, failures } = withAll(some);
      const expected = ineligibleReasons(one, settings, failures, epoch0Ms);
      const isEligible = expected.length === 0;
      const members = [one, member('b1')];
      const judged = (choice: ReturnType<typeof ask>) =>
        choice.ineligible.find(({ node }) => node === 'a1')?.ineligibleReasons ?? [];

      const election = ask({ members, config: settings, failures });
      expect(judged(election)).toEqual(expected);
      expect(election.node).toBe(isEligible ? 'a1' : 'b1');

      const switchover = { to: { node: 'a1' }, replacesTerm: 1, ...byHand };
      const withRequest = { ...settings, switchover: { ...switchover, notBefore: null, force: false } };
      const elected = decided({ node: 'b1', term: 1 });
      const requested = ask({ members, config: withRequest, failures, elected });
      expect(judged(requested)).toEqual(expected);
      expect(requested.node).toBe(isEligible ? 'a1' : 'b1');

      const retry = ask({ members, config: settings, failures, elected, electedFailed: true });
      expect(judged(retry)).toEqual(expected);
      expect(retry.node).toBe(isEligible ? 'a1' : 'b1');
    }
  });

  it('says who took a node or a site out, and why', () => {
    const { one, settings, failures } = withAll(keeping);
    expect(ineligibleReasons(one, settings, failures, epoch0Ms).map(({ reason }) => reason)).toEqual([
      'it is unhealthy: disk full',
      'it is shutting down',
      'it was drained by ops: maintenance',
      'site a was drained by ops: maintenance',
      'site a has priority 0, so its nodes never lead',
      'the node has priority 0, so it never leads',
      `it is in backoff until ${instant(10_000)}: takeover failed: exit code 1`,
    ]);
  });

  it('a registration that cannot be read is one reason, and says what is wrong', () => {
    const malformed = { ...member('a1'), ...unreadable() };
    expect(
      ineligibleReasons(malformed, config({ drained: { a1: byHand } }), [failure('a1')], epoch0Ms),
    ).toEqual([
      {
        kind: 'malformed',
        reason: 'its registration is malformed: invalid JSON',
        ends: 'failure',
        canBeForced: true,
      },
    ]);
  });

  it('P53 a temporary priority 0 keeps a site from leading until it ends, and not a moment longer', () => {
    const override = { priority: 0, until: instant(7_200_000), ...byHand };
    const settings = config({ sites: { a: { override } } });
    const at = (ms: number) => ineligibleReasons(member('a1'), settings, [], epoch0Ms + ms).length;
    expect([at(0), at(7_199_999), at(7_200_000), at(7_200_001)]).toEqual([1, 1, 0, 0]);
  });

  it('names that objects inherit keep nobody out', () => {
    expect(ineligibleReasons(member('constructor'), config(), [], epoch0Ms)).toEqual([]);
  });

  it('ends a leadership as planned where people decided it, or an affinity', () => {
    const kindsThat = (how: string) => constraints.filter(({ ends }) => ends === how).map(({ kind }) => kind);
    const decided = ['drained', 'site-drained', 'priority-zero', 'affinity'];
    expect(kindsThat('planned')).toEqual(expect.arrayContaining(decided));
    expect(kindsThat('shutdown')).toEqual(['leaving']);
    expect(kindsThat('failure')).toEqual(expect.arrayContaining(['unhealthy', 'backoff', 'site-failed']));
  });

  it('is overridden by force, but for a backoff, which is cleared, and a node that is already the leader', () => {
    const kept = constraints.filter(({ canBeForced }) => !canBeForced).map(({ kind }) => kind);
    expect(kept).toEqual(expect.arrayContaining(['backoff', 'leads-slot']));
    expect(kept).not.toContain('drained');
  });

  it('a backoff lasts until its end', () => {
    const record = failure('a1', { until: instant(10_000) });
    expect(isInBackoff(record, epoch0Ms + 9_999)).toBe(true);
    expect(isInBackoff(record, epoch0Ms + 10_000)).toBe(false);
    expect(isInBackoff({ ...record, until: null }, epoch0Ms)).toBe(false);
  });
});
