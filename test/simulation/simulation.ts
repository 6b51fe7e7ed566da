/**
 * One life of a group in the simulated world, from a seed: a group is founded, things go wrong, then all is mended and
 * the group must have a leader again, and peace.
 */
import { groupPaths } from '../../src/core/paths.js';
import { chance } from '../support/chance.js';
import { Ensemble } from './ensemble.js';
import { drawFaults, type Fault, faultText, type PlannedFault, sweepEvery, sweepFaults } from './faults.js';
import { Judge, type Violation } from './judge.js';
import { Machine } from './machine.js';
import { Network } from './network.js';
import { Node, openSimulated } from './node.js';
import { Operator } from './operator.js';
import { Process } from './process.js';
import { drawSetup, type Setup } from './setup.js';
import { World } from './world.js';

export interface Outcome {
  readonly seed: number;
  readonly setup: Setup;
  readonly faults: readonly PlannedFault[];
  readonly violation: Violation | null;
  readonly steps: number;
  readonly simulatedMs: number;
  readonly transitions: number;
  readonly claims: number;
  readonly excused: number;
  readonly leaderlessMs: number | null;
  /** Null unless it was asked for. */
  readonly story: readonly string[] | null;
}

const root = '/cluster';
/** The ensemble's wall clock at the beginning. */
const epochMs = Date.UTC(2026, 0, 1);
const peaceMs = 4_000;

export interface SimulateOptions {
  /** Instead of those that the seed has. */
  readonly faults?: readonly PlannedFault[];
  readonly keepsStory?: boolean;
}

export async function simulate(seed: number, options: SimulateOptions = {}): Promise<Outcome> {
  const drawn = chance(seed);
  const setup = drawSetup(drawn.fork());
  const { servers, sessionTimeoutMs, troubleMs } = setup;
  const target = {
    nodes: setup.nodes.length,
    sites: setup.sites.length,
    servers,
    sessionTimeoutMs,
    fromMs: 0,
    untilMs: troubleMs,
  };
  const plan =
    seed % sweepEvery === 0 ? sweepFaults(seed / sweepEvery, target) : drawFaults(drawn.fork(), target);
  const faults = options.faults ?? plan;
  const simulation = new Simulation(setup, new World(drawn.fork(), options.keepsStory ?? false));
  return { seed, setup, faults, ...(await simulation.run(faults)) };
}

class Simulation {
  readonly #setup: Setup;
  readonly #world: World;
  readonly #ensemble: Ensemble;
  readonly #network: Network;
  readonly #nodes: Node[] = [];
  readonly #judge: Judge;
  readonly #operator: Operator;
  readonly #paths = groupPaths(root);
  /** What is to be taken back when all is mended. */
  readonly #mends = new Set<() => void>();

  constructor(setup: Setup, world: World) {
    this.#setup = setup;
    this.#world = world;
    this.#judge = new Judge(world, this.#paths, this.#nodes, setup.wallSkewMs * 2 + 4_000);
    this.#ensemble = new Ensemble({
      world,
      servers: setup.servers,
      tickMs: setup.tickMs,
      minSessionTimeoutMs: 2 * setup.tickMs,
      delays: setup.delays,
      overflow: setup.overflow,
      clockOf: () => ({ ...this.#clock(), wallMs: epochMs + world.chance.between(-1, 1) * setup.wallSkewMs }),
      onCommit: (commit) => this.#judge.committed(commit),
      // Where the counter sticks, seats are not taken at the tail, and some are watched by several.
      onWake: (connections) => setup.sequence === null && this.#judge.woken(connections),
    });
    this.#network = new Network(world, this.#ensemble, setup.delays);
    for (const name of setup.nodes) this.#nodes.push(this.#newNode(name, name));
    const process = new Process(world, 'ops', this.#clock());
    const at = { process, network: this.#network, machine: 'ops', world, servers: setup.servers };
    const names = { nodes: setup.nodes, sites: setup.sites };
    const store = openSimulated({ ...at, sessionTimeoutMs: setup.sessionTimeoutMs });
    this.#operator = new Operator(world, process, store, this.#paths, names);
    this.#judge.isByHand = (session) => session === store.sessionId;
  }

  #clock() {
    const { chance } = this.#world;
    // Any two differ by less than 10 %.
    return {
      rate: chance.between(0.955, 1.045),
      startMs: chance.between(0, 1e6),
      wallMs: chance.next() * 2e12,
    };
  }

  #newNode(name: string, machineName: string): Node {
    const { sessionTimeoutMs, hasPrepare, hasFence, hasMemory, servers, sites } = this.#setup;
    const node: Node = new Node({
      world: this.#world,
      network: this.#network,
      machine: new Machine(this.#world, machineName, this.#clock(), {
        started: (group) => this.#judge.started(node, group),
        ended: () => {},
        fences: (target) => this.#fence(target),
      }),
      name,
      site: sites[Math.max(0, this.#setup.nodes.indexOf(name)) % sites.length] ?? 'a',
      root,
      servers,
      sessionTimeoutMs,
      hasPrepare,
      hasFence,
      hasMemory,
      failed: (error) => this.#ended(node, error),
    });
    return node;
  }

  #ended(node: Node, error: unknown): void {
    const isRefused = String(error).includes('DUPLICATE_NODE') || String(error).includes('is in use');
    if (!isRefused) this.#judge.violate(0, `the agent of ${node.name} ended: ${String(error)}`);
    else this.#world.after(this.#setup.sessionTimeoutMs, () => this.#nodes.includes(node) && node.start());
  }

  #fence(target: string): void {
    for (const node of this.#nodes) if (node.name === target) node.machine.killGroups();
    this.#judge.fenced(target);
  }

  async run(faults: readonly PlannedFault[]): Promise<Omit<Outcome, 'seed' | 'setup' | 'faults'>> {
    const { troubleMs, boundMs, config } = this.#setup;
    const world = this.#world;
    const judge = this.#judge;
    const stop = () => judge.violation !== null;
    let isFounded = false;
    this.#operator.process.deliver(() => {
      this.#operator.found(config).then(() => {
        isFounded = true;
      });
    });
    await world.run(10_000, () => isFounded);
    this.#begin();
    const foundedMs = world.nowMs;
    for (const planned of faults) {
      world.at(foundedMs + planned.atMs, () => {
        world.note(() => `FAULT ${faultText(planned)}`);
        this.#befall(planned.fault);
      });
    }
    const mendedMs = foundedMs + troubleMs;
    await world.run(mendedMs, stop);
    let leaderlessMs: number | null = null;
    if (!stop()) {
      this.#mend();
      await world.run(mendedMs + boundMs, () => stop() || this.#hasLeader());
      leaderlessMs = world.nowMs - mendedMs;
      if (!stop() && !this.#hasLeader()) judge.violate(5, `nobody leads ${boundMs} ms after all was mended`);
      if (this.#setup.checksPeace) await this.#peace(stop);
    }
    return {
      violation: judge.violation,
      steps: world.steps,
      simulatedMs: world.nowMs,
      transitions: judge.transitions,
      claims: judge.claims,
      excused: judge.excused,
      leaderlessMs,
      story: world.story,
    };
  }

  #begin(): void {
    for (const node of this.#nodes) this.#world.after(this.#world.chance.between(0, 300), () => node.start());
    const { sequence } = this.#setup;
    if (sequence === null) return;
    const everywhere = [this.#ensemble.truth, ...this.#ensemble.servers.map(({ database }) => database)];
    for (const database of everywhere) database.setNextSequence(this.#paths.election, sequence);
  }

  #hasLeader(): boolean {
    const { claim } = this.#judge;
    if (claim?.isReady !== true) return false;
    return this.#nodes.some(({ name, saysItLeads }) => name === claim.node && saysItLeads);
  }

  /** Exclusions and holds run out; then nothing moves, and nothing is written but leases. */
  async #peace(stop: () => boolean): Promise<void> {
    const judge = this.#judge;
    if (stop()) return;
    await this.#world.run(this.#world.nowMs + this.#setup.settleMs, stop);
    const { writes, transitions, claims } = judge;
    await this.#world.run(this.#world.nowMs + peaceMs, stop);
    if (stop()) return;
    if (!this.#hasLeader()) judge.violate(5, 'nobody leads in peace');
    if (judge.transitions !== transitions || judge.claims !== claims)
      judge.violate(6, 'leadership moves in peace');
    if (judge.writes !== writes) judge.violate(6, `${judge.writes - writes} writes in peace`);
  }

  // -- What befalls them

  #at(index: number): Node {
    const node = this.#nodes[index];
    if (node === undefined) throw new RangeError(`no node ${index}`);
    return node;
  }

  /** Taken back after so long, or when all is mended. */
  #for(forMs: number, mend: () => void): void {
    const once = () => {
      if (this.#mends.delete(once)) mend();
    };
    this.#mends.add(once);
    this.#world.after(forMs, once);
  }

  #mend(): void {
    this.#world.note(() => 'all is mended');
    for (const mend of [...this.#mends]) mend();
    for (const server of this.#ensemble.servers) {
      server.process.thaw();
      if (!server.process.isAlive) server.start();
    }
    for (const node of this.#nodes) {
      for (const keeper of node.machine.keepers) keeper.thaw();
      node.process?.thaw();
      node.process?.doom(Number.POSITIVE_INFINITY, () => {});
      node.machine.moods.clear();
      if (!node.isUp) node.start();
      node.agent?.setHealth(true, null);
    }
    this.#operator.calm();
  }

  #befall(fault: Fault): void {
    switch (fault.kind) {
      case 'kill agent':
      case 'kill keeper':
      case 'kill both':
      case 'power off':
      case 'freeze agent':
      case 'freeze keeper':
      case 'freeze both':
      case 'leave':
      case 'kill agent at a call':
      case 'freeze agent at a call':
      case 'kill keeper at a call':
      case 'unhealthy':
      case 'second machine':
        this.#befallNode(this.#at(fault.node), fault);
        break;
      case 'cut':
      case 'slow':
        this.#befallLinks(fault);
        break;
      case 'reset':
        this.#reset(this.#at(fault.node));
        break;
      case 'kill server':
      case 'freeze server':
      case 'cut server off':
        this.#befallServer(fault);
        break;
      case 'hook': {
        const { moods } = this.#at(fault.node).machine;
        moods.set(fault.phase, fault.mood);
        this.#for(fault.forMs, () => moods.delete(fault.phase));
        break;
      }
      case 'delete seat':
        this.#operator.deleteSeatOf(this.#at(fault.node).name);
        break;
      case 'delete registration':
        this.#operator.delete(this.#paths.node(this.#at(fault.node).name));
        break;
      case 'delete claim':
        this.#operator.delete(this.#paths.current);
        break;
      case 'delete tree':
        this.#operator.deleteAllUnder(root);
        break;
      case 'expire session':
        this.#expire(this.#at(fault.node));
        break;
      case 'people':
        this.#operator.do(fault.act);
    }
    this.#lookForGuards();
  }

  /** Whoever lost both its agent and its keeper has nobody to end its workload. */
  #lookForGuards(): void {
    for (const node of this.#nodes) {
      const keeps = [...node.machine.keepers].some(({ isRunning }) => isRunning);
      if (!keeps && node.process?.isRunning !== true) this.#judge.unguarded(node);
    }
  }

  #befallNode(node: Node, fault: Extract<Fault, { node: number }>): void {
    const { process, machine } = node;
    const { forMs } = fault;
    const killAgent = () => {
      process?.kill();
      this.#for(forMs, () => node.start());
      this.#lookForGuards();
    };
    const freezeAgent = () => {
      process?.freeze();
      this.#for(forMs, () => process?.thaw());
      this.#lookForGuards();
    };
    const keepers = [...machine.keepers];
    const killKeepers = () => {
      for (const keeper of keepers) keeper.kill();
      this.#lookForGuards();
    };
    const freezeKeepers = () => {
      for (const keeper of keepers) {
        keeper.freeze();
        this.#for(forMs, () => keeper.thaw());
      }
    };
    switch (fault.kind) {
      case 'kill agent':
        killAgent();
        break;
      case 'kill keeper':
        killKeepers();
        break;
      case 'kill both':
        killKeepers();
        killAgent();
        break;
      case 'power off':
        killKeepers();
        killAgent();
        machine.killGroups();
        break;
      case 'freeze agent':
        freezeAgent();
        break;
      case 'freeze keeper':
        freezeKeepers();
        break;
      case 'freeze both':
        freezeKeepers();
        freezeAgent();
        break;
      case 'kill agent at a call':
        process?.doom(fault.calls, killAgent);
        break;
      case 'freeze agent at a call':
        process?.doom(fault.calls, freezeAgent);
        break;
      case 'kill keeper at a call':
        keepers[0]?.doom(fault.calls, killKeepers);
        break;
      case 'leave':
        node.leave();
        this.#for(forMs, () => node.start());
        break;
      case 'unhealthy':
        node.sayHealth(false);
        this.#for(forMs, () => node.sayHealth(true));
        break;
      case 'second machine': {
        const other = this.#newNode(node.name, `${node.name} elsewhere`);
        this.#nodes.push(other);
        other.start();
        this.#for(forMs, () => {
          other.process?.kill();
          for (const keeper of other.machine.keepers) keeper.kill();
          other.machine.killGroups();
          this.#nodes.splice(this.#nodes.indexOf(other), 1);
        });
      }
    }
  }

  #befallLinks({ kind, node, server, direction, forMs }: Extract<Fault, { kind: 'cut' | 'slow' }>): void {
    for (const { index } of this.#ensemble.servers) {
      if (server !== null && index !== server) continue;
      const { there, back } = this.#network.way(this.#at(node).machine.name, index);
      const links = [...(direction === 'back' ? [] : [there]), ...(direction === 'there' ? [] : [back])];
      for (const link of links) {
        if (kind === 'cut') link.cut();
        else link.slow(this.#setup.sessionTimeoutMs / 8);
        this.#for(forMs, () => link.mend());
      }
    }
  }

  #reset(node: Node): void {
    for (const { index } of this.#ensemble.servers) {
      for (const breakIt of [...this.#network.way(node.machine.name, index).open]) breakIt();
    }
  }

  #befallServer({
    kind,
    server: index,
    forMs,
  }: Extract<Fault, { server: number; kind: `${string}server${string}` }>) {
    const server = this.#ensemble.servers[index];
    if (server === undefined) return;
    if (kind === 'kill server') {
      server.kill();
      this.#for(forMs, () => {
        if (!server.process.isAlive) server.start();
      });
    } else if (kind === 'freeze server') {
      const { process } = server;
      process.freeze();
      this.#for(forMs, () => process.thaw());
    } else {
      for (const other of this.#ensemble.servers) {
        if (other === server) continue;
        for (const link of [
          this.#ensemble.linkBetween(server, other),
          this.#ensemble.linkBetween(other, server),
        ]) {
          link.cut();
          this.#for(forMs, () => link.mend());
        }
      }
    }
  }

  /** An administrator ends a session early; never a leader's, whose lease cannot know of it. */
  #expire(node: Node): void {
    const session = node.session;
    if (session === 0n || this.#judge.claim?.owner === session || node.agent?.status.stage != null) return;
    this.#ensemble.expire(session);
  }
}
