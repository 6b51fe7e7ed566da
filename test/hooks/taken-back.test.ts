/**
 * A request to a stalled supervisor that the agent withdraws before the supervisor continues. Runs in
 * simulated time.
 */
import { expect, it } from 'vitest';
import type { Phase } from '../../src/ports/workload.js';
import { context } from './hook-context.js';
import { type Script, SimulatedMachine } from './simulated-machine.js';

const quick: Script = { runsMs: 5, code: 0, stopsInMs: 0, diesInMs: 0, workload: null };
const command: [string] = ['it'];

/** Returns an agent whose supervisor is running. */
async function agentWithSupervisor() {
  const machine = new SimulatedMachine(() => quick);
  const agent = machine.newProcess('agent');
  const workload = machine.workloadOf(agent, {
    onPrepare: command,
    onTakeover: command,
    onRelease: command,
    onFence: command,
  });
  const first = workload.run(context('prepare'));
  await machine.run(100);
  expect(await first.outcome).toMatchObject({ result: 'ok' });
  return { machine, workload };
}

it.each<Phase>(['prepare', 'takeover', 'fence'])('a %s is not even begun', async (phase) => {
  const { machine, workload } = await agentWithSupervisor();
  workload.holdLease({ releaseAtMs: 50_000, endsAtMs: 60_000 }, context('release'));
  machine.supervisor?.freeze();
  const run = workload.run(context(phase));
  await machine.run(200);
  run.abort('another is elected');
  await machine.run(300);
  machine.supervisor?.thaw();
  await machine.run(400);

  expect(machine.started).toEqual(['prepare']);
  expect(await run.outcome).toMatchObject({ result: 'aborted', provenDead: true });
});

it('a takeover that comes with its release after the lease has ended is not begun, and nothing is released', async () => {
  const { machine, workload } = await agentWithSupervisor();
  machine.supervisor?.freeze();
  workload.holdLease({ releaseAtMs: 50, endsAtMs: 90 }, context('release'));
  const takeover = workload.run(context('takeover'));
  const release = workload.run(context('release'));
  await machine.run(110);
  machine.supervisor?.thaw();
  await machine.run(400);

  expect(machine.started).toEqual(['prepare']);
  expect(await takeover.outcome).toMatchObject({ result: 'aborted', provenDead: true });
  expect(await release.outcome).toMatchObject({ result: 'ok', provenDead: true });
});
