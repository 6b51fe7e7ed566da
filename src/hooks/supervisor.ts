/**
 * The supervisor: a separate process that runs an agent's hooks, and can end the workload if the agent is
 * frozen or dead. The agent starts it and communicates with it over a channel. The supervisor has its own
 * Unix session, so a signal from a terminal reaches only the agent. It exits when the agent is gone and the
 * workload has ended.
 *
 * The supervisor depends only on Node.js, so it is small and starts fast.
 */
import { write } from 'node:fs';
import { keepInspectorClosed } from '../inspector.js';
import { visibleJson } from '../model/outside.js';
import { systemClock } from '../ports/clock.js';
import { sleep } from './alarm.js';
import { Guards } from './guards.js';
import { type FromGuards, isToGuards } from './messages.js';
import { keepPipesReady } from './pipes.js';
import { systemProcesses } from './system-processes.js';

keepInspectorClosed();

const stderrFd = 2;

const [node] = process.argv.slice(2);

const notePatienceMs = 500;

let agentGone = false;
let noted = Promise.resolve();

const guards = new Guards({ post, idle }, { clock: systemClock, processes: systemProcesses });

function idle(): void {
  if (agentGone) void Promise.race([noted, sleep(systemClock, notePatienceMs)]).then(() => process.exit(0));
}

/**
 * Sends a message to the agent. A frozen agent does not read its messages. Only a few accumulate, because its
 * hooks are soon ended, and output lines arrive at a limited rate.
 */
function post(message: FromGuards): void {
  if (process.connected) process.send?.(message, undefined, undefined, () => {});
  else note(message);
}

/**
 * When the agent is gone, writes important messages to the log that the supervisor shares with the agent.
 * Writes asynchronously, because nothing must delay the supervisor.
 */
function note(message: FromGuards): void {
  if (message.type !== 'lease-ended') return;
  const logContext = guards.logContext(message.group);
  const { result, error, provenDead, durationMs, command } = message.outcome;
  const line = {
    level: result === 'ok' && provenDead ? 'warn' : 'error',
    time: new Date(systemClock.wallMs()).toISOString(),
    node,
    root: guards.rootOf(message.group),
    phase: 'release',
    slot: logContext?.slot,
    term: logContext?.term,
    reason: logContext?.ending,
    result,
    provenDead,
    durationMs,
    command,
    error,
    msg: 'the agent died without releasing leadership: the supervisor ran the release hook',
  };
  noted = new Promise((resolve) =>
    write(stderrFd, `${visibleJson(JSON.stringify(line))}\n`, () => resolve()),
  );
}

process.on('message', (message: unknown) => {
  if (isToGuards(message)) guards.handle(message);
});
process.on('disconnect', () => {
  agentGone = true;
  guards.agentGone('the agent died');
});
void keepPipesReady();
// The agent decides when the supervisor ends. A signal that is sent to all processes of a service must not
// end the supervisor.
const ignored = ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT', 'SIGUSR2'] as const;
for (const signal of ignored) process.on(signal, () => {});
