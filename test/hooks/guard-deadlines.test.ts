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
import type { Script } from './simulated-machine.js';

/** The last kill is 50 ms before the end of the lease. */
const lastKillAtMs = 1_950;
const leftMs = lastKillAtMs - lease.releaseAtMs;

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

  it('that has ended already kills everything at once, and the release still runs', async () => {
    const { machine, guard, signals, ended } = await leading({ takeover: leavesStubborn });
    guard.handle({ type: 'lease', leadership: 1, releaseAtMs: 100, endsAtMs: 200 });
    await machine.run(510);
    expect(signals[0]).toBe('500: SIGKILL takeover');
    expect(machine.groups.size).toBeLessThan(2);
    await machine.run(600);
    expect(machine.started).toEqual(['takeover', 'release']);
    expect(ended()).toMatchObject({ outcome: { result: 'ok', provenDead: true } });
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
    expect(machine.groups.size).toBe(0);
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

describe('the death of the agent', () => {
  it('releases at once, and is idle only when no process is left', async () => {
    const { machine, guard, idles } = await leading({ takeover: leavesStubborn });
    const before = idles();
    guard.agentGone('the agent died');
    await machine.run(lastKillAtMs - 1);
    expect(machine.started).toEqual(['takeover', 'release']);
    expect(idles()).toBe(before);
    await machine.run(lease.endsAtMs);
    expect(idles()).toBeGreaterThan(before);
    expect(machine.groups.size).toBe(0);
  });

  it('stops a hook that belongs to no leadership', async () => {
    const { machine, guard, signals, outcomeOf } = guarding({ fence: stubborn });
    guard.handle({ type: 'run', request: request('fence', { graceMs: 100 }) });
    await machine.run(50);
    guard.agentGone('the agent died');
    await machine.run(1_000);
    expect(signals).toEqual(['50: SIGTERM fence', '150: SIGKILL fence']);
    expect(outcomeOf(4)).toMatchObject({ result: 'aborted', provenDead: true });
  });
});
