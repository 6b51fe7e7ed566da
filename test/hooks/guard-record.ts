/** A guard on a simulated machine, and a record of what it did. */
import { Guard } from '../../src/hooks/guard.js';
import {
  type FromSupervisor,
  type LeadershipLease,
  type RunRequest,
  unasked,
} from '../../src/hooks/messages.js';
import type { Machine, Processes } from '../../src/ports/processes.js';
import { type Script, SimulatedMachine } from './simulated-machine.js';

export const forever = Number.POSITIVE_INFINITY;
export const quick: Script = { runsMs: 5, code: 0, stopsInMs: 0, diesInMs: 0, workload: null };
export const stubborn: Script = { ...quick, runsMs: forever, stopsInMs: forever };
/** A command that succeeds and leaves a workload that ignores SIGTERM. */
export const leavesStubborn: Script = { ...quick, workload: stubborn };

export const lease: LeadershipLease = { leadership: 1, releaseAtMs: 1_000, endsAtMs: 2_000 };

export function request(phase: RunRequest['phase'], changes: Partial<RunRequest> = {}): RunRequest {
  return {
    id: { prepare: 1, takeover: 2, release: 3, fence: 4 }[phase],
    leadership: phase === 'takeover' || phase === 'release' ? 1 : 0,
    phase,
    term: 3,
    slot: null,
    name: { prepare: 'onPrepare', takeover: 'onTakeover', release: 'onRelease', fence: 'onFence' }[phase],
    foreground: false,
    command: { program: phase, args: [], text: phase },
    env: { PETREL_PHASE: phase },
    timeoutMs: 100_000,
    graceMs: 100_000,
    ...changes,
  };
}

type Scripts = Partial<Record<RunRequest['phase'], Script>>;

/**
 * Returns a guard whose commands behave as in `scripts`, and a record of what it did. `noted` returns the
 * lease that the agent has shared. `start` replaces the way in which the machine starts commands.
 */
export function guarding(
  scripts: Scripts = {},
  noted: () => LeadershipLease | null = () => null,
  start?: Processes['start'],
) {
  const known = new Map<string, Script>(Object.entries(scripts));
  const machine = new SimulatedMachine(({ program }) => known.get(program) ?? quick);
  const seen = machine.seenBy(machine.newProcess('guard'));
  const signals: string[] = [];
  const own: Machine = {
    ...seen,
    processes: {
      ...seen.processes,
      start: start ?? seen.processes.start,
      signalGroup: (pgid, signal) => {
        const program = machine.groups.get(pgid)?.command.program ?? 'nothing';
        if (signal !== 'SIGCONT') signals.push(`${Math.round(machine.world.nowMs)}: ${signal} ${program}`);
        seen.processes.signalGroup(pgid, signal);
      },
    },
  };
  const said: FromSupervisor[] = [];
  let idles = 0;
  const idle = () => {
    idles += 1;
  };
  const guard = new Guard({ post: (message) => said.push(message), idle }, own, noted);
  return {
    machine,
    guard,
    signals,
    said,
    idles: () => idles,
    /** Returns the outcome that was reported for a request. */
    outcomeOf: (id: number) =>
      said.flatMap((one) => (one.type === 'outcome' && one.id === id ? [one.outcome] : []))[0],
    ended: () => said.find((one) => one.type === 'lease-ended'),
  };
}

/** Returns a guard that holds `lease`, and has run the takeover. */
export async function leading(scripts: Scripts = {}, noted?: () => LeadershipLease | null) {
  const on = guarding(scripts, noted);
  on.guard.handle({ type: 'guard', release: request('release', { id: unasked }), begun: false });
  on.guard.handle({ type: 'lease', ...lease });
  on.guard.handle({ type: 'run', request: request('takeover') });
  await on.machine.run(500);
  return on;
}
