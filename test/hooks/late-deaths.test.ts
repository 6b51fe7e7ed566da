/**
 * Processes in uninterruptible sleep, which survive SIGKILL for some time, and the reports about them. Runs
 * in simulated time.
 */
import { expect, it } from 'vitest';
import type { HookResult, WorkloadEnd } from '../../src/ports/workload.js';
import { context } from './hook-context.js';
import { type Behaviour, type Script, SimulatedMachine } from './simulated-machine.js';

const forever = Number.POSITIVE_INFINITY;
const quick: Script = { runsMs: 5, code: 0, stopsInMs: 0, diesInMs: 0, workload: null };
const late: Behaviour = { runsMs: forever, code: 0, stopsInMs: forever, diesInMs: 5000 };
const release = context('release', { timeoutMs: 1000, graceMs: 100 });

function agentWith(takeover: Script, releases: Script = quick, onStart = (_phase: string) => {}) {
  const machine = new SimulatedMachine(({ env }) => {
    onStart(env.PETREL_PHASE ?? '');
    return env.PETREL_PHASE === 'takeover' ? takeover : releases;
  });
  const agent = machine.newProcess('agent');
  const workload = machine.workloadOf(agent, {
    onPrepare: null,
    onTakeover: ['start'],
    onRelease: ['stop'],
    onFence: null,
  });
  const ends: WorkloadEnd[] = [];
  workload.onEnd((end) => ends.push(end));
  workload.holdLease({ releaseAtMs: 1000, endsAtMs: 2000 }, release);
  workload.run(context('takeover', { timeoutMs: 60_000, graceMs: 100 }));
  return { machine, workload, ends };
}

/**
 * Returns a list that records the number of process groups that remain when the release is reported to have
 * ended.
 */
function released(machine: SimulatedMachine, outcome: Promise<HookResult>) {
  const results: { result: string; provenDead: boolean; left: number }[] = [];
  void outcome.then(({ result, provenDead }) =>
    results.push({ result, provenDead, left: machine.groups.size }),
  );
  return results;
}

it('a release that waits for a takeover which cannot be killed is run, and proves nothing too early', async () => {
  const { machine, workload } = agentWith({ ...late, diesInMs: 3000, workload: null });
  await machine.run(100);
  const results = released(machine, workload.run(release).outcome);
  await machine.run(3000);
  expect(results).toEqual([]);
  await machine.run(10_000);
  expect(results).toEqual([{ result: 'ok', provenDead: true, left: 0 }]);
  expect(machine.started).toEqual(['takeover', 'release']);
});

it('a release aborted while it waits still ends the leadership', async () => {
  const { machine, workload } = agentWith({
    ...quick,
    runsMs: 300,
    stopsInMs: forever,
    workload: late,
  });
  await machine.run(100);
  const run = workload.run(release);
  const results = released(machine, run.outcome);
  run.abort('a whim');
  await machine.run(1000);
  expect(results).toEqual([]);
  await machine.run(20_000);
  expect(results).toEqual([{ result: 'failed', provenDead: false, left: 1 }]);
  expect(machine.started).toEqual(['takeover']);
});

it('a release whose supervisor is killed is run by the next one', async () => {
  const { machine, workload } = agentWith(quick, { ...quick, runsMs: 300 });
  await machine.run(100);
  const results = released(machine, workload.run(release).outcome);
  await machine.run(200);
  machine.supervisor?.kill();
  await machine.run(5000);
  expect(results).toEqual([{ result: 'ok', provenDead: true, left: 0 }]);
  expect(machine.started).toEqual(['takeover', 'release', 'release']);
});

it('a lease that ends after a supervisor was killed is released by the next one, which knows what is left', async () => {
  const { machine, workload, ends } = agentWith({ ...quick, workload: late });
  await machine.run(100);
  machine.supervisor?.kill();
  await machine.run(2500);
  expect(ends).toMatchObject([{ cause: 'guard-lost', provenDead: false }]);
  workload.holdLease({ releaseAtMs: 2600, endsAtMs: 20_000 }, release);
  await machine.run(5000);
  expect(ends.slice(1)).toMatchObject([{ cause: 'lease-ended', release: { provenDead: false } }]);
  expect(machine.started).toEqual(['takeover', 'release']);
});

it('an agent that closes while it clears away what a supervisor left starts no other', async () => {
  const { machine, workload } = agentWith({ ...quick, workload: { ...late, diesInMs: 1000 } });
  await machine.run(100);
  machine.supervisor?.kill();
  await machine.run(200);
  workload.run(release);
  const closed: boolean[] = [];
  void workload.close().then((provenDead) => closed.push(provenDead));
  await machine.run(10_000);
  expect(closed).toEqual([true]);
  expect(machine.supervisor).toBeUndefined();
});

it('what a supervisor started and died before it could report is found and killed', async () => {
  const dying = { ...quick, runsMs: 300, workload: { ...late, diesInMs: 0 } };
  const phases = ['takeover', 'release'];
  for (const last of phases) {
    let hasDied = false;
    const agent = agentWith(dying, dying, (phase) => {
      if (phase !== last || hasDied) return;
      hasDied = true;
      agent.machine.supervisor?.kill();
    });
    const { machine, workload, ends } = agent;
    await machine.run(400);
    if (last === 'takeover') expect(ends).toMatchObject([{ cause: 'guard-lost', provenDead: true }]);
    if (last === 'takeover') expect(machine.groups.size).toBe(0);
    const results = released(machine, workload.run(release).outcome);
    await machine.run(3000);
    expect(results).toEqual([{ result: 'ok', provenDead: true, left: 0 }]);
    expect(hasDied).toBe(true);
  }
});

it('a release that a supervisor began by itself, and died before it could report, is found and killed', async () => {
  let hasDied = false;
  const agent = agentWith(quick, { ...quick, runsMs: 300 }, (phase) => {
    if (phase !== 'release' || hasDied) return;
    hasDied = true;
    agent.machine.supervisor?.kill();
  });
  const { machine, workload, ends } = agent;
  await machine.run(1200);
  expect(hasDied).toBe(true);
  expect(ends).toMatchObject([{ cause: 'guard-lost', provenDead: true }]);
  expect(machine.groups.size).toBe(0);
  const results = released(machine, workload.run(release).outcome);
  await machine.run(3000);
  expect(results).toEqual([{ result: 'ok', provenDead: true, left: 0 }]);
});

it('what a supervisor could not report counts as left until it has died', async () => {
  let hasDied = false;
  const agent = agentWith({ ...quick, runsMs: 300, workload: late }, quick, (phase) => {
    if (phase !== 'takeover' || hasDied) return;
    hasDied = true;
    agent.machine.supervisor?.kill();
  });
  const { machine, workload, ends } = agent;
  await machine.run(2500);
  expect(ends).toMatchObject([{ cause: 'guard-lost', provenDead: false }]);
  const results = released(machine, workload.run(release).outcome);
  await machine.run(4900);
  expect(results).toEqual([{ result: 'failed', provenDead: false, left: 1 }]);
});

it('a release tried again by another supervisor after the lease has ended is run, and proves nothing too early', async () => {
  const { machine, workload } = agentWith({ ...quick, workload: late });
  await machine.run(100);
  const first = released(machine, workload.run(release).outcome);
  await machine.run(3500);
  expect(first).toEqual([{ result: 'failed', provenDead: false, left: 1 }]);
  machine.supervisor?.kill();
  await machine.run(3550);
  const second = released(machine, workload.run(release).outcome);
  await machine.run(20_000);
  expect(machine.started).toEqual(['takeover', 'release', 'release']);
  expect(second.filter(({ provenDead, left }) => provenDead && left > 0)).toEqual([]);
});

it('a takeover waits until nothing is left of an earlier leadership', async () => {
  const { machine, workload } = agentWith({ ...quick, workload: { ...late, diesInMs: 1000 } });
  await machine.run(100);
  workload.endLeadership();
  const takeover = workload.run(context('takeover', { term: 4, timeoutMs: 60_000, graceMs: 100 }));
  await machine.run(900);
  expect(machine.started).toEqual(['takeover']);
  await machine.run(5000);
  expect(machine.started).toEqual(['takeover', 'takeover']);
  expect(await takeover.outcome).toMatchObject({ result: 'ok' });
});

it('a takeover fails where something of an earlier leadership does not die', async () => {
  const { machine, workload } = agentWith({ ...quick, workload: late });
  await machine.run(100);
  workload.endLeadership();
  const takeover = workload.run(context('takeover', { term: 4, timeoutMs: 60_000, graceMs: 100 }));
  await machine.run(4900);
  expect(await takeover.outcome).toMatchObject({
    result: 'failed',
    error: expect.stringContaining('processes of an earlier leadership are still running'),
  });
  expect(machine.started).toEqual(['takeover']);
});

it('at the end of its lease nothing of a leadership lives, however long it would like to take', async () => {
  const stubborn = { ...late, diesInMs: 0 };
  const releases: Script[] = [quick, { ...stubborn, workload: stubborn }];
  for (const one of releases) {
    const patient = context('release', { timeoutMs: 60_000, graceMs: 60_000 });
    const { machine, workload } = agentWith({ ...quick, workload: stubborn }, one);
    workload.holdLease({ releaseAtMs: 1000, endsAtMs: 2000 }, patient);
    await machine.run(1900);
    expect(machine.groups.size).toBeGreaterThan(0);
    await machine.run(1999);
    expect(machine.groups.size).toBe(0);
  }
});

it('V2 a leadership that is ending is killed by the end of its lease when that turns out to be sooner', async () => {
  const stubborn = { ...late, diesInMs: 0 };
  const patient = context('release', { timeoutMs: 60_000, graceMs: 60_000 });
  for (const isRequested of [true, false]) {
    const { machine, workload } = agentWith(
      { ...quick, workload: stubborn },
      { ...stubborn, workload: stubborn },
    );
    workload.holdLease({ releaseAtMs: isRequested ? 10_000 : 1_000, endsAtMs: 20_000 }, patient);
    await machine.run(100);
    if (isRequested) workload.run(patient);
    await machine.run(1_100);
    expect(machine.started).toEqual(['takeover', 'release']);
    workload.holdLease({ releaseAtMs: 900, endsAtMs: 1_500 }, patient);
    // The workload is dead before the lease ends, because the guard kills it. The guard continues even when
    // the agent is frozen.
    await machine.run(1_490);
    expect(machine.groups.size).toBe(0);
  }
});

it('a leadership that is ending gets no more time', async () => {
  const stubborn = { ...late, diesInMs: 0 };
  const patient = context('release', { timeoutMs: 60_000, graceMs: 60_000 });
  const { machine, workload } = agentWith(
    { ...quick, workload: stubborn },
    { ...stubborn, workload: stubborn },
  );
  workload.holdLease({ releaseAtMs: 1_000, endsAtMs: 2_000 }, patient);
  await machine.run(1_100);
  workload.holdLease({ releaseAtMs: 9_000, endsAtMs: 10_000 }, patient);
  await machine.run(1_990);
  expect(machine.groups.size).toBe(0);
});
