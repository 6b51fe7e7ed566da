/**
 * The guardian's program. It loads only the modules in this folder and their dependencies, which need only
 * Node.js. The process is therefore small, and contains little that could hang.
 */
import { keepPipesReady } from '../hooks/pipes.js';
import { systemProcesses } from '../hooks/system-processes.js';
import { LineWriter } from '../line-writer.js';
import { systemClock } from '../ports/clock.js';
import { dialOver } from '../zookeeper/dial.js';
import type { Logger } from '../zookeeper/session.js';
import { startAgentProcess } from './agent-process.js';
import { Certificates } from './certificates.js';
import { collectGarbage } from './garbage.js';
import { Guardian } from './guardian.js';
import { HeldSession } from './held-session.js';
import { leaveSignals } from './leave-signals.js';
import { handledSignals } from './messages.js';
import { Reaper } from './reaper.js';
import { Report } from './report.js';
import { systemdOf } from './service-manager.js';

const stderrFd = 2;
const maxLogBytes = 1024 * 1024;

/** Runs `program` with these arguments as an agent. Resolves with the agent's exit code. */
export async function runGuardian(program: string, args: readonly string[]): Promise<number> {
  const clock = systemClock;
  const report = new Report(clock, new LineWriter(stderrFd, maxLogBytes));
  const systemd = systemdOf(process.env, (text) => report.say('warn', text));
  const guardian = new Guardian({
    clock,
    processes: systemProcesses,
    startAgent: (listener) => startAgentProcess(program, args, listener),
    holdSession: (session) => {
      const tls = session.tls === null ? null : new Certificates(session.tls, clock, logTo(report));
      const dial = dialOver(tls === null ? undefined : () => tls.inForce());
      const prepare = (limitMs: number) => tls?.renew(limitMs) ?? null;
      return new HeldSession({ session, clock, dial, prepare, random: Math.random });
    },
    watchOver: (pgids) => reaper.watchOver(pgids),
    report,
    manager: systemd,
  });
  for (const signal of handledSignals) {
    process.on(signal, () => guardian.signalled(signal, leaveSignals.includes(signal)));
  }
  // A guardian with a channel to a parent (`petrel dev`) leaves when the parent is gone. Without a channel,
  // `connected` is undefined.
  process.once('disconnect', () => guardian.signalled('SIGTERM'));
  if (process.connected === false) guardian.signalled('SIGTERM');
  const done = guardian.run();
  // Start everything else after the agent, because the agent takes the longest to start.
  const reaper = new Reaper();
  void keepPipesReady();
  collectGarbage();
  systemd.watch(() => guardian.isWell);
  const code = await done;
  reaper.close();
  if (process.connected) process.disconnect();
  return code;
}

function logTo(report: Report): Logger {
  return {
    debug() {},
    info: (_fields, message) => report.say('info', message),
    warn: (_fields, message) => report.say('warn', message),
  };
}
