/**
 * A node of the simulated world: a machine on which the shipped agent runs, one incarnation after another,
 * with the shipped client, workload and guard. Between two incarnations, the node remembers what its state
 * directory would contain.
 */

import pino from 'pino';
import { z } from 'zod';
import { Agent } from '../../src/agent/agent.js';
import type { TokenStore } from '../../src/agent/leadership/token-memory.js';
import type { SessionMemory, SessionTicket } from '../../src/agent/session/session-memory.js';
import { PetrelError } from '../../src/errors.js';
import { GuardianChannel, type Parent } from '../../src/guardian/channel.js';
import { CommandWorkload } from '../../src/hooks/command-workload.js';
import { groupPaths } from '../../src/model/paths.js';
import type { Host } from '../../src/ports/host.js';
import { type Operation, type Store, StoreError } from '../../src/ports/store.js';
import type { Workload } from '../../src/ports/workload.js';
import type { SeenTokens } from '../../src/slots/seen-tokens.js';
import { openStore, parseConnectionString } from '../../src/zookeeper/index.js';
import { builtInRules } from '../../strategies/index.js';
import { prepared } from './conduct.js';
import { asAgent, type Credentials, passwordOf, type StoreAccess } from './credentials.js';
import { SimulatedGuardian } from './guardian.js';
import type { Machine } from './machine.js';
import type { Network } from './network.js';
import type { Process } from './process.js';
import type { World } from './world.js';

export interface NodeOptions {
  readonly world: World;
  readonly network: Network;
  readonly machine: Machine;
  readonly name: string;
  readonly site: string;
  /** Priority with which the node registers. The default is 100. */
  readonly priority?: number;
  readonly root: string;
  /** Chroot of the node's connections. The default is none. `root` is a path within it. */
  readonly chroot?: string | undefined;
  /** Credentials with which the node starts. The default is none, for a group without ACLs. */
  readonly credentials?: Credentials | null;
  readonly servers: number;
  readonly sessionTimeoutMs: number;
  readonly hasPrepare: boolean;
  readonly hasFence: boolean;
  readonly hasMemory: boolean;
  /** Called when the agent has exited without being killed. `error` is null if it was asked to stop. */
  ended(error: unknown): void;
}

/** Returns the connection string of a simulated ensemble. */
export function serversText(count: number): string {
  return Array.from({ length: count }, (_, index) => `s:${index + 1}`).join(',');
}

export interface OpenOptions {
  readonly process: Process;
  readonly network: Network;
  readonly machine: string;
  readonly world: World;
  readonly servers: number;
  readonly sessionTimeoutMs: number;
  readonly chroot?: string | undefined;
  readonly access?: StoreAccess | undefined;
  readonly session?: SessionTicket | undefined;
}

/** Opens the shipped client over the simulated network. */
export function openSimulated(options: OpenOptions): Store {
  const { process, network, machine, world, servers, sessionTimeoutMs, session } = options;
  const { chroot = '', access = {} } = options;
  return openStore({
    servers: parseConnectionString(`${serversText(servers)}${chroot}`),
    sessionTimeoutMs,
    clock: process.clock,
    dial: network.dialFrom(process, machine),
    random: () => world.chance.next(),
    lookup: (_host, _options, callback) => callback(null, [{ address: '10.0.0.1', family: 4 }]),
    ...access,
    ...(session === undefined ? {} : { session }),
  });
}

export class Node {
  readonly name: string;
  readonly site: string;
  readonly machine: Machine;
  /** Number of times that this incarnation was asked to leave. */
  leaves = 0;
  /** Instant since which the node's decisions and claims have been lost. */
  muteSinceMs = Number.POSITIVE_INFINITY;
  /** Credentials that the next incarnation reads from its settings. Null if it has none. */
  credentials: Credentials | null;
  readonly #options: NodeOptions;
  #guardian: SimulatedGuardian | null = null;
  #process: Process | null = null;
  #agent: Agent | null = null;
  #store: Store | null = null;
  #lives = 0;
  #guardianLives = 0;
  #isWell = true;
  #remembered: SessionTicket | null = null;
  #seenTokens: SeenTokens | null = null;
  /** Running agents on this machine, by incarnation. */
  readonly #living = new Map<string, Process>();

  constructor(options: NodeOptions) {
    this.#options = options;
    this.name = options.name;
    this.site = options.site;
    this.machine = options.machine;
    this.credentials = options.credentials ?? null;
  }

  get process(): Process | null {
    return this.#process;
  }

  get isUp(): boolean {
    return this.#process?.isAlive === true;
  }

  get agent(): Agent | null {
    return this.isUp ? this.#agent : null;
  }

  /** Whether the node can answer requests now and would answer that it leads. */
  get saysItLeads(): boolean {
    return this.#process?.isRunning === true && this.#agent?.status.leads === true;
  }

  /** The current session. 0n if the node has none. */
  get session(): bigint {
    return this.isUp ? (this.#store?.sessionId ?? 0n) : 0n;
  }

  get isMute(): boolean {
    return this.muteSinceMs <= this.#options.world.nowMs;
  }

  leave(): void {
    this.leaves += 1;
    this.#guardian?.leave();
  }

  /** Sets the health that the node reports. Later incarnations report it, too. */
  sayHealth(isWell: boolean): void {
    this.#isWell = isWell;
    this.#process?.deliver(() => this.#agent?.setHealth(isWell, isWell ? null : 'simulated'));
  }

  /**
   * Starts a guardian, which starts the agent. Does nothing if a guardian is running. If an agent is running
   * without a guardian, the guardian starts after that agent has exited.
   */
  start(): void {
    if (this.#guardian?.process.isAlive === true) return;
    if (this.#process?.isAlive === true) {
      this.#process.onDeath(() => this.#options.world.after(1, () => this.start()));
      return;
    }
    this.#guardianLives += 1;
    this.#guardian = new SimulatedGuardian(
      {
        ...this.#options,
        starts: (process) => this.#starts(process),
        lives: (process, parent) => this.#live(process, parent),
      },
      this.#guardianLives,
    );
  }

  /** Kills the remaining processes of the node and starts the node. */
  restart(): void {
    this.#guardian?.process.kill();
    this.#process?.kill();
    this.start();
  }

  #starts(process: Process): void {
    this.#lives += 1;
    this.leaves = 0;
    this.machine.succeeded.delete(prepared);
    this.#process = process;
    this.#agent = null;
    this.#store = null;
    this.#options.world.note(() => `${process.name} starts`);
  }

  #live(process: Process, parent: Parent): void {
    const { root, chroot, network, world, machine, servers, sessionTimeoutMs } = this.#options;
    const log = this.#log(process);
    const channel = new GuardianChannel(parent, {
      node: this.name,
      root,
      log: 'pretty',
      codeAtDeath: null,
      codeOnSignal: 'done',
    });
    const inner = this.#options.hasMemory ? this.#memory(process) : null;
    const { credentials } = this;
    const auth = credentials && passwordOf(credentials);
    const access = credentials === null ? undefined : asAgent(credentials, groupPaths(root));
    const where = { servers: parseConnectionString(serversText(servers)).servers, tls: null, auth };
    const at = { world, network, machine: machine.name, process, servers, sessionTimeoutMs, chroot, access };
    const agent = new Agent({
      openStore: (session) => {
        const store = openSimulated({ ...at, session });
        if (session === undefined) this.#store = store;
        return this.#muffled(store);
      },
      root,
      node: this.name,
      site: this.site,
      priority: this.#options.priority ?? 100,
      tags: {},
      rules: builtInRules,
      version: 'simulated',
      workload: this.#workload(process, log, channel),
      workloadPlace: 'outside',
      clock: process.clock,
      host: this.#host(process),
      log,
      sessionMemory: channel.memory(inner, where),
      tokenStore: this.#options.hasMemory ? this.#tokenStore() : null,
    });
    this.#agent = agent;
    if (!this.#isWell) this.sayHealth(false);
    channel.listen({
      signalled: () => agent.stop(),
      gone: () => {
        agent.stop();
        agent.stop();
      },
    });
    agent.run().then(
      () => this.#ended(process, parent, null),
      (error: unknown) => this.#ended(process, parent, error),
    );
  }

  /** Wraps a store so that the decisions and claims of a mute node fail, as if they were lost. */
  #muffled(store: Store): Store {
    const paths = groupPaths(this.#options.root);
    const isDecisive = ({ type, path }: Operation) =>
      (type === 'set' && path.startsWith(paths.elected)) ||
      (type === 'create' && path.startsWith(paths.current));
    const multi: Store['multi'] = async (operations, options) => {
      if (this.isMute && operations.some(isDecisive)) throw new StoreError('TIMEOUT', 'muffled');
      return await store.multi(operations, options);
    };
    return new Proxy(store, {
      get: (target, key) => {
        if (key === 'multi') return multi;
        const value: unknown = Reflect.get(target, key, target);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
  }

  #ended(process: Process, parent: Parent, error: unknown): void {
    if (!process.isAlive) return;
    if (error === null || error instanceof PetrelError)
      parent.send({ type: 'ended', code: error === null ? 0 : 1 });
    process.call(() => {
      this.#options.world.note(() => `${process.name} ends${error === null ? '' : `: ${String(error)}`}`);
      process.exit();
      this.#options.ended(error);
    });
  }

  #workload(process: Process, log: pino.Logger, channel: GuardianChannel): Workload {
    const { machine, hasPrepare, hasFence, name: node, root } = this.#options;
    return new CommandWorkload({
      commands: {
        onPrepare: hasPrepare ? ['prepare'] : null,
        onTakeover: ['takeover'],
        onRelease: ['release'],
        onFence: hasFence ? ['fence'] : null,
      },
      node,
      root,
      incarnation: `${machine.name} ${process.name}`,
      log,
      clock: process.clock,
      processes: machine.processesFor(process),
      supervisors: channel.supervisors(machine.supervisorsFor(process)),
    });
  }

  #host(process: Process): Host {
    const name = this.machine.name;
    return {
      name,
      pid: this.#lives,
      newIncarnation: () => `${this.machine.name} ${process.name}`,
      markAgentAlive: (incarnation) => {
        this.#living.set(incarnation, process);
        return () => this.#living.delete(incarnation);
      },
      isOtherAgent: ({ host, incarnation }) =>
        host !== name || this.#living.get(incarnation)?.isAlive === true,
    };
  }

  #memory(process: Process): SessionMemory {
    return {
      earlier: this.#remembered,
      write: (ticket) =>
        process.call(() => {
          this.#remembered = ticket;
        }),
      close: (ended) =>
        process.call(() => {
          if (ended) this.#remembered = null;
        }),
    };
  }

  /** Not counted as calls of the process, so that a fault at its n-th call hits the same call as ever. */
  #tokenStore(): TokenStore {
    return {
      earlier: this.#seenTokens,
      write: async (tokens) => {
        this.#seenTokens = tokens;
      },
    };
  }

  /** Returns a logger that writes the agent's log to the trace, if there is a trace. */
  #log(process: Process): pino.Logger {
    const { world } = this.#options;
    if (world.trace === null) return silent;
    const write = (line: string) => {
      const { msg } = logLine.parse(JSON.parse(line));
      if (process.isAlive) world.note(() => `    ${process.name} says: ${msg}`);
    };
    return pino({ level: 'debug', base: null, timestamp: false }, { write });
  }
}

const silent = pino({ level: 'silent' });
const logLine = z.object({ msg: z.string() });
