/**
 * A machine of the simulated world, to the extent that hooks need one. It has process groups that can be
 * started, signalled and inspected. It also has supervisors, which run the shipped guard in separate
 * processes.
 */
import { Guard } from '../../src/hooks/guard.js';
import type { FromSupervisor, ToSupervisor } from '../../src/hooks/messages.js';
import { hasEnded, type ProcessState } from '../../src/hooks/process-state.js';
import type { Supervisor, SupervisorListener, Supervisors } from '../../src/hooks/supervisors.js';
import type { CommandLine, Exit, GroupSignal, Processes, StartedCommand } from '../../src/ports/processes.js';
import type { Phase } from '../../src/ports/workload.js';
import { Link } from './link.js';
import { type MachineClock, Process } from './process.js';
import type { World } from './world.js';

/**
 * Behaviour of a hook.
 * - `stubborn` hangs and ignores SIGTERM.
 * - `headless` succeeds and leaves a workload whose main thread has ended and which ignores SIGTERM.
 * - `undying` succeeds, and then survives even SIGKILL for a long time.
 * - `fatal` hangs and kills its agent.
 */
export type Mood = 'well' | 'slow' | 'fails' | 'hangs' | 'stubborn' | 'headless' | 'undying' | 'fatal';

/** A process group whose leader is a hook command. */
export interface Group {
  readonly pgid: number;
  readonly phase: Phase;
  readonly token: bigint;
  readonly slot: number;
  /** Name of the node to fence. Empty for other hooks. */
  readonly target: string;
  /** Name of the run that the group belongs to. */
  readonly run: string;
  /** Whether the command itself is running. */
  leads: boolean;
  /** Whether the command left a workload in the background. */
  hasWorkload: boolean;
  ignoresTerm: boolean;
  /** Whether the group currently survives SIGKILL. */
  isUndying: boolean;
  /** The agent, supervisor or guardian that started this group. */
  readonly starter: Process;
  /**
   * The agent during whose incarnation this group was started. Null if a guardian started the group for its
   * current agent.
   */
  readonly agent: Process | null;
  readonly mood: Mood;
}

export interface MachineListener {
  /** Called when a hook command has just been started. */
  started(group: Group): void;
  /** Called when a hook command has failed. */
  failed(group: Group): void;
  /** Called when a hook command kills its agent. */
  kills(group: Group): void;
  /** Called when no process of the group is left. */
  ended(group: Group): void;
  /**
   * Called when a fence hook is about to report that a node's workload is dead. The workload must be dead
   * afterwards.
   */
  fences(target: string): void;
}

const hookDelays = { leastMs: 5, mostMs: 120 };
const slowDelays = { leastMs: 300, mostMs: 1200 };
const dyingMs = 3;
export const undyingMs = 5_000;
const bootDelays = { leastMs: 20, mostMs: 60 };
const channelDelays = { leastMs: 0.05, mostMs: 1 };

export class Machine {
  readonly name: string;
  readonly clock: MachineClock;
  /** Behaviour of hooks by phase. The default is `well`. */
  readonly moods = new Map<Phase, Mood>();
  /** Hooks that have succeeded. Each entry consists of the phase and the token. */
  readonly succeeded = new Set<string>();
  /**
   * Every running process that runs hooks. These are guardians, and the supervisors that agents without a
   * guardian start.
   */
  readonly supervisors = new Set<Process>();
  /** Every guardian that has ever run. A dead guardian leaves its reaper behind. */
  readonly guardians = new Set<Process>();
  /** The agent of each supervisor. */
  readonly #agents = new Map<Process, Process>();
  readonly #world: World;
  readonly #listener: MachineListener;
  readonly #groups = new Map<number, Group>();
  /** Instants at which the last misbehaving hook ended, by phase. */
  readonly #misbehavedMs = new Map<Phase, number>();
  #pgids = 0;

  constructor(world: World, name: string, clock: MachineClock, listener: MachineListener) {
    this.#world = world;
    this.name = name;
    this.clock = clock;
    this.#listener = listener;
  }

  get groups(): readonly Group[] {
    return [...this.#groups.values()];
  }

  /**
   * Whether hooks are set to misbehave, or a hook is misbehaving now, or a hook misbehaved less than
   * `withinMs` ago.
   */
  misbehaves(withinMs: number, phase: Phase | null = null): boolean {
    const isMeant = (one: Phase) => phase === null || one === phase;
    return [...this.moods.keys()].some(isMeant) || this.misbehaved(withinMs, phase);
  }

  /**
   * Whether a hook is misbehaving now, or misbehaved less than `withinMs` ago. Ignores how future hooks are
   * set to behave.
   */
  misbehaved(withinMs: number, phase: Phase | null = null): boolean {
    const isMeant = (one: Phase) => phase === null || one === phase;
    const { nowMs } = this.#world;
    return (
      this.groups.some((group) => isMeant(group.phase) && isMisbehaving(group)) ||
      [...this.#misbehavedMs].some(([one, atMs]) => isMeant(one) && nowMs - atMs < withinMs)
    );
  }

  kept(agent: Process, supervisor: Process): void {
    this.#agents.set(supervisor, agent);
    this.supervisors.add(supervisor);
  }

  /** Kills all groups, as when the machine is powered off. Nothing is notified of their ends. */
  killGroups(): void {
    for (const group of this.groups) this.#kill(group, true);
  }

  /** Kills groups, as the reaper of a dead guardian does. */
  killGroupsOf(pgids: readonly number[]): void {
    for (const pgid of pgids) this.#signal(pgid, 'SIGKILL');
  }

  /** Returns the machine's processes as `process` sees them. */
  processesFor(process: Process): Processes {
    return {
      start: (command) => this.#start(process, command),
      signalGroup: (pgid, signal) => process.call(() => this.#signal(pgid, signal)),
      groupExists: (pgid) => this.#groups.has(pgid),
      groupIsAlive: (pgid) => statesOf(this.#groups.get(pgid)).some((state) => !hasEnded(state)),
      groupsWith: (_variable, value) =>
        this.groups.filter(({ run }) => run === value).map(({ pgid }) => pgid),
    };
  }

  #start(process: Process, { env }: CommandLine): StartedCommand {
    this.#pgids += 1;
    const pgid = this.#pgids;
    const phase = phaseOf(env.PETREL_PHASE);
    const token = BigInt(env.PETREL_FENCING_TOKEN || 0);
    let reportExit: (exit: Exit) => void = () => {};
    const exit = new Promise<Exit>((resolve) => {
      reportExit = (how) => process.deliver(() => resolve(how));
    });
    process.call(() => {
      const mood = this.moods.get(phase) ?? 'well';
      const ignoresTerm = mood === 'stubborn' || mood === 'headless';
      const target = env.PETREL_TARGET ?? '';
      const run = env.PETREL_RUN ?? '';
      const isUndying = mood === 'undying';
      const agent = this.guardians.has(process) ? null : (this.#agents.get(process) ?? process);
      const slot = Number(env.PETREL_SLOT);
      const known = { pgid, phase, token, slot, target, run, starter: process, agent, mood };
      const group: Group = { ...known, leads: true, hasWorkload: false, ignoresTerm, isUndying };
      this.#exits.set(pgid, reportExit);
      this.#groups.set(pgid, group);
      this.#world.note(() => `${this.name}: ${phase} hook starts (${mood}), token ${token}`);
      this.#listener.started(group);
      if (mood === 'fatal') this.#listener.kills(group);
      if (mood === 'hangs' || mood === 'stubborn' || mood === 'fatal') return;
      const { leastMs, mostMs } = mood === 'slow' ? slowDelays : hookDelays;
      this.#world.after(this.#world.chance.between(leastMs, mostMs), () =>
        this.#finish(group, mood !== 'fails'),
      );
    });
    return { pgid, stdout: null, stderr: null, exit, closed: Promise.resolve() };
  }

  readonly #exits = new Map<number, (exit: Exit) => void>();

  #finish(group: Group, isWell: boolean): void {
    if (!group.leads) return;
    group.hasWorkload = isWell && group.phase === 'takeover';
    if (isWell) this.succeeded.add(`${group.phase} ${group.token}`);
    if (!isWell) this.#listener.failed(group);
    if (isWell && group.phase === 'fence') this.#listener.fences(group.target);
    this.#leaderEnds(group, { code: isWell ? 0 : 1, signal: null, startError: null });
  }

  #leaderEnds(group: Group, how: Exit): void {
    if (isMisbehaving(group)) this.#misbehavedMs.set(group.phase, this.#world.nowMs);
    if (group.leads) {
      group.leads = false;
      this.#world.note(
        () => `${this.name}: ${group.phase} hook ends with ${how.signal ?? how.code}, token ${group.token}`,
      );
      this.#exits.get(group.pgid)?.(how);
      this.#exits.delete(group.pgid);
    }
    if (group.hasWorkload || !this.#groups.delete(group.pgid)) return;
    this.#listener.ended(group);
  }

  #signal(pgid: number, signal: GroupSignal): void {
    const group = this.#groups.get(pgid);
    if (group === undefined || signal === 'SIGCONT') return;
    if (signal === 'SIGTERM' && (group.ignoresTerm || group.isUndying)) return;
    const delayMs = group.isUndying ? undyingMs : this.#world.chance.between(0, dyingMs);
    this.#world.after(delayMs, () => this.#kill(group, signal === 'SIGKILL'));
  }

  #kill(group: Group, isForced: boolean): void {
    if (!this.#groups.has(group.pgid)) return;
    group.hasWorkload = false;
    this.#leaderEnds(group, { code: null, signal: isForced ? 'SIGKILL' : 'SIGTERM', startError: null });
  }

  /** Returns the supervisors that one agent can start. */
  supervisorsFor(agent: Process): Supervisors {
    return { start: (_, listener) => new SimulatedSupervisor(this.#world, this, agent, listener) };
  }
}

/** Whether a group is misbehaving. A workload in the background is not, unless it ignores SIGTERM. */
function isMisbehaving({ mood, leads, isUndying }: Group): boolean {
  return isUndying || mood === 'headless' || (leads && mood !== 'well');
}

/** Returns the states that the operating system reports for a group's processes. */
function statesOf(group: Group | undefined): Pick<ProcessState, 'state' | 'threads'>[] {
  if (group === undefined) return [];
  const runs = { state: 'S', threads: 1 };
  const workload = group.mood === 'headless' ? { state: 'Z', threads: 2 } : runs;
  return [...(group.leads ? [runs] : []), ...(group.hasWorkload ? [workload] : [])];
}

const phases: readonly Phase[] = ['prepare', 'takeover', 'release', 'fence'];

function phaseOf(text: string | undefined): Phase {
  const phase = phases.find((one) => one === text);
  if (phase === undefined) throw new Error(`a hook without a phase: ${text}`);
  return phase;
}

class SimulatedSupervisor implements Supervisor {
  readonly name = 'the supervisor';
  readonly #agent: Process;
  readonly #process: Process;
  readonly #there: Link;
  readonly #gone: Promise<void>;
  /** The guard that this supervisor runs. Null until the supervisor has booted. */
  #guard: Guard | null = null;
  #early: (() => void)[] = [];
  #isLeft = false;

  constructor(world: World, machine: Machine, agent: Process, listener: SupervisorListener) {
    this.#agent = agent;
    const process = new Process(world, `supervisor of ${machine.name}`, machine.clock);
    this.#process = process;
    this.#there = new Link(world, channelDelays);
    const back = new Link(world, channelDelays);
    machine.kept(agent, process);
    this.#gone = new Promise((resolve) => {
      process.onDeath(() => {
        machine.supervisors.delete(process);
        back.send(() =>
          agent.deliver(() => {
            listener.gone('ended');
            resolve();
          }),
        );
      });
    });
    agent.onDeath(() => this.#disconnect());
    const post = (message: FromSupervisor) => {
      process.call(() => back.send(() => agent.deliver(() => listener.message(message))));
    };
    const idle = () => {
      if (this.#isLeft) world.after(0, () => process.exit());
    };
    world.after(world.chance.between(bootDelays.leastMs, bootDelays.mostMs), () => {
      process.deliver(() => {
        this.#guard = new Guard(
          { post, idle },
          { clock: process.clock, processes: machine.processesFor(process) },
        );
        for (const early of this.#early.splice(0)) early();
      });
    });
  }

  send(message: ToSupervisor): void {
    this.#agent.call(() => this.#there.send(() => this.#deliver((guard) => guard.handle(message))));
  }

  kill(): void {
    this.#agent.call(() => this.#process.kill());
  }

  async leave(): Promise<void> {
    this.#agent.call(() => this.#disconnect());
    await this.#gone;
  }

  #disconnect(): void {
    this.#there.send(() =>
      this.#deliver((guard) => {
        if (this.#isLeft) return;
        this.#isLeft = true;
        guard.agentGone('the agent died');
      }),
    );
  }

  #deliver(what: (guard: Guard) => void): void {
    this.#process.deliver(() => {
      if (this.#guard === null) this.#early.push(() => this.#guard !== null && what(this.#guard));
      else what(this.#guard);
    });
  }
}
