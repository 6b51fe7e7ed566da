/**
 * A machine's node in any number of groups. One agent process, one guardian and one session serve all groups.
 */

import pino from 'pino';
import { Agent } from '../../src/agent/agent.js';
import { SharedSession } from '../../src/agent/session/shared-session.js';
import { GuardianChannel, type Parent } from '../../src/guardian/channel.js';
import { CommandWorkload, type HookCommands } from '../../src/hooks/command-workload.js';
import type { Host } from '../../src/ports/host.js';
import { parseConnectionString } from '../../src/zookeeper/index.js';
import { builtInRules } from '../../strategies/index.js';
import { SimulatedGuardian } from '../../test/simulation/guardian.js';
import type { Machine } from '../../test/simulation/machine.js';
import { openSimulated, serversText } from '../../test/simulation/node.js';
import type { Process } from '../../test/simulation/process.js';
import { type Deployment, servers, sessionTimeoutMs } from './deployment.js';

export interface GroupOfNode {
  readonly root: string;
  readonly priority: number;
}

const commands: HookCommands = {
  onPrepare: null,
  onTakeover: ['takeover'],
  onRelease: ['release'],
  onFence: null,
};
const log = pino({ level: 'silent' });

export class ManyNode {
  readonly name: string;
  readonly #deployment: Deployment;
  readonly #groups: readonly GroupOfNode[];
  readonly #machine: Machine;
  #process: Process | null = null;
  #agents: readonly Agent[] = [];

  constructor(deployment: Deployment, name: string, groups: readonly GroupOfNode[]) {
    this.#deployment = deployment;
    this.name = name;
    this.#groups = groups;
    this.#machine = deployment.machine(name);
  }

  /** The agents, in the order of the groups. Empty while the process is not running. */
  get agents(): readonly Agent[] {
    return this.#process?.isAlive === true ? this.#agents : [];
  }

  start(): void {
    const { world, network } = this.#deployment;
    new SimulatedGuardian(
      {
        world,
        network,
        machine: this.#machine,
        name: this.name,
        starts: (process) => {
          this.#process = process;
          this.#agents = [];
        },
        lives: (process, parent) => this.#live(process, parent),
      },
      1,
    );
  }

  /** Kills the agent process. Its guardian starts another one. */
  killAgent(): void {
    this.#process?.kill();
  }

  #live(process: Process, parent: Parent): void {
    const { world, network } = this.#deployment;
    const { name: node } = this;
    const channel = new GuardianChannel(parent, {
      node,
      root: null,
      log: 'pretty',
      codeAtDeath: null,
      codeOnSignal: 'done',
    });
    const where = { servers: parseConnectionString(serversText(servers)).servers, tls: null, auth: null };
    const shared = new SharedSession({
      openStore: (session) =>
        openSimulated({ process, network, machine: node, world, servers, sessionTimeoutMs, session }),
      node,
      isShared: true,
      memory: channel.memory(null, where),
      clock: process.clock,
      log,
    });
    const supervisors = channel.supervisors(this.#machine.supervisorsFor(process));
    const host = this.#host(process);
    this.#agents = this.#groups.map(({ root, priority }) => {
      const processes = this.#machine.processesFor(process);
      const life = process.name;
      return new Agent({
        ...shared.membership(root),
        root,
        node,
        site: 'here',
        priority,
        tags: {},
        rules: builtInRules,
        version: 'simulated',
        workload: new CommandWorkload({
          commands,
          node,
          root,
          incarnation: life,
          log,
          clock: process.clock,
          processes,
          supervisors,
        }),
        workloadPlace: 'outside',
        clock: process.clock,
        host,
        log,
      });
    });
    channel.listen({ signalled() {}, gone() {} });
    for (const agent of this.#agents) void agent.run();
  }

  #host(process: Process): Host {
    const { name } = this;
    return {
      name,
      pid: 1,
      newIncarnation: () => process.name,
      markAgentAlive: () => () => {},
      isOtherAgent: ({ host, incarnation }) => host !== name || incarnation === process.name,
    };
  }
}
