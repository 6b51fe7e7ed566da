import { describe, expect, it } from 'vitest';
import { planRound, roundSchema, roundText } from '../plan.js';

const sessionTimeoutMs = 6_000;
const rounds = (seed: number, count = 400) => {
  return Array.from({ length: count }, (_, index) => planRound(seed, index + 1, sessionTimeoutMs));
};

describe('a plan', () => {
  it('is the same for the same seed, and another for another', () => {
    expect(rounds(7)).toEqual(rounds(7));
    expect(rounds(7)).not.toEqual(rounds(8));
    expect(planRound(7, 3, sessionTimeoutMs)).toEqual(rounds(7)[2]);
  });

  it('reads back as it was written', () => {
    for (const round of rounds(7))
      expect(roundSchema.parse(JSON.parse(JSON.stringify(round)))).toEqual(round);
  });

  it('has every kind of fault, one to three at a time', () => {
    const faults = rounds(7).flatMap((round) => round.faults);
    const kinds = [...new Set(faults.map(({ kind }) => kind))].sort();
    const known = roundSchema.shape.faults.element.options.map(({ shape }) => shape.kind.value);
    expect(kinds).toEqual(known.filter((kind) => kind !== 'orphan-workload').sort());
    expect(new Set(rounds(7).map((round) => round.faults.length))).toEqual(new Set([1, 2, 3]));
  });

  it('has faults shorter and longer than the session, and machines frozen for less than a lease lasts', () => {
    const faults = rounds(7).flatMap((round) => round.faults);
    const lengths = (kind: string) => faults.filter((one) => one.kind === kind).map(({ lastsMs }) => lastsMs);
    for (const kind of ['freeze-agent', 'cut-node', 'freeze-server', 'isolate-server']) {
      expect(Math.min(...lengths(kind))).toBeLessThan(0.8 * sessionTimeoutMs);
      expect(Math.max(...lengths(kind))).toBeGreaterThan(1.2 * sessionTimeoutMs);
    }
    expect(Math.max(...lengths('freeze-machine'))).toBeLessThan(0.4 * sessionTimeoutMs);
  });

  it('never does two things to the servers, or to the ways to them, at once', () => {
    const sorts = { server: /server|majority/, network: /cut-|slow-node|reset-node/ };
    for (const { faults } of rounds(7)) {
      for (const sort of Object.values(sorts)) {
        expect(faults.filter(({ kind }) => sort.test(kind)).length).toBeLessThan(2);
      }
    }
  });

  it('is told in the order in which it happens', () => {
    const round = planRound(7, 1, sessionTimeoutMs);
    expect(roundText(round).split('\n')).toHaveLength(round.faults.length + 1);
    for (const { faults } of rounds(7)) {
      const starts = faults.map(({ afterMs }) => afterMs);
      expect(starts).toEqual(starts.toSorted((one, other) => one - other));
    }
  });
});
