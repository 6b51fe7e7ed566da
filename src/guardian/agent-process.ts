/** The agent as a process of its own: started again with the same command line, and spoken with. */
import { type ChildProcess, fork } from 'node:child_process';
import { codeOfSignal } from '../exit-code.js';
import type { AgentListener, AgentProcess } from './life.js';
import { isFromAgent } from './messages.js';
import { guardianVariable } from './parent.js';

/** What was said last is read for at most this long after the end. */
const lastWordsMs = 100;
const startFailed = 1;

/** Runs this program's own command line. Its session is its own: what a terminal sends reaches the guardian alone. It
 * reads nothing; the input is for it to see whether there is a terminal. */
export function startAgentProcess(
  program: string,
  args: readonly string[],
  listener: AgentListener,
): AgentProcess {
  try {
    return speakingWith(
      fork(program, args, {
        detached: true,
        env: { ...process.env, [guardianVariable]: String(process.pid) },
        stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
      }),
      listener,
    );
  } catch (error) {
    setImmediate(() => listener.gone(`could not be started: ${String(error)}`, startFailed));
    return { send: () => {}, kill: () => {} };
  }
}

function speakingWith(child: ChildProcess, listener: AgentListener): AgentProcess {
  child.on('message', (message: unknown) => {
    if (isFromAgent(message)) listener.message(message);
  });
  const end = new Promise<{ how: string; code: number }>((resolve) => {
    child.once('error', (error) =>
      resolve({ how: `could not be started: ${error.message}`, code: startFailed }),
    );
    child.once('exit', (code, signal) => {
      const how = signal === null ? `ended with exit code ${code}` : `was ended by ${signal}`;
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
    listener.gone(how, code);
  });
  return {
    send: (message) => {
      if (child.connected) child.send(message, () => {});
    },
    kill: () => void child.kill('SIGKILL'),
  };
}
