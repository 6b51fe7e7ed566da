import { describe, expect, it } from 'vitest';
import { Guard } from '../../src/hooks/guard.js';
import { type FromSupervisor, type LeadershipLease, unasked } from '../../src/hooks/messages.js';
import { forever, guarding, leading, lease, quick, request, stubborn } from './guard-record.js';
import { SimulatedMachine } from './simulated-machine.js';

it('the lease of another leadership does not keep this one going', async () => {
  const machine = new SimulatedMachine(() => {
    throw new Error('nothing is to be started');
  });
  const said: FromSupervisor[] = [];
  const listener = { post: (message: FromSupervisor) => said.push(message), idle: () => {} };
  const guard = new Guard(listener, machine.seenBy(machine.newProcess('guardian')), () => {
    return { leadership: 1, releaseAtMs: 9_000, endsAtMs: 10_000 };
  });
  guard.handle({ type: 'lease', leadership: 2, releaseAtMs: 500, endsAtMs: 1_000 });
  await machine.run(499);
  expect(said).toEqual([]);
  await machine.run(1_000);
  expect(said).toMatchObject([{ type: 'lease-ended', leadership: 2 }]);
});

describe('a lease that the agent shares in memory', () => {
  it('is looked up before a release would begin', async () => {
    let noted: LeadershipLease | null = lease;
    const { machine } = await leading({}, () => noted);
    noted = { leadership: 1, releaseAtMs: 1_600, endsAtMs: 2_600 };
    await machine.run(1_599);
    expect(machine.started).toEqual(['takeover']);
    await machine.run(1_700);
    expect(machine.started).toEqual(['takeover', 'release']);
  });

  it('that ended sooner decides when the last process is killed', async () => {
    let noted: LeadershipLease | null = lease;
    const { machine, guard, signals } = await leading({ release: stubborn }, () => noted);
    noted = { leadership: 1, releaseAtMs: 500, endsAtMs: 750 };
    guard.agentGone('the agent died');
    await machine.run(5_000);
    // The last kill is at 700, so 200 ms are left.
    expect(signals.slice(0, 2)).toEqual(['620: SIGTERM release', '660: SIGKILL release']);
  });
});

describe('requests', () => {
  it('are performed one after the other', async () => {
    const { machine, guard, outcomeOf } = guarding({ prepare: { ...quick, runsMs: 100 } });
    guard.handle({ type: 'run', request: request('prepare') });
    guard.handle({ type: 'run', request: request('fence') });
    await machine.run(99);
    expect(machine.started).toEqual(['prepare']);
    await machine.run(300);
    expect(machine.started).toEqual(['prepare', 'fence']);
    expect(outcomeOf(4)).toMatchObject({ result: 'ok', provenDead: true });
  });

  it('that are aborted before they run are not run', async () => {
    const { machine, guard, outcomeOf } = guarding({ prepare: { ...quick, runsMs: 100 } });
    guard.handle({ type: 'run', request: request('prepare') });
    guard.handle({ type: 'run', request: request('fence') });
    guard.handle({ type: 'abort', id: 4, reason: 'the node is gone', killAtMs: null });
    await machine.run(300);
    expect(machine.started).toEqual(['prepare']);
    expect(outcomeOf(4)).toMatchObject({ result: 'aborted', error: 'not started: the node is gone' });
    expect(outcomeOf(1)).toMatchObject({ result: 'ok' });
  });

  it('that are aborted while they run are killed at the time that the agent sets', async () => {
    const { machine, guard, signals } = guarding({ prepare: stubborn });
    guard.handle({ type: 'run', request: request('prepare') });
    await machine.run(100);
    guard.handle({ type: 'abort', id: 1, reason: 'another is elected', killAtMs: 250 });
    await machine.run(1_000);
    expect(signals.slice(0, 2)).toEqual(['100: SIGTERM prepare', '250: SIGKILL prepare']);
  });

  it('without a command are performed', async () => {
    const { machine, guard, outcomeOf } = guarding();
    guard.handle({ type: 'run', request: request('release', { command: null }) });
    await machine.run(100);
    expect(outcomeOf(3)).toMatchObject({ result: 'ok', command: null, provenDead: true });
  });

  it('for a takeover wait for the processes of an earlier leadership, and fail if these do not die', async () => {
    const undying = { ...quick, workload: { ...stubborn, diesInMs: forever } };
    const { machine, guard, outcomeOf } = await leading({ takeover: undying });
    guard.handle({ type: 'run', request: request('takeover', { id: 5, leadership: 2, graceMs: 100 }) });
    await machine.run(10_000);
    expect(machine.started).toEqual(['takeover']);
    expect(outcomeOf(5)).toMatchObject({
      result: 'failed',
      error: 'not started: processes of an earlier leadership are still running',
    });
  });

  it('for a takeover are refused once the guard has ended the leadership', async () => {
    const { machine, guard, outcomeOf } = await leading();
    await machine.run(1_500);
    guard.handle({ type: 'run', request: request('takeover', { id: 5 }) });
    await machine.run(1_600);
    expect(machine.started).toEqual(['takeover', 'release']);
    expect(outcomeOf(5)).toMatchObject({
      result: 'aborted',
      error: 'not started: the lease was not renewed in time',
    });
  });
});

describe('a foreground workload', () => {
  const takeover = request('takeover', { foreground: true, timeoutMs: 100 });

  async function serving(script = stubborn) {
    const on = guarding({ takeover: script });
    on.guard.handle({ type: 'guard', release: request('release', { id: unasked }), begun: false });
    on.guard.handle({ type: 'lease', leadership: 1, releaseAtMs: 10_000, endsAtMs: 20_000 });
    on.guard.handle({ type: 'run', request: takeover });
    await on.machine.run(500);
    return { ...on, workloadEnds: () => on.said.filter(({ type }) => type === 'workload-ended') };
  }

  it('has taken over as soon as it runs, and has no time limit', async () => {
    const { guard, machine, outcomeOf } = await serving();
    expect(outcomeOf(2)).toMatchObject({ result: 'ok', command: 'takeover', provenDead: false });
    await machine.run(5_000);
    expect(machine.groups.size).toBe(1);
    expect(guard.hasRunWorkload).toBe(true);
  });

  it('that ends on its own is reported once', async () => {
    const { said, workloadEnds } = await serving({ ...quick, runsMs: 300, code: 3 });
    expect(workloadEnds()).toMatchObject([
      { leadership: 1, outcome: { result: 'failed', exitCode: 3, provenDead: true } },
    ]);
    expect(said.filter(({ type }) => type === 'gone')).toHaveLength(1);
  });

  it('that is stopped by the release is not reported, but the release says how it ended', async () => {
    const { guard, machine, outcomeOf, workloadEnds } = await serving();
    guard.handle({ type: 'run', request: request('release', { command: null, graceMs: 100 }) });
    await machine.run(1_000);
    expect(workloadEnds()).toEqual([]);
    expect(outcomeOf(3)).toMatchObject({ result: 'ok', signal: 'SIGKILL', command: 'takeover' });
  });

  it('that is stopped at the end of its lease is not reported', async () => {
    const { machine, ended, workloadEnds } = await serving();
    await machine.run(30_000);
    expect(workloadEnds()).toEqual([]);
    expect(ended()).toMatchObject({ outcome: { result: 'ok', signal: 'SIGKILL', provenDead: true } });
  });
});

it('the log context names the leadership, and why it is ending', async () => {
  const { machine, guard } = guarding({ release: stubborn });
  expect(guard.logContext).toBeNull();
  guard.handle({ type: 'guard', release: request('release', { id: unasked, slot: 2 }), begun: false });
  expect(guard.logContext).toBeNull();
  guard.handle({ type: 'lease', ...lease });
  guard.handle({ type: 'run', request: request('takeover') });
  await machine.run(500);
  expect(guard.logContext).toEqual({ slot: 2, term: 3, ending: null });
  expect(guard.hasRunWorkload).toBe(false);
  await machine.run(1_100);
  expect(guard.logContext).toEqual({ slot: 2, term: 3, ending: 'the lease was not renewed in time' });
});
