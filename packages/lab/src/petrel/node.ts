/** One incarnation of a node: Petrel's agent and client, with a workload that takes no time. */

import {
  Agent,
  builtInRules,
  type Clock,
  FunctionWorkload,
  type Host,
  openStore,
  PetrelError,
  type SessionTicket,
  type Store,
  silentLogger,
} from 'petrel/internals';
import { nobody } from '../census.js';
import type { Context, Node } from '../protocol.js';
import { Connections, type Packet } from './connection.js';
import { clockOf } from './time.js';

export const root = '/lab';
const server = { host: 'zookeeper', port: 2181 };

export class AgentNode implements Node<Packet> {
  readonly #context: Context<Packet>;
  readonly #connections: Connections;
  readonly #agent: Agent;
  readonly #workload: FunctionWorkload;

  constructor(context: Context<Packet>) {
    const clock = clockOf(context);
    this.#context = context;
    this.#connections = new Connections(context);
    this.#workload = new FunctionWorkload(clock, () => this.#agent.status.leads, silentLogger);
    this.#workload.use({ work: (_leadership, signal) => untilAborted(signal) });
    this.#agent = new Agent({
      openStore: (session) => this.#openStore(session, clock),
      root,
      node: nameOf(context.id),
      site: 'lab',
      priority: 100,
      tags: {},
      rules: builtInRules,
      version: '0',
      workload: this.#workload,
      workloadPlace: 'inside',
      clock,
      log: silentLogger,
      host: hostOf(context),
      sessionMemory: null,
    });
    this.#agent.onStatus(({ leads }) => {
      if (leads) this.#workload.startWork();
      this.#look();
    });
    this.#agent.onEvent(({ kind }) => {
      if (kind === 'round') this.#look();
    });
  }

  start(): void {
    this.#agent.run().catch((error: unknown) => {
      // The group may refuse to admit the node. In that case, the node takes no part in the election.
      if (!(error instanceof PetrelError)) throw error;
    });
  }

  receive(packet: Packet): void {
    this.#connections.arrived(packet);
  }

  leave(): void {
    void this.#agent.session?.close();
  }

  #openStore(session: SessionTicket | undefined, clock: Clock): Store {
    const { conditions, random } = this.#context;
    const store = openStore({
      servers: { servers: [server], chroot: '' },
      sessionTimeoutMs: Math.ceil(conditions.detectMs),
      clock,
      dial: this.#connections.dial,
      lookup: (_host, _options, found) => found(null, [{ address: '10.0.0.1', family: 4 }]),
      random,
      ...(session === undefined ? {} : { session }),
    });
    store.onChange(() => this.#context.count('wake-ups'));
    return store;
  }

  /**
   * Reports the leader. Another node is reported as soon as it is elected. This node is reported only once it
   * leads.
   */
  #look(): void {
    const { id, follow } = this.#context;
    const named = this.#agent.snapshot?.elected.value?.node ?? null;
    const other = named === null || named === nameOf(id) ? nobody : idOf(named);
    follow(this.#agent.status.leads ? id : other);
  }
}

function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

function nameOf(id: number): string {
  return `n${String(id).padStart(5, '0')}`;
}

function idOf(name: string): number {
  return Number(name.slice(1));
}

/**
 * Returns the node's host. Each node has its own machine, on which its incarnations run one after another.
 */
function hostOf({ id, incarnation }: Context<Packet>): Host {
  const name = nameOf(id);
  return {
    name,
    pid: 1 + incarnation,
    newIncarnation: () => `${name}, incarnation ${incarnation}`,
    markAgentAlive: () => () => {},
    isOtherAgent: ({ host }) => host !== name,
  };
}
