/** Nodes that probe each other. Each has a registration in a development ZooKeeper, but no agent. */
import pino from 'pino';
import type { ProbeAddress } from '../../src/model/znodes.js';
import { systemClock } from '../../src/ports/clock.js';
import { Prober, type ProberOptions } from '../../src/probe/prober.js';
import { type DevelopmentServer, startDevelopmentServer } from '../../src/testing.js';
import { newGroup, type TestGroup } from './group.js';

export class ProbedGroup implements AsyncDisposable {
  readonly server: DevelopmentServer;
  /** All log output, as text. */
  readonly log: string[] = [];
  readonly #group: TestGroup;
  readonly #probers: Prober[] = [];

  private constructor(server: DevelopmentServer, group: TestGroup) {
    this.server = server;
    this.#group = group;
  }

  static async open(): Promise<ProbedGroup> {
    const server = await startDevelopmentServer();
    return new ProbedGroup(server, await newGroup(server.connectString));
  }

  /**
   * Starts a node that probes ten times a second. It is registered at its own address, or at `probe` if that
   * is given.
   */
  async start(node: string, options: Started = {}): Promise<Prober> {
    const { requestsPerSecond = null, probe, ...rest } = options;
    const prober = await Prober.open({
      listen: { host: '127.0.0.1', port: 0 },
      address: null,
      protocol: 'udp',
      intervalMs: 100,
      secret: null,
      node,
      root: this.root,
      hostName: 'localhost',
      clock: systemClock,
      log: pino({ level: 'debug' }, { write: (line: string) => this.log.push(line) }),
      ...rest,
    });
    this.#probers.push(prober);
    const session = await this.#group.node(node, { probe: probe ?? prober.address });
    prober.begin({ session: () => session, requestsPerSecond: () => requestsPerSecond });
    return prober;
  }

  /** Registers a node that does not probe. */
  async register(node: string, probe: ProbeAddress | null): Promise<void> {
    await this.#group.node(node, { probe });
  }

  async leave(node: string): Promise<void> {
    await this.#group.session(node).close();
  }

  sessionId(node: string): bigint {
    return this.#group.session(node).sessionId;
  }

  get root(): string {
    return this.#group.root;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#probers.map((prober) => prober.close()));
    await this.#group[Symbol.asyncDispose]();
    await this.server[Symbol.asyncDispose]();
  }
}

type Started = Partial<ProberOptions> & {
  readonly requestsPerSecond?: number;
  readonly probe?: ProbeAddress;
};
