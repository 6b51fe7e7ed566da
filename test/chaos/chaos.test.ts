/** Runs short fixed plans of chaos. docs/reports/chaos.md describes longer runs. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { zooKeeperKind } from '../support/ensemble.js';
import { oncePerRun } from '../support/once-per-run.js';
import { check, type Verdict } from './check/check.js';
import { reportText } from './check/report.js';
import { planRound, type Round } from './plan.js';
import { run } from './run.js';
import { defaultScale, type Scale } from './scale.js';

/** Runs the first rounds of a seed's plan and checks the records of the run. */
async function verdictOf(seed: number, count: number, scale: Scale): Promise<Verdict> {
  const rounds = Array.from({ length: count }, (_, index) => planRound(seed, index + 1, scale));
  return verdictOn(rounds, seed, scale);
}

async function verdictOn(rounds: readonly Round[], seed: number, scale: Scale): Promise<Verdict> {
  const main = await oncePerRun('build');
  const dir = await mkdtemp(join(tmpdir(), 'petrel-chaos-'));
  const { signal } = new AbortController();
  const say = (text: string) => process.stdout.write(`${text}\n`);
  const lastsMs = Number.POSITIVE_INFINITY;
  const records = await run({ main, dir, seed, scale, rounds, lastsMs, signal, say });
  const verdict = check(records);
  say(reportText(verdict, records));
  expect(verdict.violations).toEqual([]);
  await rm(dir, { recursive: true });
  return verdict;
}

describe.skipIf(zooKeeperKind !== 'java')('five agents on three servers, to which everything happens', () => {
  it('never work two at once, and have a leader in time', async () => {
    /**
     * This plan kills the leader's agent, its guardian, both together, and the ensemble's leader. It also
     * cuts a leader off and slows takeovers.
     */
    const verdict = await verdictOf(839258, 3, defaultScale);
    expect(verdict.takeovers).toBeGreaterThan(2);
  });

  it('never work two at once in one of two slots, or one in both, and have two leaders in time', async () => {
    /**
     * This plan kills the leader of the second slot, cuts it off, and makes a takeover of that slot hang. It
     * also sets the number of leaders to one and back to two.
     */
    const verdict = await verdictOf(564265, 2, { ...defaultScale, leaders: 2 });
    expect(verdict.readyInSlot[1]).toBeGreaterThan(1);
  });

  it('end a workload whatever states its processes are in, answer in a crowd, and elect under a quota', async () => {
    const rounds: Round[] = [
      {
        round: 1,
        faults: [
          { kind: 'quota', afterMs: 0, lastsMs: 15_000 },
          { kind: 'odd-workload', how: 'no main thread', afterMs: 500, lastsMs: 3_000 },
          { kind: 'kill-agent', on: 'leader', afterMs: 13_000, lastsMs: 0 },
        ],
        calmMs: 7_000,
      },
      {
        round: 2,
        faults: [{ kind: 'silent-readers', count: 2_000, afterMs: 0, lastsMs: 4_000 }],
        calmMs: 500,
      },
      {
        round: 3,
        faults: [{ kind: 'odd-workload', how: 'many states', afterMs: 0, lastsMs: 2_000 }],
        calmMs: 500,
      },
    ];
    const verdict = await verdictOn(rounds, 839258, defaultScale);
    expect(verdict.takeovers).toBeGreaterThan(2);
    expect(verdict.faults).toHaveLength(5);
  });
});
