/**
 * An agent's workload whose supervisor and processes the test plays, in time that only the test moves.
 */
import {
  CommandWorkload,
  type CommandWorkloadOptions,
  type HookCommands,
} from '../../src/hooks/command-workload.js';
import type { FromSupervisor, ToSupervisor } from '../../src/hooks/messages.js';
import type { Supervisor, SupervisorListener, SupervisorOptions } from '../../src/hooks/supervisors.js';
import type { HookResult, WorkloadEnd } from '../../src/ports/workload.js';
import type { HandClock } from '../support/hand-clock.js';
import { settled } from '../support/hand-clock.js';
import { capturedLog } from './captured-log.js';
import { machineWith } from './hand-machine.js';
import { context } from './hook-context.js';

export const all: HookCommands = {
  onPrepare: 'prepare',
  onTakeover: ['take', 'over'],
  onRelease: 'release',
  onFence: null,
};
export const ok: HookResult = {
  result: 'ok',
  exitCode: 0,
  signal: null,
  durationMs: 5,
  command: 'it',
  error: null,
  outputTail: [],
  provenDead: true,
};

export class Played implements Supervisor {
  readonly name = 'the supervisor';
  readonly options: SupervisorOptions;
  readonly sent: ToSupervisor[] = [];
  readonly killed: string[] = [];
  readonly #listener: SupervisorListener;
  /** Resolves the agent's request to leave. */
  left = () => {};
  hasLeft = false;

  constructor(options: SupervisorOptions, listener: SupervisorListener) {
    this.options = options;
    this.#listener = listener;
  }

  send(message: ToSupervisor): void {
    this.sent.push(message);
  }

  kill(sign: string): void {
    this.killed.push(sign);
  }

  leave(): Promise<void> {
    this.hasLeft = true;
    return new Promise((resolve) => {
      this.left = resolve;
    });
  }

  async says(message: FromSupervisor): Promise<void> {
    this.#listener.message(message);
    await settled();
  }

  async ended(id: number, outcome: Partial<HookResult> = {}): Promise<void> {
    await this.says({ type: 'outcome', id, outcome: { ...ok, ...outcome } });
  }

  async dies(how = 'was killed'): Promise<void> {
    this.#listener.gone(how);
    await settled();
  }

  get types(): string[] {
    return this.sent.map(({ type }) => type);
  }

  get requests() {
    return this.sent.flatMap((message) => (message.type === 'run' ? [message.request] : []));
  }
}

export interface Stage {
  readonly clock: HandClock;
  readonly signals: readonly string[];
  readonly workload: CommandWorkload;
  readonly supervisors: readonly Played[];
  readonly ends: readonly WorkloadEnd[];
  /** Lines of the log: level, phase if there is one, and message. */
  readonly logged: readonly string[];
  /** The fields of these lines. */
  readonly fields: readonly Readonly<Record<string, unknown>>[];
  /** Groups of processes that are alive, each with the run that started it. */
  readonly alive: Map<number, string>;
}

export function stage(
  commands: Partial<HookCommands> = all,
  options: Partial<CommandWorkloadOptions> = {},
): Stage {
  const alive = new Map<number, string>();
  const supervisors: Played[] = [];
  const ends: WorkloadEnd[] = [];
  const { clock, machine, signals } = machineWith({
    groupExists: (pgid) => alive.has(pgid),
    groupIsAlive: (pgid) => alive.has(pgid),
    groupsWith: (variable, value) =>
      variable === 'PETREL_RUN' ? [...alive].flatMap(([pgid, run]) => (run === value ? [pgid] : [])) : [],
  });
  const { signalGroup } = machine.processes;
  machine.processes.signalGroup = (pgid, signal) => {
    signalGroup(pgid, signal);
    if (signal === 'SIGKILL') alive.delete(pgid);
  };
  const { log, logged, fields } = capturedLog();
  const workload = new CommandWorkload({
    commands: { onPrepare: null, onTakeover: null, onRelease: null, onFence: null, ...commands },
    node: 'a1',
    root: '/cluster',
    incarnation: 'one',
    log,
    ...machine,
    supervisors: {
      start: (about, listener) => {
        const supervisor = new Played(about, listener);
        supervisors.push(supervisor);
        return supervisor;
      },
    },
    ...options,
  });
  workload.onEnd((end) => ends.push(end));
  return { clock, signals, workload, supervisors, ends, logged, fields, alive };
}

export function first({ supervisors }: Stage, index = 0): Played {
  const supervisor = supervisors[index];
  if (supervisor === undefined) throw new Error(`only ${supervisors.length} supervisors`);
  return supervisor;
}

/** A leader whose takeover has succeeded and left the group 5102. */
export async function leader(): Promise<Stage & { readonly supervisor: Played }> {
  const on = stage();
  const supervisor = first(on);
  on.workload.holdLease({ releaseAtMs: 4_000, endsAtMs: 5_000 }, context('release'));
  void on.workload.run(context('takeover'));
  on.alive.set(5_102, 'one.1');
  await supervisor.says({ type: 'started', id: 1, pgid: 5_102 });
  await supervisor.ended(1, { provenDead: false });
  return { ...on, supervisor };
}
