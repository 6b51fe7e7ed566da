/** One that hangs is killed by the other, agent or whoever runs its hooks; who killed whom, and why, is said: in simulated time. */
import pino from 'pino';
import { expect, it } from 'vitest';
import { type AgentListener, Life } from '../../src/guardian/life.js';
import { Report } from '../../src/guardian/report.js';
import type { DutyEnd } from '../../src/ports/duty.js';
import { context } from './duty-context.js';
import { SimulatedMachine } from './simulated-machine.js';

const quick = { runsMs: 5, code: 0, stopsInMs: 0, diesInMs: 0, workload: null };
const release = context('release', { timeoutMs: 1000, graceMs: 100 });

function agentWithLog() {
  const machine = new SimulatedMachine(() => quick);
  const said: string[] = [];
  const log = pino({}, { write: (line: string) => said.push(JSON.parse(line).msg) });
  const agent = machine.newProcess('agent');
  const commands = { onPrepare: null, onTakeover: 'start', onRelease: 'stop', onFence: null };
  const duty = machine.dutyOf(agent, commands, log);
  const ends: DutyEnd[] = [];
  duty.onEnd((end) => ends.push(end));
  duty.holdLease({ releaseAtMs: 1000, endsAtMs: 2000 }, release);
  duty.run(context('takeover', { timeoutMs: 1000, graceMs: 100 }));
  return { machine, duty, said, ends };
}

it('a keeper that does not end the tenure with its lease', async () => {
  const { machine, said, ends } = agentWithLog();
  await machine.run(500);
  machine.keeper?.freeze();
  await machine.run(10_000);
  expect(said).toContain(
    'the keeper, which runs the hooks, does not end the tenure: it hangs, and this agent kills it',
  );
  const how = 'was killed by its agent, because it does not end the tenure';
  expect(said).toContain(`the keeper, which runs the hooks, ${how}: killing what it ran`);
  expect(ends).toMatchObject([{ cause: 'guard-lost', reason: `the keeper ${how}` }]);
});

it('not a keeper that was held up past the lease, and has ended the tenure since', async () => {
  const { machine, duty, said, ends } = agentWithLog();
  await machine.run(500);
  const { keeper } = machine;
  const { outcome } = duty.run(release);
  keeper?.freeze();
  await machine.run(2_100);
  expect(said).toContain('the keeper left the tenure to outlive its lease: killing what it ran');
  keeper?.thaw();
  // The agent is still out of touch, and cannot give its claim away.
  await machine.run(10_000);
  expect(await outcome).toMatchObject({ provenDead: true });
  expect(said.filter((line) => line.includes('it hangs'))).toEqual([]);
  expect(machine.keeper).toBe(keeper);
  expect(ends).toEqual([]);
});

it('a keeper that does not leave with its agent', async () => {
  const { machine, duty, said } = agentWithLog();
  await machine.run(500);
  machine.keeper?.freeze();
  const closed = duty.close();
  await machine.run(60_000);
  await closed;
  expect(said).toContain(
    'the keeper, which runs the hooks, does not leave: it hangs, and this agent kills it',
  );
});

it('an agent that does not answer its guardian', async () => {
  const machine = new SimulatedMachine(() => quick);
  const own = machine.seenBy(machine.newProcess('guardian'));
  const lines: string[] = [];
  const life = new Life({
    ...own,
    startAgent: (listener: AgentListener) => ({
      send() {},
      kill: () => listener.gone('was ended by SIGKILL', 137),
      lease: () => null,
    }),
    holdSession: () => {
      throw new Error('it has none');
    },
    watchOver() {},
    report: new Report(own.clock, { write: (line) => lines.push(line) }),
    manager: { status() {}, reloaded() {}, reloading() {}, stopping() {} },
  });
  await machine.run(70_000);
  await life.over;
  const [hang, death] = lines;
  expect(hang).toContain('the agent has not answered for 30 s: it hangs, and its guardian kills it');
  expect(death).toContain('the agent hung and was killed by its guardian: ending what it ran');
});
