import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { planRound, roundSchema, roundText } from '../plan.js';

const sessionTimeoutMs = 6_000;
const rounds = (seed: number, count = 400, leaders = 1) => {
  return Array.from({ length: count }, (_, index) =>
    planRound(seed, index + 1, { leaders, sessionTimeoutMs }),
  );
};

describe('a plan', () => {
  it('depends on the seed alone', () => {
    expect(rounds(7)).toEqual(rounds(7));
    expect(rounds(7)).not.toEqual(rounds(8));
    expect(planRound(7, 3, { leaders: 1, sessionTimeoutMs })).toEqual(rounds(7)[2]);
  });

  it('of one leader stays the same for a seed, apart from kinds of faults that were added later', () => {
    const added = new Set(['odd-workload', 'silent-readers', 'quota']);
    const asBefore = rounds(7).map((round) => ({
      ...round,
      faults: round.faults.filter(({ kind }) => !added.has(kind)),
    }));
    const digest = createHash('sha256').update(JSON.stringify(asBefore)).digest('hex');
    expect(digest).toBe('2ffc70e576146c51bc8005179780b037e950e6a68477e2338ee3270d86acb5d7');
  });

  it.each([1, 3])('of %s leaders can be written and read again', (leaders) => {
    for (const round of rounds(7, 400, leaders))
      expect(roundSchema.parse(JSON.parse(JSON.stringify(round)))).toEqual(round);
  });

  it('of several leaders aims at the leaders of all slots, and sometimes lowers their number', () => {
    const faults = rounds(7, 400, 3).flatMap((round) => round.faults);
    const leaderFaults = faults.filter((fault) => 'on' in fault && fault.on === 'leader');
    for (const aimed of [leaderFaults, faults.filter(({ kind }) => kind === 'switchover')]) {
      const slots = new Set(aimed.map((fault) => ('slot' in fault ? fault.slot : undefined)));
      expect(slots).toEqual(new Set([1, 2, 3]));
    }
    const counts = faults.flatMap((fault) =>
      fault.kind === 'configure' && fault.key === 'leaders' ? [fault.value] : [],
    );
    expect(new Set(counts)).toEqual(new Set(['1', '2']));
  });

  it('has every kind of fault, one to four in a round', () => {
    const faults = rounds(7).flatMap((round) => round.faults);
    const kinds = [...new Set(faults.map(({ kind }) => kind))].sort();
    const known = roundSchema.shape.faults.element.options.map(({ shape }) => shape.kind.value);
    expect(kinds).toEqual(known.filter((kind) => kind !== 'orphan-workload').sort());
    expect(new Set(rounds(7).map((round) => round.faults.length))).toEqual(new Set([1, 2, 3, 4]));
  });

  it('has faults shorter and longer than the session, and freezes machines for less than a lease', () => {
    const faults = rounds(7).flatMap((round) => round.faults);
    const lengths = (kind: string) => faults.filter((one) => one.kind === kind).map(({ lastsMs }) => lastsMs);
    for (const kind of ['freeze-agent', 'cut-node', 'freeze-server', 'isolate-server']) {
      expect(Math.min(...lengths(kind))).toBeLessThan(0.8 * sessionTimeoutMs);
      expect(Math.max(...lengths(kind))).toBeGreaterThan(1.2 * sessionTimeoutMs);
    }
    expect(Math.max(...lengths('freeze-machine'))).toBeLessThan(0.4 * sessionTimeoutMs);
  });

  it('has at most one fault of the servers, and one of the network, in a round', () => {
    const sorts = { server: /server|majority/, network: /cut-|slow-node|reset-node/ };
    for (const { faults } of rounds(7)) {
      for (const sort of Object.values(sorts)) {
        expect(faults.filter(({ kind }) => sort.test(kind)).length).toBeLessThan(2);
      }
    }
  });

  it('is printed in the order of its faults', () => {
    const round = planRound(7, 1, { leaders: 1, sessionTimeoutMs });
    expect(roundText(round).split('\n')).toHaveLength(round.faults.length + 1);
    for (const { faults } of rounds(7)) {
      const starts = faults.map(({ afterMs }) => afterMs);
      expect(starts).toEqual(starts.toSorted((one, other) => one - other));
    }
  });
});
