import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { Guard } from '../../src/hooks/guard.js';
import {
  type FromSupervisor,
  type LeadershipLease,
  type ToSupervisor,
  unasked,
} from '../../src/hooks/messages.js';
import type { StartedCommand } from '../../src/ports/processes.js';
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

it('messages about an earlier leadership do not change the current one', async () => {
  const { machine, guard, said } = guarding();
  guard.handle({ type: 'lease', ...lease, leadership: 2 });
  guard.handle({ type: 'guard', release: request('release', { id: unasked }), begun: true });
  guard.handle({ type: 'lease', leadership: 1, releaseAtMs: 100, endsAtMs: 200 });
  guard.handle({ type: 'end-leadership', leadership: 1 });
  await machine.run(lease.releaseAtMs - 1);
  expect(said).toEqual([]);
  await machine.run(lease.endsAtMs);
  expect(said).toMatchObject([{ type: 'lease-ended', leadership: 2 }]);
});

describe('a lease that the agent shares in memory', () => {
  it.each([2_600, lease.endsAtMs])(
    'is looked up before a release would begin (end: %d)',
    async (endsAtMs) => {
      let noted: LeadershipLease | null = lease;
      const { machine } = await leading({}, () => noted);
      noted = { leadership: 1, releaseAtMs: 1_600, endsAtMs };
      await machine.run(1_599);
      expect(machine.started).toEqual(['takeover']);
      await machine.run(1_700);
      expect(machine.started).toEqual(['takeover', 'release']);
    },
  );

  it('limits the release, also if only its end has changed', async () => {
    let noted: LeadershipLease | null = lease;
    const { machine, signals } = await leading({ release: stubborn }, () => noted);
    noted = { ...lease, endsAtMs: 1_500 };
    await machine.run(5_000);
    // The last kill is at 1450, so 450 ms are left.
    expect(signals.slice(0, 2)).toEqual(['1270: SIGTERM release', '1360: SIGKILL release']);
  });

  it('counts even if the agent died before it sent the lease in a message', async () => {
    const noted = { leadership: 1, releaseAtMs: 100, endsAtMs: 350 };
    const { machine, guard, signals } = guarding({ release: stubborn }, () => noted);
    guard.handle({ type: 'guard', release: request('release', { id: unasked }), begun: true });
    guard.agentGone('the agent died');
    await machine.run(5_000);
    // The last kill is at 300.
    expect(signals.slice(0, 2)).toEqual(['180: SIGTERM release', '240: SIGKILL release']);
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

  it('that are aborted before they run are reported at once, and not run', async () => {
    const { machine, guard, outcomeOf } = guarding({ prepare: { ...quick, runsMs: 100 } });
    guard.handle({ type: 'run', request: request('prepare') });
    guard.handle({ type: 'run', request: request('fence') });
    guard.handle({ type: 'abort', id: 4, reason: 'the node is gone', killAtMs: null });
    expect(outcomeOf(4)).toMatchObject({ result: 'aborted', error: 'not started: the node is gone' });
    await machine.run(300);
    expect(machine.started).toEqual(['prepare']);
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

  it('fail if their command cannot be started', async () => {
    const failed: StartedCommand = {
      pgid: null,
      stdout: null,
      stderr: null,
      exit: Promise.resolve({ code: null, signal: null, startError: 'ENOENT' }),
      closed: Promise.resolve(),
    };
    const { machine, guard, said, outcomeOf } = guarding({}, undefined, () => failed);
    guard.handle({ type: 'run', request: request('prepare') });
    await machine.run(100);
    expect(said).toMatchObject([{ type: 'outcome' }]);
    expect(outcomeOf(1)).toMatchObject({
      result: 'failed',
      error: 'onPrepare: program "prepare" not found',
      provenDead: true,
    });
  });

  it('pass on what their command writes, and count the lines that come too fast', async () => {
    const writing: StartedCommand = {
      pgid: 4711,
      stdout: Readable.from(['out\n'.repeat(300)]),
      stderr: null,
      exit: new Promise(() => {}),
      closed: new Promise(() => {}),
    };
    const { machine, guard, said } = guarding({}, undefined, () => writing);
    guard.handle({ type: 'run', request: request('prepare') });
    await machine.run(100);
    await machine.run(200);
    expect(said.filter(({ type }) => type === 'line')).toHaveLength(200);
    expect(said).toContainEqual({ type: 'line', id: 1, stream: 'stdout', text: 'out' });
    expect(said.filter(({ type }) => type === 'left-out')).toEqual([{ type: 'left-out', id: 1, lines: 100 }]);
  });

  it.each<[string, ToSupervisor, string]>([
    ['a later leadership begins', { type: 'lease', ...lease, leadership: 2 }, 'its leadership has ended'],
    ['it is released', { type: 'end-leadership', leadership: 1 }, 'leadership was released'],
  ])('for a takeover are dropped if, before they run, %s', async (_, message, why) => {
    const { machine, guard, outcomeOf } = guarding({ prepare: { ...quick, runsMs: 100 } });
    guard.handle({ type: 'run', request: request('prepare') });
    guard.handle({ type: 'run', request: request('takeover') });
    guard.handle({ type: 'run', request: request('fence') });
    await machine.run(50);
    guard.handle(message);
    await machine.run(500);
    expect(machine.started).toEqual(['prepare', 'fence']);
    expect(outcomeOf(2)).toMatchObject({ result: 'aborted', error: `not started: ${why}` });
    expect(outcomeOf(1)).toMatchObject({ result: 'ok' });
    expect(outcomeOf(4)).toMatchObject({ result: 'ok' });
  });

  it('for a takeover that are aborted while they wait for an earlier leadership lead to no release', async () => {
    const late = { ...quick, workload: { ...stubborn, diesInMs: 1_000 } };
    const { machine, guard, outcomeOf, said } = await leading({ takeover: late });
    const release = request('release', { id: unasked, leadership: 2 });
    guard.handle({ type: 'guard', release, begun: false });
    guard.handle({ type: 'lease', leadership: 2, releaseAtMs: 3_000, endsAtMs: 4_000 });
    guard.handle({ type: 'run', request: request('takeover', { id: 5, leadership: 2, graceMs: 100 }) });
    await machine.run(600);
    guard.handle({ type: 'abort', id: 5, reason: 'another is elected', killAtMs: null });
    await machine.run(5_000);
    expect(outcomeOf(5)).toMatchObject({ result: 'aborted', error: 'not started: another is elected' });
    expect(said.at(-1)).toMatchObject({ type: 'lease-ended', leadership: 2, outcome: { result: 'ok' } });
    expect(machine.started).toEqual(['takeover']);
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

  it('for a takeover are refused while the guard ends the leadership, but no report comes before its end', async () => {
    const { machine, guard, said, outcomeOf } = await leading({ release: { ...quick, runsMs: 300 } });
    await machine.run(1_100);
    guard.handle({ type: 'run', request: request('takeover', { id: 5 }) });
    await machine.run(2_000);
    expect(said.slice(-2)).toMatchObject([{ type: 'lease-ended' }, { type: 'outcome', id: 5 }]);
    expect(outcomeOf(5)).toMatchObject({ result: 'aborted' });
  });

  it('that belong to no leadership are stopped when a lease ends, and reported at once', async () => {
    const { machine, guard, said } = await leading({ prepare: stubborn });
    guard.handle({ type: 'run', request: request('prepare') });
    await machine.run(3_000);
    const reports = said.filter(({ type }) => type === 'outcome' || type === 'lease-ended').slice(-2);
    expect(reports).toMatchObject([
      { id: 1, outcome: { result: 'aborted', provenDead: true } },
      { type: 'lease-ended' },
    ]);
  });

  it('that belong to no leadership keep their own time limit after a lease has ended', async () => {
    const { machine, guard, signals } = await leading({ fence: stubborn });
    await machine.run(1_500);
    guard.handle({ type: 'run', request: request('fence', { timeoutMs: 10_000.5 }) });
    await machine.run(1_600);
    const [fence] = machine.groups.values();
    expect(fence?.command.env.PETREL_DEADLINE_MS).toBe('10000');
    await machine.run(11_000);
    expect(signals.filter((signal) => signal.endsWith('fence'))).toEqual([]);
    await machine.run(12_000);
    expect(signals.filter((signal) => signal.endsWith('fence'))).toEqual(['11501: SIGTERM fence']);
  });
});

describe('a foreground workload', () => {
  const takeover = request('takeover', { foreground: true, timeoutMs: 100 });

  async function serving(script = stubborn) {
    const on = guarding({ takeover: script, prepare: { ...quick, runsMs: 300 } });
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
    const [workload] = machine.groups.values();
    expect(workload?.command.env.PETREL_DEADLINE_MS).toBe('');
    expect(guard.hasRunWorkload).toBe(true);
  });

  it('that ends on its own is reported once', async () => {
    const { said, workloadEnds } = await serving({ ...quick, runsMs: 300, code: 3 });
    expect(workloadEnds()).toMatchObject([
      { leadership: 1, outcome: { result: 'failed', exitCode: 3, provenDead: true } },
    ]);
    expect(said.filter(({ type }) => type === 'gone')).toHaveLength(1);
  });

  it('that ends on its own is reported, also while another hook runs', async () => {
    const { guard, machine, workloadEnds } = await serving({ ...quick, runsMs: 600 });
    guard.handle({ type: 'run', request: request('prepare') });
    await machine.run(650);
    expect(machine.started).toEqual(['takeover', 'prepare']);
    expect(workloadEnds()).toMatchObject([{ leadership: 1, outcome: { result: 'ok' } }]);
  });

  it.each<[string, ToSupervisor]>([
    ['because a later leadership begins', { type: 'lease', ...lease, leadership: 2 }],
    ['because its leadership is over', { type: 'end-leadership', leadership: 1 }],
  ])('that is killed %s is not reported', async (_, message) => {
    const { guard, machine, workloadEnds } = await serving();
    guard.handle(message);
    await machine.run(900);
    expect(machine.groups.size).toBe(0);
    expect(workloadEnds()).toEqual([]);
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

it('the log context has no slot in a group with a single leader', () => {
  const { guard } = guarding();
  guard.handle({ type: 'lease', ...lease });
  expect(guard.logContext).toBeNull();
  guard.handle({ type: 'guard', release: request('release', { id: unasked }), begun: false });
  expect(guard.logContext).toEqual({ term: 3, ending: null });
});

it('the log context keeps the first reason for which a leadership is ending', async () => {
  const { machine, guard } = await leading({ release: stubborn });
  guard.agentGone('the agent died');
  await machine.run(lease.releaseAtMs + 100);
  expect(guard.logContext).toMatchObject({ ending: 'the agent died' });
});
