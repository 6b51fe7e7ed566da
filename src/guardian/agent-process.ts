/**
 * The agent as a separate process, which is connected to the guardian by a channel. It runs the same command
 * line as the guardian.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { codeOfSignal } from '../exit-code.js';
import type { AgentListener, AgentProcess } from './agent-run.js';
import { isFromAgent } from './messages.js';
import { SharedLease } from './shared-lease.js';
import { guardianVariable, sharedLeaseVariable } from './variables.js';

/** Maximum time to read the remaining messages after the process has ended. */
const lastWordsMs = 100;
const startFailed = 1;
/**
 * File descriptor of the shared lease in the agent. It comes directly after the file descriptor of the
 * channel.
 */
const sharedLeaseFd = 4;

/**
 * Starts the agent with this program's own command line. The agent has its own Unix session, so a signal from
 * a terminal reaches only the guardian. The agent never reads its standard input. It inherits standard input
 * only to find out whether there is a terminal.
 */
export function startAgentProcess(
  program: string,
  args: readonly string[],
  listener: AgentListener,
): AgentProcess {
  const sharedLease = SharedLease.create();
  const env = {
    ...process.env,
    [guardianVariable]: String(process.pid),
    [sharedLeaseVariable]: sharedLease === null ? '' : String(sharedLeaseFd),
  };
  try {
    const stdio = ['inherit', 'inherit', 'inherit', 'ipc', sharedLease?.fd ?? 'ignore'] as const;
    const child = fork(program, args, { detached: true, env, stdio: [...stdio] });
    return speakingWith(child, sharedLease, listener);
  } catch (error) {
    sharedLease?.close();
    setImmediate(() => listener.gone(`could not be started: ${String(error)}`, startFailed));
    return { send: () => {}, kill: () => {}, lease: () => null };
  }
}

function speakingWith(
  child: ChildProcess,
  sharedLease: SharedLease | null,
  listener: AgentListener,
): AgentProcess {
  child.on('message', (message: unknown) => {
    if (isFromAgent(message)) listener.message(message);
  });
  const end = new Promise<{ how: string; code: number }>((resolve) => {
    child.once('error', (error) =>
      resolve({ how: `could not be started: ${error.message}`, code: startFailed }),
    );
    child.once('exit', (code, signal) => {
      const how = signal === null ? `exited with code ${code}` : `was killed by ${signal}`;
      resolve({ how, code: signal === null ? (code ?? startFailed) : codeOfSignal(signal) });
    });
  });
  const silence = new Promise<void>((resolve) => child.once('disconnect', resolve));
  void end.then(async ({ how, code }) => {
    let timer: NodeJS.Timeout | undefined;
    const patience = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, lastWordsMs);
    });
    if (child.connected) await Promise.race([silence, patience]);
    clearTimeout(timer);
    sharedLease?.close();
    listener.gone(how, code);
  });
  return {
    send: (message) => {
      if (child.connected) child.send(message, () => {});
    },
    kill: () => void child.kill('SIGKILL'),
    lease: (group) => sharedLease?.read(group) ?? null,
  };
}
