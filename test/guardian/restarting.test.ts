/**
 * Fault A4 (docs/reports/faults.md): an agent that restarts while the files that its settings name are being
 * replaced. Runs in simulated time.
 */
import { expect, it } from 'vitest';
import type { AgentListener } from '../../src/guardian/agent-run.js';
import { Guardian } from '../../src/guardian/guardian.js';
import type { SessionNote } from '../../src/guardian/messages.js';
import { Report } from '../../src/guardian/report.js';
import { SimulatedMachine } from '../hooks/simulated-machine.js';

const session: SessionNote = {
  id: '1',
  password: '',
  timeoutMs: 4_000,
  longestTimeoutMs: 4_000,
  servers: [{ host: '10.0.0.1', port: 2181 }],
  tls: null,
  auth: null,
};

type Life = (agent: AgentListener) => void;

const ends =
  (code: number): Life =>
  (agent) => {
    agent.message({ type: 'ended', code });
    agent.gone(`exited with code ${code}`, code);
  };

/** An agent whose session has already ended when the agent is killed. */
const dies: Life = (agent) => {
  agent.message({ type: 'session', session });
  agent.message({ type: 'session-over' });
  agent.gone('was killed by SIGKILL', 137);
};

/**
 * Runs a guardian. Returns its exit code, and the number of agents that it started. Agent n behaves as
 * `lives[n]`.
 */
async function guard(lives: readonly Life[]) {
  const machine = new SimulatedMachine(() => {
    throw new Error('nothing is to be run');
  });
  const own = machine.seenBy(machine.newProcess('guardian'));
  let started = 0;
  const guardian = new Guardian({
    ...own,
    startAgent: (listener) => {
      const life = lives[started];
      started += 1;
      if (life !== undefined) queueMicrotask(() => life(listener));
      return { send() {}, kill() {}, lease: () => null };
    },
    holdSession() {
      throw new Error('no session is left');
    },
    watchOver() {},
    report: new Report(own.clock, { write() {} }),
    manager: { status() {}, reloaded() {}, reloading() {}, stopping() {} },
  });
  let code: number | null = null;
  void guardian.run().then((ended) => {
    code = ended;
  });
  await machine.world.run(120_000, () => code !== null);
  return { code, started };
}

it('A4 wrong settings end a guardian whose agents never had a session', async () => {
  expect(await guard([ends(2)])).toEqual({ code: 2, started: 1 });
});

it('A4 where an earlier agent had one they are tried again', async () => {
  expect(await guard([dies, ends(2), ends(2), ends(0)])).toEqual({ code: 0, started: 4 });
});

it('A4 an agent that leaves in order, or is refused for another reason, is not started again', async () => {
  expect(await guard([dies, ends(1)])).toEqual({ code: 1, started: 2 });
  const ownCode: Life = (agent) => {
    agent.message({ type: 'session', session });
    agent.message({ type: 'session-over' });
    ends(2)(agent);
  };
  expect(await guard([dies, ownCode])).toEqual({ code: 2, started: 2 });
});
