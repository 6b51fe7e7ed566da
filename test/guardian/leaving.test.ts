/**
 * Fault T5 (docs/reports/faults.md): a guardian and an agent that left gracefully but could not end the
 * agent's session. Runs in simulated time.
 */
import { expect, it } from 'vitest';
import { leftText } from '../../src/agent/agent-status.js';
import { type AgentListener, AgentRun } from '../../src/guardian/agent-run.js';
import type { HeldSession } from '../../src/guardian/held-session.js';
import type { SessionNote } from '../../src/guardian/messages.js';
import { Report } from '../../src/guardian/report.js';
import { SimulatedMachine } from '../hooks/simulated-machine.js';

const quick = { runsMs: 5, code: 0, stopsInMs: 0, diesInMs: 0, workload: null };
const session: SessionNote = {
  id: '1',
  password: '',
  timeoutMs: 4_000,
  longestTimeoutMs: 4_000,
  servers: [{ host: '10.0.0.1', port: 2181 }],
  tls: null,
  auth: null,
};

function agentThat(end: (agent: AgentListener) => void) {
  const machine = new SimulatedMachine(() => quick);
  const own = machine.seenBy(machine.newProcess('guardian'));
  const held: SessionNote[] = [];
  let agent: AgentListener | null = null;
  const life = new AgentRun({
    ...own,
    startAgent: (listener) => {
      agent = listener;
      return { send() {}, kill() {}, lease: () => null };
    },
    holdSession(note): HeldSession {
      held.push(note);
      throw new Error('held');
    },
    watchOver() {},
    report: new Report(own.clock, { write() {} }),
    manager: { status() {}, reloaded() {}, reloading() {}, stopping() {} },
  });
  if (agent === null) throw new Error('no agent was started');
  const listener: AgentListener = agent;
  listener.message({ type: 'session', session });
  end(listener);
  return { life, held };
}

it('T5 an agent that left in order has its session tried no more by its guardian', async () => {
  const { life, held } = agentThat((agent) => {
    agent.message({ type: 'ended', code: 0 });
    agent.gone('exited with code 0', 0);
  });
  expect(await life.over).toMatchObject({ isFinal: true, code: 0, session: null });
  expect(held).toEqual([]);
});

it('that of one that died is held', async () => {
  const { life, held } = agentThat((agent) => agent.gone('was killed by SIGKILL', 137));
  await expect(life.over).rejects.toThrow('held');
  expect(held).toEqual([session]);
});

it('T5 an agent that could not end its session says by when it expires', () => {
  expect(leftText(true, 4_000)).toBe('left the group');
  expect(leftText(false, 4_000)).toContain('the session expires within 5.3 s');
  expect(leftText(false, 0)).toBe('left the group');
});
