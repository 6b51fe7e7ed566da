/**
 * Fault V1 (docs/reports/faults.md): a process whose main thread has ended looks like a zombie while its
 * other threads still run. Uses real processes.
 */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { isOtherAlive } from '../../src/agent/session/process-life.js';
import { context } from './hook-context.js';
import { bench, eventually, machine } from './support.js';

const at = bench();
const program = fileURLToPath(new URL('fixtures/headless.py', import.meta.url));
const hasPython = spawnSync('python3', ['--version']).status === 0;
if (!hasPython) console.warn('SKIPPED: V1 needs python3 for a process whose main thread has ended');

/** A takeover that leaves a process without a main thread running. */
const takeover = `PETREL_TEST_FOUND=$DIR python3 ${program} $DIR/log & echo $! > $DIR/pid; until [ -s $DIR/log ]; do sleep 0.02; done`;
const release = context('release', { timeoutMs: 10_000, graceMs: 100 });

const stateOf = (pid: number) => readFileSync(`/proc/${pid}/stat`, 'latin1').replace(/^.*\) (.).*/s, '$1');

/** Returns the number of threads of a process, or 0 if the process does not exist. */
function threadsOf(pid: number): number {
  try {
    return readdirSync(`/proc/${pid}/task`).length;
  } catch {
    return 0;
  }
}

async function leading() {
  const workload = at().workload({ onTakeover: takeover });
  const outcome = await workload.run(context('takeover', { timeoutMs: 30_000 })).outcome;
  expect(outcome).toMatchObject({ result: 'ok' });
  const pid = Number(at().lines('pid')[0]);
  await eventually(() => [stateOf(pid), threadsOf(pid)]).toEqual(['Z', 2]);
  return { workload, pid, outcome };
}

describe.skipIf(!hasPython)('V1 a process whose main thread has ended', () => {
  it('is killed by the release, which proves it dead only then', async () => {
    const { workload, pid, outcome } = await leading();
    expect(outcome).toMatchObject({ provenDead: false });
    expect(await workload.run(release).outcome).toMatchObject({ result: 'ok', provenDead: true });
    expect(threadsOf(pid)).toBeLessThan(2);
  });

  it('is killed when the leadership ends without a release', async () => {
    const { workload, pid } = await leading();
    workload.endLeadership();
    await eventually(() => threadsOf(pid)).toBeLessThan(2);
  });

  it('is found by what it was started with, and counts as an agent that lives', async () => {
    const { workload, pid } = await leading();
    const { processes } = machine;
    const [pgid = 0] = processes.groupsWith('PETREL_TEST_FOUND', at().directory) ?? [];
    expect(processes.groupIsAlive(pgid)).toBe(true);
    expect(isOtherAlive({ pid, startedAt: null })).toBe(true);
    workload.endLeadership();
    await eventually(() => isOtherAlive({ pid, startedAt: null })).toBe(false);
    expect(threadsOf(pid)).toBeLessThan(2);
  });
});
