/**
 * A machine in a simulated world. Its commands behave as scripted, and may die late. It runs the
 * CommandWorkload and Guard that Petrel ships.
 */
import { CommandWorkload, type HookCommands } from '../../src/hooks/command-workload.js';
import { Guard } from '../../src/hooks/guard.js';
import {
  killedText,
  type Supervisor,
  type SupervisorListener,
  type Supervisors,
} from '../../src/hooks/supervisors.js';
import type { CommandLine, Exit, Machine, Processes, StartedCommand } from '../../src/ports/processes.js';
import { Link } from '../simulation/link.js';
import { type MachineClock, Process } from '../simulation/process.js';
import { World } from '../simulation/world.js';
import { type Chance, chance } from '../support/chance.js';
import { silentLog } from './support.js';

/** Behaviour of a process that a command starts. */
export interface Behaviour {
  /** Time after which the process ends by itself. Infinity if it runs until it receives a signal. */
  readonly runsMs: number;
  readonly code: number;
  /** Time from SIGTERM to the end of the process. Infinity if it ignores SIGTERM. */
  readonly stopsInMs: number;
  /** Time from SIGKILL to the end of the process. Greater than 0 if it is in uninterruptible sleep. */
  readonly diesInMs: number;
}

export interface Script extends Behaviour {
  /** A process that the first process of the group leaves in the background. Null if it leaves none. */
  readonly workload: Behaviour | null;
}

export interface Group {
  readonly pgid: number;
  readonly command: CommandLine;
  readonly leader: Member;
  readonly members: Set<Member>;
}

class Member {
  readonly #world: World;
  readonly #behaviour: Behaviour;
  readonly #ended: (exit: Exit) => void;
  #over = false;

  constructor(world: World, behaviour: Behaviour, ended: (exit: Exit) => void) {
    this.#world = world;
    this.#behaviour = behaviour;
    this.#ended = ended;
    const { runsMs, code } = behaviour;
    if (runsMs < Number.POSITIVE_INFINITY) world.after(runsMs, () => this.#end(code, null));
  }

  signal(signal: string): void {
    const { stopsInMs, diesInMs } = this.#behaviour;
    if (signal === 'SIGKILL') {
      if (diesInMs === 0) this.#end(null, signal);
      else this.#world.after(diesInMs, () => this.#end(null, signal));
    } else if (signal === 'SIGTERM' && stopsInMs < Number.POSITIVE_INFINITY) {
      this.#world.after(stopsInMs, () => this.#end(null, signal));
    }
  }

  #end(code: number | null, signal: string | null): void {
    if (this.#over) return;
    this.#over = true;
    this.#ended({ code, signal, startError: null });
  }
}

const machineClock: MachineClock = { rate: 1, startMs: 0, wallMs: 0 };
const channelDelays = { leastMs: 0, mostMs: 5 };

export class SimulatedMachine {
  readonly world: World;
  readonly groups = new Map<number, Group>();
  /** Phases of the commands that were started, oldest first. */
  readonly started: string[] = [];
  readonly #script: (command: CommandLine) => Script;
  readonly #supervisors: Process[] = [];
  #lastPgid = 1000;

  /** The machine calls `script` once for each command that it starts. */
  constructor(script: (command: CommandLine) => Script, draw: Chance = chance(1)) {
    this.world = new World(draw);
    this.#script = script;
  }

  get supervisor(): Process | undefined {
    return this.#supervisors.findLast(({ isAlive }) => isAlive);
  }

  newProcess(name: string): Process {
    return new Process(this.world, name, machineClock);
  }

  /** Runs the simulation until `untilMs`, and calls `look` after each step. */
  async run(untilMs: number, look: () => void = () => {}): Promise<void> {
    await new Promise<void>((resolve) => setImmediate(resolve));
    await this.world.run(untilMs, () => {
      look();
      return false;
    });
  }

  /** Returns the machine as it appears to one of its processes. */
  seenBy(process: Process): Machine {
    const processes: Processes = {
      start: (command) => this.#start(process, command),
      signalGroup: (pgid, signal) =>
        process.call(() => {
          for (const member of [...(this.groups.get(pgid)?.members ?? [])]) member.signal(signal);
        }),
      groupExists: (pgid) => this.groups.has(pgid),
      groupIsAlive: (pgid) => this.groups.has(pgid),
      groupsWith: (variable, value) =>
        [...this.groups.values()]
          .filter(({ command }) => command.env[variable] === value)
          .map(({ pgid }) => pgid),
    };
    return { clock: process.clock, processes };
  }

  /** Returns the workload of an agent on this machine. */
  workloadOf(agent: Process, commands: HookCommands, log = silentLog): CommandWorkload {
    const about = { node: 'a1', root: '/cluster', incarnation: 'one', log };
    return new CommandWorkload({
      commands,
      ...about,
      ...this.seenBy(agent),
      supervisors: this.supervisorsOf(agent),
    });
  }

  /** Returns the supervisors that the agent starts. */
  supervisorsOf(agent: Process): Supervisors {
    return { start: (_, listener) => this.#startSupervisor(agent, listener) };
  }

  #start(starter: Process, command: CommandLine): StartedCommand {
    const pgid = ++this.#lastPgid;
    const [exit, exited] = deferred<Exit>();
    const [closed, close] = deferred<void>();
    starter.call(() => {
      const script = this.#script(command);
      this.started.push(command.env.PETREL_PHASE ?? '');
      const members = new Set<Member>();
      const add = (behaviour: Behaviour, ended: (exit: Exit) => void) => {
        const member: Member = new Member(this.world, behaviour, (how) => {
          members.delete(member);
          ended(how);
          if (members.size > 0) return;
          this.groups.delete(pgid);
          starter.deliver(close);
        });
        members.add(member);
        return member;
      };
      const leader = add(script, (how) => starter.deliver(() => exited(how)));
      if (script.workload !== null) add(script.workload, () => {});
      this.groups.set(pgid, { pgid, command, leader, members });
    });
    return { pgid, stdout: null, stderr: null, exit, closed };
  }

  #startSupervisor(agent: Process, listener: SupervisorListener): Supervisor {
    const supervisor = this.newProcess('supervisor');
    this.#supervisors.push(supervisor);
    const [gone, hasGone] = deferred<void>();
    const there = new Link(this.world, channelDelays);
    const back = new Link(this.world, channelDelays);
    let left = false;
    let killedBecause: string | null = null;
    const guard = new Guard(
      {
        post: (message) =>
          supervisor.call(() =>
            back.send(() => agent.deliver(() => left || listener.message(copyOf(message)))),
          ),
        idle: () => {
          if (left) supervisor.kill();
        },
      },
      this.seenBy(supervisor),
    );
    const deliver = (what: () => void) => there.send(() => supervisor.deliver(what));
    const leave = () => {
      deliver(() => {
        if (left) return;
        left = true;
        guard.agentGone('the agent died');
      });
    };
    agent.onDeath(leave);
    supervisor.onDeath(() =>
      back.send(() =>
        agent.deliver(() => {
          listener.gone(killedBecause === null ? 'was killed' : killedText(killedBecause));
          hasGone();
        }),
      ),
    );
    return {
      name: 'the supervisor',
      send: (message) => agent.call(() => deliver(() => guard.handle(copyOf(message)))),
      kill: (sign) =>
        agent.call(() => {
          killedBecause = sign;
          supervisor.kill();
        }),
      leave: () => {
        agent.call(leave);
        return gone;
      },
    };
  }
}

/** Copies a message in the same way as the channel between two Node.js processes. */
function copyOf<T>(message: T): T {
  return JSON.parse(JSON.stringify(message));
}

function deferred<T>(): [Promise<T>, (value: T) => void] {
  let settle: (value: T) => void = () => {};
  const promise = new Promise<T>((resolve) => {
    settle = resolve;
  });
  return [promise, settle];
}
