/**
 * If the agent or the supervisor that runs its hooks hangs, the other process kills it. The survivor reports
 * which process was killed, and why. Runs in simulated time.
 */
import { expect, it } from 'vitest';
import { type AgentListener, AgentRun } from '../../src/guardian/agent-run.js';
import { Report } from '../../src/guardian/report.js';
import type { WorkloadEnd } from '../../src/ports/workload.js';
import { capturedLog } from './captured-log.js';
import { context } from './hook-context.js';
import { SimulatedMachine } from './simulated-machine.js';

const quick = { runsMs: 5, code: 0, stopsInMs: 0, diesInMs: 0, workload: null };
const release = context('release', { timeoutMs: 1000, graceMs: 100 });

function agentWithLog() {
  const machine = new SimulatedMachine(() => quick);
  const { log, lines } = capturedLog();
  const said = () => lines.map(({ msg }) => String(msg));
  const agent = machine.newProcess('agent');
  const commands = { onPrepare: null, onTakeover: 'start', onRelease: 'stop', onFence: null };
  const workload = machine.workloadOf(agent, commands, log);
  const ends: WorkloadEnd[] = [];
  workload.onEnd((end) => ends.push(end));
  workload.holdLease({ releaseAtMs: 1000, endsAtMs: 2000 }, release);
  workload.run(context('takeover', { timeoutMs: 1000, graceMs: 100 }));
  return { machine, workload, said, ends };
}

it('a supervisor that did not end the leadership with its lease', async () => {
  const { machine, said, ends } = agentWithLog();
  await machine.run(500);
  machine.supervisor?.freeze();
  await machine.run(10_000);
  expect(said()).toContain(
    'the supervisor, which runs the hooks, did not end the leadership: it is hanging, and this agent is killing it',
  );
  const how = 'was killed by its agent, because it did not end the leadership';
  expect(said()).toContain(
    `the supervisor, which runs the hooks, ${how}: killing the processes that it started`,
  );
  expect(ends).toMatchObject([{ cause: 'guard-lost', reason: `the supervisor ${how}` }]);
});

it('not a supervisor that was held up past the lease, and has ended the leadership since', async () => {
  const { machine, workload, said, ends } = agentWithLog();
  await machine.run(500);
  const { supervisor } = machine;
  const { outcome } = workload.run(release);
  supervisor?.freeze();
  await machine.run(2_100);
  expect(said()).toContain(
    'the supervisor did not end the leadership before the lease expired: killing the processes that it started',
  );
  supervisor?.thaw();
  // The agent is still disconnected, so it cannot release its claim.
  await machine.run(10_000);
  expect(await outcome).toMatchObject({ provenDead: true });
  expect(said().filter((line) => line.includes('it hangs'))).toEqual([]);
  expect(machine.supervisor).toBe(supervisor);
  expect(ends).toEqual([]);
});

it('a supervisor that did not exit with its agent', async () => {
  const { machine, workload, said } = agentWithLog();
  await machine.run(500);
  machine.supervisor?.freeze();
  const closed = workload.close();
  await machine.run(60_000);
  await closed;
  expect(said()).toContain(
    'the supervisor, which runs the hooks, did not exit: it is hanging, and this agent is killing it',
  );
});

it('an agent that does not answer its guardian', async () => {
  const machine = new SimulatedMachine(() => quick);
  const own = machine.seenBy(machine.newProcess('guardian'));
  const lines: string[] = [];
  const life = new AgentRun({
    ...own,
    startAgent: (listener: AgentListener) => ({
      send() {},
      kill: () => listener.gone('was killed by SIGKILL', 137),
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
  expect(hang).toContain('the agent has not responded for 30 s: the guardian is killing it');
  expect(death).toContain(
    'the agent hung and was killed by its guardian: stopping its workload, then ending its session',
  );
});
