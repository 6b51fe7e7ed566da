/**
 * An undisturbed elector writes at most one decision for any state of the group, and then nothing more. If
 * the nodes cooperate, the group ends with one eligible leader, which keeps its leadership. A seed determines
 * each group, and a failure names it.
 */
import { describe, expect, it } from 'vitest';
import type { Bench } from './bench.js';
import { ineligibleReasons } from './builders.js';
import { drawGroup } from './draw.js';

const groups = 500;
/** Number of these groups that run for an hour and a half. */
const lives = 250;

function writesIn(bench: Bench): number {
  return bench.settle().filter(({ do: verb }) => verb === 'write-elected').length;
}

/** Makes the nodes immediately do what is required of them. Returns whether there was anything to do. */
function cooperate(bench: Bench): boolean {
  const { node, current, elected } = bench;
  const chosen = bench.members.find((one) => one.node === node);
  const mayLead =
    chosen?.value != null &&
    !chosen.value.draining &&
    chosen.value.lastFailure?.electedVersion !== elected.version &&
    !elected.value?.failures.some((one) => one.node === node && one.until !== null);
  if (current !== null && (!mayLead || current.owner !== chosen.owner)) bench.current = null;
  else if (!mayLead) return false;
  else if (current === null) bench.claim();
  else if (current.value?.status === 'READY' && current.value.term === bench.term) return false;
  else bench.ready();
  return true;
}

/** Lets time pass while the nodes cooperate. Returns the number of decisions that were written. */
function live(bench: Bench, ms: number, seed: number): number {
  const untilMs = bench.nowMs + ms;
  let writes = 0;
  for (;;) {
    writes += writesIn(bench);
    if (writes > 40) throw new Error(`seed ${seed}: leadership goes round and round: ${bench.reason}`);
    if (cooperate(bench)) continue;
    const { recheckInMs } = bench.round();
    if (recheckInMs === null || bench.nowMs + recheckInMs > untilMs) break;
    bench.nowMs += recheckInMs;
  }
  bench.nowMs = untilMs;
  return writes;
}

describe('an elector that nothing disturbs', () => {
  it(`writes one decision at most, and then none, in ${groups} groups`, () => {
    for (let seed = 1; seed <= groups; seed += 1) {
      const bench = drawGroup(seed);
      const before = bench.term;
      const writes = writesIn(bench);
      expect(writes, `seed ${seed}: ${bench.reason}`).toBeLessThanOrEqual(1);
      expect(writesIn(bench), `seed ${seed}, again`).toBe(0);
      expect(bench.term, `seed ${seed}`).toBeGreaterThanOrEqual(before);
      expect(bench.reason, `seed ${seed}`).not.toBe('');
      const { choice, recheckInMs } = bench.round();
      expect(choice?.reason, `seed ${seed}`).toMatch(/\w/);
      expect(recheckInMs === null || (Number.isInteger(recheckInMs) && recheckInMs > 0), `seed ${seed}`).toBe(
        true,
      );
    }
  });

  it(`decides the same in any order of members, in ${groups} groups`, () => {
    for (let seed = 1; seed <= groups; seed += 1) {
      const bench = drawGroup(seed);
      const other = drawGroup(seed);
      other.members = other.members.toReversed();
      bench.settle();
      other.settle();
      expect(other.elected, `seed ${seed}`).toEqual(bench.elected);
    }
  });
});

describe('with nodes that do their part', () => {
  it(`somebody fit leads in the end, and nothing is written from then on, in ${lives} groups`, () => {
    for (let seed = 1; seed <= lives; seed += 1) {
      const bench = drawGroup(seed);
      live(bench, 2_700_000, seed);
      expect(live(bench, 2_700_000, seed), `seed ${seed}: ${bench.reason}`).toBe(0);
      const { lastConfig, members, current, epochMs } = bench;
      const eligible = members.filter((one) => ineligibleReasons(one, lastConfig, [], epochMs).length === 0);
      if (eligible.length === 0 || lastConfig.paused !== null) continue;
      expect(current?.value?.status, `seed ${seed}: ${bench.reason}`).toBe('READY');
      expect(current?.value?.node, `seed ${seed}`).toBe(bench.node);
      const { choice } = bench.round();
      const isMoved =
        lastConfig.failback !== 'manual' &&
        bench.elected.value?.requested === null &&
        choice?.failures.length === 0;
      const stands = choice?.ranking.find(({ node }) => node === bench.node)?.grade;
      if (isMoved) expect(stands, `seed ${seed}: ${choice?.reason}`).toBe(0);
      const isOverridden = bench.elected.value?.requested?.overridden.length !== 0;
      expect(eligible.some((one) => one.node === bench.node) || isOverridden, `seed ${seed}`).toBe(true);
    }
  });
});
