import { expect, it } from 'vitest';
import { Guard } from '../../src/hooks/guard.js';
import type { FromSupervisor } from '../../src/hooks/messages.js';
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
