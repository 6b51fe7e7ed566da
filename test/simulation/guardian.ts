/**
 * A guardian of the simulated world. It runs the shipped guardian as a separate process, which starts agents
 * and may lose them.
 */

import type { AgentListener, AgentProcess } from '../../src/guardian/agent-run.js';
import type { Parent } from '../../src/guardian/channel.js';
import { Guardian } from '../../src/guardian/guardian.js';
import { HeldSession } from '../../src/guardian/held-session.js';
import type { FromAgent, SessionNote, ToAgent } from '../../src/guardian/messages.js';
import { Report } from '../../src/guardian/report.js';
import type { LeadershipLease } from '../../src/hooks/messages.js';
import { Link } from './link.js';
import type { Machine } from './machine.js';
import type { Network } from './network.js';
import { Process } from './process.js';
import type { World } from './world.js';

export interface GuardianOptions {
  readonly world: World;
  readonly network: Network;
  readonly machine: Machine;
  readonly name: string;
  /** Called when an agent starts to run. */
  lives(agent: Process, parent: Parent): void;
  /** Called when the guardian has started a process for an agent. The agent is still booting. */
  starts(agent: Process): void;
}

const bootDelays = { leastMs: 20, mostMs: 60 };
const channelDelays = { leastMs: 0.05, mostMs: 1 };
const killedCode = 137;

const nobody = { status() {}, reloading() {}, reloaded() {}, stopping() {} };

export class SimulatedGuardian {
  readonly process: Process;
  readonly #options: GuardianOptions;
  #guardian: Guardian | null = null;
  #watched: readonly number[] = [];
  #lives = 0;

  constructor(options: GuardianOptions, life: number) {
    const { world, machine, name } = options;
    this.#options = options;
    this.process = new Process(world, `guardian ${life} of ${name}`, machine.clock);
    machine.supervisors.add(this.process);
    machine.guardians.add(this.process);
    this.process.onDeath(() => {
      machine.supervisors.delete(this.process);
      machine.killGroupsOf(this.#watched);
    });
    world.note(() => `${this.process.name} starts`);
    this.process.deliver(() => this.#run());
  }

  leave(): void {
    this.process.deliver(() => this.#guardian?.signalled('SIGTERM'));
  }

  #run(): void {
    const { world, machine } = this.#options;
    const { clock } = this.process;
    const write = (line: string) => world.note(() => `    ${this.process.name} says: ${line.trim()}`);
    this.#guardian = new Guardian({
      clock,
      processes: machine.processesFor(this.process),
      startAgent: (listener) => this.#startAgent(listener),
      holdSession: (session) => this.#hold(session),
      watchOver: (pgids) => this.process.call(() => (this.#watched = pgids)),
      report: new Report(clock, { write }),
      manager: nobody,
    });
    void this.#guardian.run().then((code) =>
      this.process.call(() => {
        world.note(() => `${this.process.name} ends with ${code}`);
        this.process.exit();
      }),
    );
  }

  #hold(session: SessionNote): HeldSession {
    const { world, network, machine } = this.#options;
    return new HeldSession({
      session,
      clock: this.process.clock,
      dial: network.dialFrom(this.process, machine.name),
      random: () => world.chance.next(),
      lookup: (_host, _options, callback) => callback(null, [{ address: '10.0.0.1', family: 4 }]),
    });
  }

  #startAgent(listener: AgentListener): AgentProcess {
    const { world, machine, name, lives, starts } = this.#options;
    this.#lives += 1;
    const agent = new Process(world, `${name} life ${this.#lives} under ${this.process.name}`, machine.clock);
    const there = new Link(world, channelDelays);
    const back = new Link(world, channelDelays);
    const toGuardian = (happen: () => void) => back.send(() => this.process.deliver(happen));
    const parent = new SimulatedParent(agent, this.process, (message) =>
      toGuardian(() => listener.message(message)),
    );
    agent.onDeath(() => toGuardian(() => listener.gone('was killed by SIGKILL', killedCode)));
    this.process.onDeath(() => there.send(() => agent.deliver(() => parent.lost())));
    this.process.call(() => {
      starts(agent);
      world.after(world.chance.between(bootDelays.leastMs, bootDelays.mostMs), () => {
        agent.deliver(() => lives(agent, parent));
      });
    });
    return {
      send: (message) =>
        this.process.call(() => there.send(() => agent.deliver(() => parent.receive(message)))),
      kill: () => this.process.call(() => agent.kill()),
      lease: () => parent.noted,
    };
  }
}

class SimulatedParent implements Parent {
  isThere = true;
  /** Content of the shared lease. Null if nothing has been written. */
  noted: LeadershipLease | null = null;
  readonly sharedLease = {
    write: (lease: LeadershipLease) => {
      this.#agent.call(() => {
        this.noted = lease;
      });
      return true;
    },
  };
  readonly #agent: Process;
  readonly #guardian: Process;
  readonly #send: (message: FromAgent) => void;
  #listener: { readonly message: (message: ToAgent) => void; readonly gone: () => void } | null = null;
  #early: ToAgent[] = [];

  constructor(agent: Process, guardian: Process, send: (message: FromAgent) => void) {
    this.#agent = agent;
    this.#guardian = guardian;
    this.#send = send;
  }

  send(message: FromAgent): void {
    this.#agent.call(() => this.#send(message));
  }

  kill(): void {
    this.#agent.call(() => this.#guardian.kill());
  }

  listen(message: (message: ToAgent) => void, gone: () => void): () => void {
    this.#listener = { message, gone };
    for (const early of this.#early.splice(0)) message(early);
    if (!this.isThere) this.#agent.clock.turn(gone);
    return () => {
      this.#listener = null;
    };
  }

  receive(message: ToAgent): void {
    if (this.#listener === null) this.#early.push(message);
    else this.#listener.message(message);
  }

  lost(): void {
    this.isThere = false;
    this.#listener?.gone();
  }
}
