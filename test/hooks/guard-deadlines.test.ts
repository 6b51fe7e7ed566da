/**
 * Tests the instants at which the guard stops and kills what is left of a leadership, on a simulated machine
 * whose processes ignore SIGTERM.
 */
import { describe, expect, it } from 'vitest';
import { unasked } from '../../src/hooks/messages.js';
import {
  forever,
  guarding,
  leading,
  lease,
  leavesStubborn,
  quick,
  request,
  stubborn,
} from './guard-record.js';
import type { Script, SimulatedMachine } from './simulated-machine.js';

/** The last kill is 50 ms before the end of the lease. */
const lastKillAtMs = 1_950;
const leftMs = lastKillAtMs - lease.releaseAtMs;

/** Returns the program of every process group that is still alive. */
function programsIn(machine: SimulatedMachine): string[] {
  return [...machine.groups.values()].map(({ command }) => command.program);
}

describe('a lease that is not renewed', () => {
  it('is released at its deadline, and not before', async () => {
    const { machine, said } = await leading();
    await machine.run(999);
    expect(machine.started).toEqual(['takeover']);
    await machine.run(1_100);
    expect(machine.started).toEqual(['takeover', 'release']);
    expect(said.at(-1)).toMatchObject({
      type: 'lease-ended',
      leadership: 1,
      outcome: { result: 'ok', provenDead: true },
    });
  });

  it('gives the release 60 % of the time before the last kill, and kills it after 80 %', async () => {
    const { machine, signals, ended } = await leading({ release: stubborn });
    await machine.run(3_000);
    expect(signals.slice(0, 2)).toEqual([
      `${lease.releaseAtMs + leftMs * 0.6}: SIGTERM release`,
      `${lease.releaseAtMs + leftMs * 0.8}: SIGKILL release`,
    ]);
    expect(ended()).toMatchObject({ outcome: { result: 'timed-out', provenDead: true } });
  });

  it('kills a workload that ignores SIGTERM 50 ms before the lease ends', async () => {
    const { machine, signals, ended } = await leading({ takeover: leavesStubborn });
    await machine.run(lastKillAtMs - 1);
    expect(signals).toEqual([expect.stringMatching(/: SIGTERM takeover$/)]);
    expect(machine.groups.size).toBe(1);
    await machine.run(lease.endsAtMs);
    expect(machine.groups.size).toBe(0);
    expect(ended()).toMatchObject({ outcome: { result: 'ok', provenDead: true } });
  });

  it('kills the workload 50 ms before the lease ends, even if the release cannot be killed', async () => {
    const undying = { ...stubborn, diesInMs: forever };
    const { machine } = await leading({ takeover: leavesStubborn, release: undying });
    await machine.run(lastKillAtMs - 1);
    expect(programsIn(machine)).toEqual(['takeover', 'release']);
    await machine.run(lastKillAtMs);
    expect(programsIn(machine)).toEqual(['release']);
  });

  it('kills earlier if the time for the release is short', async () => {
    const on = await leading({ takeover: leavesStubborn });
    on.guard.handle({ type: 'lease', leadership: 1, releaseAtMs: 1_000, endsAtMs: 1_040 });
    await on.machine.run(1_029);
    expect(on.machine.groups.size).toBe(1);
    await on.machine.run(1_031);
    expect(on.machine.groups.size).toBe(0);
  });

  it('stops a takeover that is still running at once, and kills it after a third of the time', async () => {
    const { machine, signals, outcomeOf } = await leading({ takeover: stubborn });
    await machine.run(3_000);
    expect(signals.slice(0, 2)).toEqual([
      '1000: SIGTERM takeover',
      `${Math.round(lease.releaseAtMs + leftMs / 3)}: SIGKILL takeover`,
    ]);
    expect(machine.started).toEqual(['takeover', 'release']);
    expect(outcomeOf(2)).toMatchObject({ result: 'aborted', provenDead: true });
  });

  it('does not report an aborted run before the end of the leadership', async () => {
    const { machine, said } = await leading({ takeover: stubborn });
    await machine.run(3_000);
    const reports = said.filter(({ type }) => type === 'outcome' || type === 'lease-ended');
    expect(reports.map(({ type }) => type)).toEqual(['lease-ended', 'outcome']);
  });

  it('is renewed by any later lease before its deadline', async () => {
    const { machine, guard } = await leading();
    guard.handle({ type: 'lease', leadership: 1, releaseAtMs: 1_500, endsAtMs: 2_500 });
    await machine.run(1_499);
    expect(machine.started).toEqual(['takeover']);
    await machine.run(1_600);
    expect(machine.started).toEqual(['takeover', 'release']);
  });

  it('is not revived once its release has begun, and a later end postpones no kill', async () => {
    const { machine, guard, signals } = await leading({ release: stubborn });
    await machine.run(1_100);
    guard.handle({ type: 'lease', leadership: 1, releaseAtMs: 8_000, endsAtMs: 9_000 });
    await machine.run(3_000);
    expect(machine.groups.size).toBe(0);
    expect(signals[1]).toBe(`${lease.releaseAtMs + leftMs * 0.8}: SIGKILL release`);
  });

  it('that turns out to end sooner brings the kills forward', async () => {
    const { machine, guard, signals } = await leading({ release: stubborn });
    await machine.run(1_100);
    guard.handle({ type: 'lease', leadership: 1, releaseAtMs: 400, endsAtMs: 1_350 });
    await machine.run(3_000);
    // The last kill is at 1300, so 200 ms are left.
    expect(signals.slice(0, 2)).toEqual(['1220: SIGTERM release', '1260: SIGKILL release']);
  });

  it('that turns out to end sooner brings the last kill forward', async () => {
    const undying = { ...stubborn, diesInMs: forever };
    const { machine, guard } = await leading({ takeover: leavesStubborn, release: undying });
    await machine.run(1_100);
    guard.handle({ type: 'lease', leadership: 1, releaseAtMs: 400, endsAtMs: 1_350 });
    await machine.run(1_299);
    expect(programsIn(machine)).toEqual(['takeover', 'release']);
    await machine.run(1_300);
    expect(programsIn(machine)).toEqual(['release']);
  });

  it('that turns out to end sooner leaves a takeover that is being stopped until the last kill', async () => {
    const { machine, guard, signals } = await leading({ takeover: stubborn });
    await machine.run(1_100);
    guard.handle({ type: 'lease', leadership: 1, releaseAtMs: 400, endsAtMs: 1_350 });
    await machine.run(3_000);
    expect(signals.slice(0, 2)).toEqual(['1000: SIGTERM takeover', '1300: SIGKILL takeover']);
  });

  it('that ends at the same time, but is due later, postpones no kill', async () => {
    const { machine, guard } = await leading({ takeover: leavesStubborn });
    await machine.run(1_100);
    guard.handle({ type: 'lease', leadership: 1, releaseAtMs: 1_990, endsAtMs: lease.endsAtMs });
    await machine.run(lastKillAtMs + 1);
    expect(programsIn(machine)).toEqual([]);
  });

  it('that turns out to end sooner stops no hook that runs after the leadership has ended', async () => {
    const { machine, guard, outcomeOf, ended } = guarding({ fence: { ...quick, runsMs: 1_000 } });
    guard.handle({ type: 'lease', ...lease });
    await machine.run(1_100);
    expect(ended()).toMatchObject({ leadership: 1 });
    guard.handle({ type: 'lease', leadership: 1, releaseAtMs: 900, endsAtMs: 1_500 });
    guard.handle({ type: 'run', request: request('fence') });
    await machine.run(3_000);
    expect(outcomeOf(4)).toMatchObject({ result: 'ok' });
  });

  it('ends a leadership in its own time, even if the agent says meanwhile that it is over', async () => {
    const release = { ...quick, runsMs: 300 };
    const { machine, guard, ended } = await leading({ takeover: leavesStubborn, release });
    await machine.run(1_100);
    guard.handle({ type: 'end-leadership', leadership: 1 });
    await machine.run(1_299);
    expect(programsIn(machine)).toEqual(['takeover', 'release']);
    await machine.run(lease.endsAtMs);
    expect(programsIn(machine)).toEqual([]);
    expect(ended()).toMatchObject({ outcome: { result: 'ok' }, leaseLeftMs: expect.any(Number) });
    expect(guard.logContext).not.toBeNull();
    guard.handle({ type: 'end-leadership', leadership: 1 });
    expect(guard.logContext).toBeNull();
  });

  describe.each([
    ['ended some time ago', 200],
    ['ends so soon that its last kill is due now', 550],
  ])('that %s', (_, endsAtMs) => {
    const overdue = { type: 'lease', leadership: 1, releaseAtMs: 100, endsAtMs } as const;

    it('kills everything at once, and the release still runs', async () => {
      const release = { ...quick, runsMs: 300 };
      const { machine, guard, signals, ended } = await leading({ takeover: leavesStubborn, release });
      guard.handle(overdue);
      await machine.run(510);
      expect(signals[0]).toBe('500: SIGKILL takeover');
      expect(programsIn(machine)).toEqual(['release']);
      await machine.run(900);
      expect(machine.started).toEqual(['takeover', 'release']);
      expect(ended()).toMatchObject({ outcome: { result: 'ok', provenDead: true } });
    });

    it('kills everything at once except a release that is running', async () => {
      const release = { ...quick, runsMs: 300 };
      const { machine, guard, signals, outcomeOf } = await leading({ takeover: leavesStubborn, release });
      guard.handle({ type: 'run', request: request('release') });
      guard.handle(overdue);
      await machine.run(510);
      expect(signals).toContain('500: SIGKILL takeover');
      expect(programsIn(machine)).toEqual(['release']);
      await machine.run(900);
      expect(outcomeOf(3)).toMatchObject({ result: 'ok', provenDead: true });
    });

    it('kills everything at once while a release without a command waits for the workload', async () => {
      const { machine, guard, signals, outcomeOf } = await leading({ takeover: leavesStubborn });
      guard.handle({ type: 'run', request: request('release', { command: null }) });
      guard.handle(overdue);
      await machine.run(600);
      expect(signals).toContain('500: SIGKILL takeover');
      expect(outcomeOf(3)).toMatchObject({ result: 'ok', provenDead: true });
    });
  });

  it('before the takeover has begun: reports the end, and runs nothing', async () => {
    const { machine, guard, said } = guarding();
    guard.handle({ type: 'guard', release: request('release', { id: unasked }), begun: false });
    guard.handle({ type: 'lease', ...lease });
    await machine.run(3_000);
    expect(machine.started).toEqual([]);
    expect(said).toEqual([
      expect.objectContaining({ type: 'lease-ended', leadership: 1, leaseLeftMs: 1_000 }),
    ]);
  });
});

describe('a release that is requested', () => {
  it('stops a running takeover, and ends the workload before it is reported', async () => {
    const { machine, guard, outcomeOf } = await leading({ takeover: leavesStubborn });
    guard.handle({ type: 'run', request: request('release', { graceMs: 100 }) });
    await machine.run(590);
    expect(outcomeOf(3)).toBeUndefined();
    await machine.run(900);
    expect(outcomeOf(3)).toMatchObject({ result: 'ok', provenDead: true });
    expect(outcomeOf(3)?.durationMs).toBeGreaterThanOrEqual(100);
    expect(outcomeOf(3)?.durationMs).toBeLessThan(400);
    expect(machine.groups.size).toBe(0);
  });

  it('begins at once, and says why it stopped a takeover', async () => {
    const { machine, guard, outcomeOf } = await leading();
    guard.handle({ type: 'run', request: request('release') });
    expect(machine.started).toEqual(['takeover', 'release']);
    const other = await leading({ takeover: { ...stubborn, stopsInMs: 10 } });
    other.guard.handle({ type: 'run', request: request('release') });
    await other.machine.run(600);
    expect(other.outcomeOf(2)).toMatchObject({
      result: 'aborted',
      error: 'onTakeover was aborted: a release started first',
    });
    expect(outcomeOf(2)).toMatchObject({ result: 'ok' });
  });

  it.each([
    ['a hook that belongs to no leadership', request('fence', { graceMs: 100 }), 1],
    ['the takeover of an earlier leadership', request('takeover', { graceMs: 100 }), 2],
  ])('runs after %s, even if its lease is overdue', async (_, first, leadership) => {
    const { machine, guard, outcomeOf } = guarding({ fence: stubborn, takeover: stubborn });
    guard.handle({ type: 'run', request: first });
    await machine.run(500);
    guard.handle({ type: 'lease', leadership, releaseAtMs: 100, endsAtMs: 60_000 });
    guard.handle({ type: 'run', request: request('release', { id: 6, leadership }) });
    await machine.run(1_000);
    expect(machine.started).toEqual([first.phase, 'release']);
    expect(outcomeOf(6)).toMatchObject({ result: 'ok', command: 'release' });
  });

  it('is hurried when the lease runs out meanwhile, and is not run twice', async () => {
    const { machine, guard, signals, outcomeOf, ended } = await leading({ release: stubborn });
    guard.handle({ type: 'run', request: request('release') });
    await machine.run(3_000);
    expect(machine.started).toEqual(['takeover', 'release']);
    expect(signals[0]).toBe(`${lease.releaseAtMs + leftMs * 0.6}: SIGTERM release`);
    expect(outcomeOf(3)).toMatchObject({ result: 'timed-out', provenDead: true });
    expect(ended()).toBeUndefined();
  });

  it('that still waits for a takeover when the lease runs out is not run twice', async () => {
    const { machine, guard, outcomeOf, ended } = await leading({ takeover: stubborn });
    guard.handle({ type: 'run', request: request('release') });
    await machine.run(3_000);
    expect(machine.started).toEqual(['takeover', 'release']);
    expect(outcomeOf(3)).toMatchObject({ result: 'ok', provenDead: true });
    expect(ended()).toBeUndefined();
  });

  it('without a command leaves the workload until the last kill, if its grace time lasts that long', async () => {
    const { machine, guard, outcomeOf } = await leading({ takeover: leavesStubborn });
    guard.handle({ type: 'run', request: request('release', { command: null }) });
    await machine.run(lastKillAtMs - 1);
    expect(programsIn(machine)).toEqual(['takeover']);
    await machine.run(lease.endsAtMs);
    expect(outcomeOf(3)).toMatchObject({ result: 'ok', provenDead: true });
  });

  it('counts as requested even if its lease is overdue', async () => {
    const { machine, guard, outcomeOf, ended } = await leading();
    guard.handle({ type: 'lease', leadership: 1, releaseAtMs: 100, endsAtMs: 60_000 });
    guard.handle({ type: 'run', request: request('release') });
    await machine.run(1_000);
    expect(machine.started).toEqual(['takeover', 'release']);
    expect(outcomeOf(3)).toMatchObject({ result: 'ok', command: 'release' });
    expect(ended()).toBeUndefined();
  });

  it('gets the outcome of the release that the guard has begun', async () => {
    const { machine, guard, outcomeOf } = await leading({ release: { ...quick, runsMs: 300 } });
    await machine.run(1_100);
    guard.handle({ type: 'run', request: request('release') });
    await machine.run(3_000);
    expect(machine.started).toEqual(['takeover', 'release']);
    expect(outcomeOf(3)).toMatchObject({ result: 'ok', command: 'release', provenDead: true });
  });

  it('of an earlier leadership is refused', async () => {
    const { machine, guard, outcomeOf } = await leading();
    guard.handle({ type: 'lease', leadership: 2, releaseAtMs: 5_000, endsAtMs: 6_000 });
    guard.handle({ type: 'run', request: request('release') });
    await machine.run(700);
    expect(outcomeOf(3)).toMatchObject({ result: 'aborted', error: 'not started: the leadership has ended' });
    expect(machine.started).toEqual(['takeover']);
    guard.handle({ type: 'run', request: request('takeover', { id: 5, leadership: 2 }) });
    guard.handle({ type: 'run', request: request('release', { id: 6 }) });
    await machine.run(800);
    expect(outcomeOf(6)).toMatchObject({ result: 'aborted' });
    expect(outcomeOf(5)).toMatchObject({ result: 'ok' });
  });

  it('that ends after the next leadership has begun does not end that one', async () => {
    const { machine, guard, ended, outcomeOf } = await leading({ release: { ...quick, runsMs: 300 } });
    guard.handle({ type: 'run', request: request('release') });
    guard.handle({ type: 'lease', leadership: 2, releaseAtMs: 1_500, endsAtMs: 2_500 });
    await machine.run(1_000);
    expect(outcomeOf(3)).toMatchObject({ result: 'ok' });
    await machine.run(1_600);
    expect(ended()).toMatchObject({ leadership: 2 });
  });

  it('fails if a process survives its kill, because nobody else may lead then', async () => {
    const undying: Script = { ...leavesStubborn, workload: { ...stubborn, diesInMs: forever } };
    const { machine, guard, outcomeOf } = await leading({ takeover: undying });
    guard.handle({ type: 'run', request: request('release', { graceMs: 100 }) });
    await machine.run(10_000);
    expect(outcomeOf(3)).toMatchObject({
      result: 'failed',
      provenDead: false,
      error: 'onRelease: processes of the leadership are still running after SIGKILL',
    });
  });

  it('that timed out is reported so, even if a process survives its kill', async () => {
    const undying: Script = { ...leavesStubborn, workload: { ...stubborn, diesInMs: forever } };
    const { machine, guard, outcomeOf } = await leading({ takeover: undying, release: stubborn });
    guard.handle({ type: 'run', request: request('release', { timeoutMs: 100, graceMs: 100 }) });
    await machine.run(10_000);
    expect(outcomeOf(3)).toMatchObject({
      result: 'timed-out',
      provenDead: false,
      error: 'onRelease timed out after 100 ms, and had to be killed',
    });
  });
});

describe('a leadership that is over', () => {
  it('is not released again at the end of its lease', async () => {
    const { machine, guard } = await leading();
    guard.handle({ type: 'end-leadership', leadership: 1 });
    await machine.run(5_000);
    expect(machine.started).toEqual(['takeover']);
  });

  it('leaves no process of its takeover alive', async () => {
    const { machine, guard } = await leading({ takeover: leavesStubborn });
    guard.handle({ type: 'end-leadership', leadership: 1 });
    await machine.run(600);
    expect(machine.groups.size).toBe(0);
  });

  it('leaves none alive when the next one begins', async () => {
    const { machine, guard, outcomeOf } = await leading({ takeover: leavesStubborn });
    guard.handle({ type: 'lease', leadership: 2, releaseAtMs: 5_000, endsAtMs: 6_000 });
    await machine.run(600);
    expect(machine.groups.size).toBe(0);
    guard.handle({ type: 'run', request: request('takeover', { id: 5, leadership: 2 }) });
    await machine.run(1_000);
    expect(outcomeOf(5)).toMatchObject({ result: 'ok', provenDead: false });
    expect(machine.groups.size).toBe(1);
  });
});
