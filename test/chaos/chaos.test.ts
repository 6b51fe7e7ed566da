/** A short chaos whose plan is always the same; longer ones are in docs/chaos.md. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { zooKeeperKind } from '../support/ensemble.js';
import { oncePerRun } from '../support/once-per-run.js';
import { check } from './check/check.js';
import { reportText } from './check/report.js';
import { planRound } from './plan.js';
import { run } from './run.js';
import { sessionTimeoutMs } from './world.js';

/** The leader's agent, its guardian, both at once, and the ensemble's leader killed; a leader cut off; slow takeovers. */
const seed = 839258;
const rounds = [1, 2, 3].map((round) => planRound(seed, round, sessionTimeoutMs));

describe.skipIf(zooKeeperKind !== 'java')('five agents on three servers, to which everything happens', () => {
  it('never work two at once, and have a leader in time', async () => {
    const main = await oncePerRun('build');
    const dir = await mkdtemp(join(tmpdir(), 'petrel-chaos-'));
    const { signal } = new AbortController();
    const say = (text: string) => process.stdout.write(`${text}\n`);
    const records = await run({ main, dir, seed, rounds, lastsMs: Number.POSITIVE_INFINITY, signal, say });
    const verdict = check(records);
    say(reportText(verdict, records));
    expect(verdict.violations).toEqual([]);
    expect(verdict.takeovers).toBeGreaterThan(2);
    await rm(dir, { recursive: true });
  }, 240_000);
});
