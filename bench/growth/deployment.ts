/**
 * Runs real agents on a simulated ensemble of three servers in virtual time. An hour of a deployment of any
 * size passes in seconds, and its packets are counted. The servers respond without delay; only the network
 * takes time.
 */

import { groupPaths } from '../../src/model/paths.js';
import { ensureTree } from '../../src/tree/ensure-tree.js';
import { Ensemble } from '../../test/simulation/ensemble.js';
import type { Delays } from '../../test/simulation/link.js';
import { Machine } from '../../test/simulation/machine.js';
import { Network } from '../../test/simulation/network.js';
import { Node, openSimulated } from '../../test/simulation/node.js';
import { Process } from '../../test/simulation/process.js';
import { World } from '../../test/simulation/world.js';
import { chance } from '../../test/support/chance.js';
import { type Burden, between, Meter, type Standing, standingAt } from './burden.js';

export const people = 'ops';
export const servers = 3;
/** Defaults of ZooKeeper (the tick) and of Petrel (the session timeout). */
export const tickMs = 2_000;
export const sessionTimeoutMs = 6_000;
/** One-way delays within a data centre. */
export const delays: Delays = { leastMs: 0.2, mostMs: 1 };

const looksEveryMs = 20;
/** Time after which an event has no further consequences. */
const echoMs = 2_000;
const patienceMs = 120_000;
const outageMs = 200;

export class Deployment {
  readonly world: World;
  readonly ensemble: Ensemble;
  readonly network: Network;
  readonly meter = new Meter([people]);

  constructor(seed = 1) {
    this.world = new World(chance(seed));
    this.ensemble = new Ensemble({
      world: this.world,
      servers,
      tickMs,
      minSessionTimeoutMs: 2 * tickMs,
      delays,
      overflow: 'wraps',
      clockOf: () => this.clock(),
      onCommit: (commit) => this.meter.committed(commit),
      onWake() {},
    });
    this.network = new Network(this.world, this.ensemble, delays, this.meter);
  }

  /** Returns the clock of a machine. All machines have identical clocks. */
  clock() {
    return { rate: 1, startMs: 0, wallMs: Date.UTC(2026, 0, 1) };
  }

  machine(name: string): Machine {
    return new Machine(this.world, name, this.clock(), {
      started() {},
      failed() {},
      kills() {},
      ended() {},
      fences() {},
    });
  }

  /** Creates a node of one group with its own session. */
  node(name: string, { root, machine, priority = 100 }: NodePlace): Node {
    return new Node({
      world: this.world,
      network: this.network,
      machine: this.machine(machine),
      name,
      site: 'here',
      priority,
      root,
      servers,
      sessionTimeoutMs,
      hasPrepare: false,
      hasFence: false,
      hasMemory: true,
      ended: (error) => {
        throw new Error(`the agent of ${name} in ${root} ended: ${String(error)}`);
      },
    });
  }

  /** Creates these groups with the same configuration. Acts as an operator who disconnects afterwards. */
  async found(roots: readonly string[], config: object): Promise<void> {
    const process = new Process(this.world, people, this.clock());
    let isFounded = false;
    const found = async () => {
      const store = openSimulated({
        process,
        network: this.network,
        machine: people,
        world: this.world,
        servers,
        sessionTimeoutMs,
      });
      await store.connected();
      for (const paths of roots.map(groupPaths)) {
        await ensureTree(store, paths);
        await store.set(paths.config, Buffer.from(JSON.stringify(config)), 'any');
      }
      await store.close();
      isFounded = true;
    };
    process.deliver(() => void found());
    await this.until('the groups to be founded', () => isFounded);
  }

  get standing(): Standing {
    return standingAt(this.ensemble.truth, this.ensemble.servers);
  }

  async pass(ms: number): Promise<void> {
    await this.world.run(this.world.nowMs + ms, () => false);
  }

  /**
   * Returns the time in milliseconds until the condition is met. Throws if it is not met within `patienceMs`.
   */
  async until(what: string, isSo: () => boolean): Promise<number> {
    const beganAtMs = this.world.nowMs;
    while (!isSo()) {
      if (this.world.nowMs - beganAtMs > patienceMs) throw new Error(`timed out waiting for ${what}`);
      await this.pass(looksEveryMs);
    }
    return this.world.nowMs - beganAtMs;
  }

  /**
   * Counts the traffic that `begin` causes between agents and ensemble. Counting ends a short time after
   * `isOver` returns true.
   */
  async count(what: string, begin: () => void, isOver: () => boolean): Promise<Episode> {
    const { agents: before, people: peopleBefore } = this.meter;
    begin();
    const tookMs = await this.until(what, isOver);
    await this.pass(echoMs);
    return {
      tookMs,
      burden: between(before, this.meter.agents),
      operators: between(peopleBefore, this.meter.people),
    };
  }

  /** Counts the traffic during a time without events. */
  async idle(ms: number): Promise<Burden> {
    const before = this.meter.agents;
    await this.pass(ms);
    return between(before, this.meter.agents);
  }

  /** Kills all servers at the same time, and starts them again. */
  restartEnsemble(): void {
    for (const server of this.ensemble.servers) server.kill();
    this.world.after(outageMs, () => {
      for (const server of this.ensemble.servers) server.start();
    });
  }
}

export interface NodePlace {
  readonly root: string;
  readonly machine: string;
  readonly priority?: number;
}

export interface Episode {
  readonly tookMs: number;
  readonly burden: Burden;
  /** Traffic of the operator who requested the event. */
  readonly operators: Burden;
}
