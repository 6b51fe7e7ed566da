/** Tests the guards of an agent that is in several groups, on a simulated machine. */
import { expect, it } from 'vitest';
import { Guards } from '../../src/hooks/guards.js';
import { type FromGuards, type LeadershipLease, unasked } from '../../src/hooks/messages.js';
import { lease, quick, request, stubborn } from './guard-record.js';
import { type Script, SimulatedMachine } from './simulated-machine.js';

/** Returns guards whose commands behave as in `scripts`, and a record of what they do. */
function guarding(scripts: Record<string, Script> = {}, noted?: (group: number) => LeadershipLease | null) {
  const machine = new SimulatedMachine(({ program }) => scripts[program] ?? quick);
  const said: FromGuards[] = [];
  let idles = 0;
  const listener = {
    post: (message: FromGuards) => said.push(message),
    idle: () => {
      idles += 1;
    },
  };
  const guards = new Guards(listener, machine.seenBy(machine.newProcess('guard')), noted);
  guards.handle({ type: 'begin', group: 0, root: '/a' });
  guards.handle({ type: 'begin', group: 1, root: '/b' });
  return { machine, guards, said, idles: () => idles };
}

it('each group has its own root, leadership and log context', () => {
  const { guards } = guarding();
  guards.handle({ type: 'guard', group: 1, release: request('release', { id: unasked }), begun: false });
  guards.handle({ type: 'lease', group: 1, ...lease });
  expect(guards.numbers).toEqual([0, 1]);
  expect([0, 1, 2].map((group) => guards.rootOf(group))).toEqual(['/a', '/b', null]);
  expect([0, 1, 2].map((group) => guards.logContext(group))).toEqual([null, { term: 3, ending: null }, null]);
});

it('a hook of one group does not wait for a hook of another, and every report names its group', async () => {
  const { machine, guards, said, idles } = guarding({ prepare: stubborn });
  guards.handle({ type: 'run', group: 0, request: request('prepare') });
  guards.handle({ type: 'run', group: 1, request: request('fence') });
  await machine.run(100);
  expect(machine.started).toEqual(['prepare', 'fence']);
  expect(said.filter(({ type }) => type === 'outcome')).toMatchObject([{ group: 1, id: 4 }]);
  expect(said.filter(({ type }) => type === 'cleared')).toEqual([]);
  expect(idles()).toBe(0);
});

it('each group has its own shared lease', async () => {
  const { machine, guards, said } = guarding({}, (group) =>
    group === 0 ? { ...lease, releaseAtMs: 5_000, endsAtMs: 6_000 } : null,
  );
  guards.handle({ type: 'lease', group: 0, ...lease });
  guards.handle({ type: 'lease', group: 1, ...lease });
  await machine.run(4_999);
  expect(said).toMatchObject([{ type: 'lease-ended', group: 1 }]);
  await machine.run(5_000);
  expect(said).toMatchObject([{ group: 1 }, { type: 'lease-ended', group: 0 }]);
});

it('a group that the agent leaves is ended first, then reported and forgotten', async () => {
  const { machine, guards, said, idles } = guarding({ fence: stubborn });
  guards.handle({ type: 'run', group: 0, request: request('fence', { graceMs: 100 }) });
  await machine.run(50);
  guards.handle({ type: 'clear', group: 0 });
  expect(guards.numbers).toEqual([0, 1]);
  await machine.run(1_000);
  expect(said.slice(-2)).toMatchObject([
    {
      type: 'outcome',
      outcome: { error: 'onFence was aborted: the agent is stopping, and had to be killed' },
    },
    { type: 'cleared', group: 0 },
  ]);
  expect(guards.numbers).toEqual([1]);
  expect(guards.rootOf(0)).toBeNull();
  expect(idles()).toBe(0);
});

it('a foreground workload is remembered, even after its group has been left', async () => {
  const { machine, guards, said } = guarding();
  expect(guards.hasRunWorkload).toBe(false);
  guards.handle({ type: 'run', group: 1, request: request('takeover', { foreground: true }) });
  await machine.run(100);
  expect(guards.hasRunWorkload).toBe(true);
  guards.handle({ type: 'clear', group: 1 });
  await machine.run(200);
  expect(said.at(-1)).toEqual({ type: 'cleared', group: 1 });
  expect(guards.hasRunWorkload).toBe(true);
});

it('the death of the agent ends every group, and is over when nothing of any group is left', async () => {
  const { machine, guards, said, idles } = guarding({ fence: stubborn, prepare: stubborn });
  guards.handle({ type: 'run', group: 0, request: request('fence', { graceMs: 100 }) });
  guards.handle({ type: 'run', group: 1, request: request('prepare', { graceMs: 500 }) });
  await machine.run(50);
  guards.agentGone('the agent died');
  await machine.run(300);
  expect(said.at(-1)).toMatchObject({
    type: 'outcome',
    group: 0,
    outcome: { result: 'aborted', error: 'onFence was aborted: the agent died, and had to be killed' },
  });
  expect(idles()).toBe(0);
  await machine.run(1_000);
  expect(said.at(-1)).toMatchObject({ type: 'outcome', group: 1, outcome: { result: 'aborted' } });
  expect(idles()).toBe(1);
});

it('the death of an agent in no group is over at once', () => {
  let idles = 0;
  const listener = {
    post: () => {},
    idle: () => {
      idles += 1;
    },
  };
  const machine = new SimulatedMachine(() => quick);
  new Guards(listener, machine.seenBy(machine.newProcess('guard'))).agentGone('the agent died');
  expect(idles).toBe(1);
});
