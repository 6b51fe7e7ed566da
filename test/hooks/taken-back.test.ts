/** What is asked of a keeper that stands still, and taken back before it goes on: in simulated time. */
import { expect, it } from 'vitest';
import type { Phase } from '../../src/ports/duty.js';
import { context } from './duty-context.js';
import { type Script, SimulatedMachine } from './simulated-machine.js';

const quick: Script = { runsMs: 5, code: 0, stopsInMs: 0, diesInMs: 0, workload: null };
const command: [string] = ['it'];

/** An agent whose keeper is there. */
async function agentWithKeeper() {
  const machine = new SimulatedMachine(() => quick);
  const agent = machine.newProcess('agent');
  const duty = machine.dutyOf(agent, {
    onPrepare: command,
    onTakeover: command,
    onRelease: command,
    onFence: command,
  });
  const first = duty.run(context('prepare'));
  await machine.run(100);
  expect(await first.outcome).toMatchObject({ result: 'ok' });
  return { machine, duty };
}

it.each<Phase>(['prepare', 'takeover', 'fence'])('a %s is not even begun', async (phase) => {
  const { machine, duty } = await agentWithKeeper();
  duty.holdLease({ releaseAtMs: 50_000, endsAtMs: 60_000 }, context('release'));
  machine.keeper?.freeze();
  const run = duty.run(context(phase));
  await machine.run(200);
  run.abort('another is elected');
  await machine.run(300);
  machine.keeper?.thaw();
  await machine.run(400);

  expect(machine.started).toEqual(['prepare']);
  expect(await run.outcome).toMatchObject({ result: 'aborted', provenDead: true });
});

it('a takeover that comes with its release after the lease has ended is not begun, and nothing is released', async () => {
  const { machine, duty } = await agentWithKeeper();
  machine.keeper?.freeze();
  duty.holdLease({ releaseAtMs: 50, endsAtMs: 90 }, context('release'));
  const takeover = duty.run(context('takeover'));
  const release = duty.run(context('release'));
  await machine.run(110);
  machine.keeper?.thaw();
  await machine.run(400);

  expect(machine.started).toEqual(['prepare']);
  expect(await takeover.outcome).toMatchObject({ result: 'aborted', provenDead: true });
  expect(await release.outcome).toMatchObject({ result: 'ok', provenDead: true });
});
