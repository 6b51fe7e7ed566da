/**
 * One life of a group in the simulated world, from a seed: a group is founded, things go wrong, then all is mended and
 * the group must have a leader again, and peace.
 */
import { type GroupPaths, groupPaths } from '../../src/core/paths.js';
import type { Operation } from '../../src/embedded/tree.js';
import { chance } from '../support/chance.js';
import { Conduct } from './conduct.js';
import { type Commit, Ensemble } from './ensemble.js';
import {
  drawFaults,
  type Fault,
  faultText,
  type PlannedFault,
  sweepEvery,
  sweepFaults,
  type Written,
  whoLeads,
} from './faults.js';
import { Judge, type Violation } from './judge.js';
import { Machine } from './machine.js';
import { Network } from './network.js';
import { Node, openSimulated } from './node.js';
import { Operator } from './operator.js';
import { Process } from './process.js';
import { Rules } from './rules.js';
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
/** Far more than any life takes. */
const mostSteps = 400_000;
/** A node that is not told so learns within this time that it is the next in line. */
const resyncMs = 30_000;
const defaultTakeoverMs = 60_000;

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
    isGentle: setup.isGentle,
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
  readonly #rules: Rules;
  readonly #conduct: Conduct;
  readonly #operator: Operator;
  readonly #paths = groupPaths(root);
  /** What is to be taken back when all is mended. */
  readonly #mends = new Set<() => void>();
  readonly #losses: Extract<Fault, { kind: 'lose answer' }>[] = [];
  readonly #hasty: Extract<Fault, { kind: 'hasty people' }>[] = [];
  #isMended = false;
  /** Somebody has had their hands in the tree. */
  #isHandled = false;

  constructor(setup: Setup, world: World) {
    this.#setup = setup;
    this.#world = world;
    this.#judge = new Judge(world, this.#paths, this.#nodes, setup.wallSkewMs * 2 + 4_000);
    this.#rules = new Rules({
      world,
      setup,
      paths: this.#paths,
      nodes: this.#nodes,
      violate: (invariant, what) => this.#judge.violate(invariant, what),
      isByHand: (session) => this.#judge.isByHand(session),
    });
    this.#conduct = new Conduct(this.#rules, this.#judge);
    this.#rules.also(this.#conduct.rule);
    this.#ensemble = new Ensemble({
      world,
      servers: setup.servers,
      tickMs: setup.tickMs,
      minSessionTimeoutMs: 2 * setup.tickMs,
      delays: setup.delays,
      overflow: setup.overflow,
      clockOf: () => ({ ...this.#clock(), wallMs: epochMs + world.chance.between(-1, 1) * setup.wallSkewMs }),
      onCommit: (commit) => {
        this.#judge.committed(commit);
        this.#rules.committed(commit);
        this.#loseAnswer(commit);
        this.#hasten(commit);
      },
      // Where the counter sticks, seats are not taken at the tail, and some are watched by several.
      onWake: (connections) =>
        setup.sequence === null && this.#judge.woken(connections - this.#rules.formerElectors),
    });
    this.#network = new Network(world, this.#ensemble, setup.delays);
    for (const name of setup.nodes) this.#nodes.push(this.#newNode(name, name));
    const process = new Process(world, 'ops', this.#clock());
    const at = { process, network: this.#network, machine: 'ops', world, servers: setup.servers };
    const names = { nodes: setup.nodes, sites: setup.sites };
    const store = openSimulated({ ...at, sessionTimeoutMs: setup.sessionTimeoutMs });
    this.#operator = new Operator(world, process, store, this.#paths, names);
    this.#judge.isByHand = (session) => session === store.sessionId;
    this.#judge.mayDeleteByHand = () => this.#operator.mayDelete;
  }

  #clock() {
    const { chance } = this.#world;
    // Any two differ by less than 10 %, many by almost as much.
    return {
      rate: 1 + 0.045 * Math.max(-1, Math.min(1, chance.between(-2, 2))),
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
        started: (group) => {
          this.#judge.started(node, group);
          this.#conduct.started(node, group);
        },
        failed: (group) => this.#conduct.failed(node, group),
        kills: () => this.#dieOfHook(node),
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

  /** A supervisor starts it again at once. */
  #dieOfHook(node: Node): void {
    this.#world.after(1, () => {
      node.process?.kill();
      this.#for(200, () => node.start());
    });
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
    const { troubleMs, config } = this.#setup;
    const isMute = faults.some(({ fault }) => fault.kind === 'mute');
    // With the configuration its times are gone, and a hook that hangs has the default ones.
    const isDeleted = faults.some(({ fault }) => fault.kind === 'delete tree');
    const isMisconfigured = faults.some(
      ({ fault }) => fault.kind === 'people' && fault.act.do === 'misconfigure',
    );
    const boundMs = this.#setup.boundMs + (isMute ? resyncMs : 0) + (isDeleted ? 2 * defaultTakeoverMs : 0);
    const world = this.#world;
    const judge = this.#judge;
    const stop = () => {
      this.#conduct.look();
      if (world.steps > mostSteps) judge.violate(0, `no end after ${mostSteps} steps`);
      return judge.violation !== null;
    };
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
      // Whoever could take a mute elector's place cannot elect either.
      if (isMisconfigured) for (const node of this.#nodes) node.muteSinceMs = Number.POSITIVE_INFINITY;
      await world.run(mendedMs + boundMs, () => stop() || this.#hasLeader());
      leaderlessMs = world.nowMs - mendedMs;
      if (!stop() && !this.#hasLeader()) judge.violate(5, `nobody leads ${boundMs} ms after all was mended`);
      if (!stop()) await this.#settle(mendedMs, stop);
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

  /** Everybody is there again, with one seat each. */
  async #settle(mendedMs: number, stop: () => boolean): Promise<void> {
    // A registration alone is not watched by its node: it is looked for now and again.
    const withinMs =
      (7 / 3) * 1.1 * this.#setup.sessionTimeoutMs + 4_000 + (this.#isHandled ? 1.1 * resyncMs : 0);
    const missing = () => {
      const { seats, registrations } = this.#rules.picture();
      return this.#nodes.find(({ name, session, isUp }) => {
        if (!isUp) return false;
        const isSeated = seats.some(({ owner }) => owner === session);
        return !isSeated || registrations.get(name)?.owner !== session;
      });
    };
    await this.#world.run(mendedMs + withinMs, () => stop() || missing() === undefined);
    const lost = missing();
    if (lost === undefined) return;
    this.#judge.violate(
      9,
      `${lost.name} has no seat, or is not registered, ${withinMs} ms after all was mended`,
    );
  }

  /** Exclusions and holds run out; then nothing moves, and nothing is written but leases. */
  async #peace(stop: () => boolean): Promise<void> {
    const judge = this.#judge;
    if (stop()) return;
    for (const node of this.#nodes) node.muteSinceMs = Number.POSITIVE_INFINITY;
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
    const leader = this.#nodes.findIndex(({ name }) => name === this.#judge.claim?.node);
    const node = this.#nodes[index === whoLeads ? Math.max(0, leader) : index];
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
    if (!this.#setup.isGentle) this.#rules.disturbed(0);
    this.#isMended = true;
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
      if (!node.isUp) node.restart();
      node.agent?.setHealth(true, null);
    }
    this.#operator.calm();
  }

  #befall(fault: Fault): void {
    const watch = this.#rules.isCalm ? this.#watchOver(fault) : () => {};
    if (isDisturbing(fault))
      this.#rules.disturbed(
        fault.kind === 'mute' ? Number.POSITIVE_INFINITY : fault.forMs,
        fault.kind === 'delete tree' || fault.kind === 'delete seat',
      );
    this.#happen(fault);
    watch();
  }

  /** What a trouble that comes alone must not bring about. */
  #watchOver(fault: Fault): () => void {
    const { claim, elected, registrations } = this.#rules.picture();
    const { sessionTimeoutMs, tickMs, servers } = this.#setup;
    const { mayDelete } = this.#operator;
    const processes = new Map(this.#nodes.map((node) => [node.name, node.process]));
    const unlessDisturbed = this.#rules.unlessDisturbed.bind(this.#rules);
    const leadershipMoved = () => {
      const now = this.#rules.picture();
      const isSame = now.elected?.version === elected?.version && this.#operator.mayDelete === mayDelete;
      if (!isSame || claim?.readySinceMs == null || now.claim?.id === claim.id) return null;
      // It was on its way out already.
      if (elected?.content.node !== claim.content.node) return null;
      const isGone = registrations.get(claim.content.node)?.leavingSinceMs != null;
      return isGone ? null : `${claim.content.node} has lost its claim over nothing but: ${fault.kind}`;
    };
    const sessionLost = () => {
      const now = this.#rules.picture().registrations;
      for (const [node, { owner, leavingSinceMs }] of registrations) {
        const other = now.get(node);
        const lives = this.#nodes.find(({ name }) => name === node)?.process === processes.get(node);
        if (lives && leavingSinceMs === null && other?.owner !== owner && other?.leavingSinceMs == null)
          return `${node} has lost its session over nothing but: ${fault.kind}`;
      }
      return null;
    };
    if (fault.kind === 'reset') return () => unlessDisturbed(sessionTimeoutMs / 2, 9, leadershipMoved);
    if (fault.kind === 'second machine') {
      const { process } = this.#at(fault.node);
      if (process?.isRunning !== true || !registrations.has(this.#at(fault.node).name)) return () => {};
      return () => {
        const newcomer = this.#nodes.at(-1);
        unlessDisturbed(1_500, 9, () =>
          newcomer?.isUp === true && process.isRunning && this.#nodes.includes(newcomer)
            ? `${newcomer.machine.name} goes on under the name of another machine`
            : null,
        );
      };
    }
    const isServer = fault.kind === 'freeze server' || fault.kind === 'kill server';
    if (!isServer || servers < 3 || tickMs > sessionTimeoutMs / 3) return () => {};
    if (this.#ensemble.servers[fault.server]?.isLeading !== false) return () => {};
    const wrong = () => leadershipMoved() ?? sessionLost();
    return () => unlessDisturbed(1.6 * sessionTimeoutMs, 9, wrong);
  }

  #happen(fault: Fault): void {
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
      case 'lose answer':
        this.#losses.push(fault);
        this.#for(fault.forMs, () => this.#losses.splice(this.#losses.indexOf(fault), 1));
        break;
      case 'hasty people':
        this.#hasty.push(fault);
        break;
      case 'partition':
        this.#part(fault);
        break;
      case 'hook': {
        const { moods } = this.#at(fault.node).machine;
        moods.set(fault.phase, fault.mood);
        this.#for(fault.forMs, () => moods.delete(fault.phase));
        break;
      }
      case 'mute':
        // Somebody must be left whose decisions arrive.
        if (!this.#nodes.some(({ isMute }) => isMute)) this.#at(fault.node).muteSinceMs = this.#world.nowMs;
        break;
      case 'delete decision':
        this.#operator.delete(this.#paths.elected);
        break;
      case 'spoil decision':
        this.#operator.spoil(this.#paths.elected);
        break;
      case 'delete seat':
        this.#operator.deleteSeatOf(this.#at(fault.node).name);
        break;
      case 'delete registration':
        this.#isHandled = true;
        this.#operator.delete(this.#paths.node(this.#at(fault.node).name));
        break;
      case 'delete claim':
        this.#operator.delete(this.#paths.current);
        break;
      case 'delete tree':
        this.#isHandled = true;
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
      this.#conduct.orphaned(node);
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

  #hasten({ transaction, ok }: Commit): void {
    if (transaction.kind !== 'write' || !ok) return;
    const hasty = this.#hasty.find(({ upon }) => isOfKind(transaction.operations, upon, this.#paths));
    if (hasty === undefined) return;
    this.#hasty.splice(this.#hasty.indexOf(hasty), 1);
    this.#world.after(hasty.delayMs, () => {
      if (!this.#isMended) this.#operator.do(hasty.act);
    });
  }

  /** Its asker's connections break before the answer is under way. */
  #loseAnswer({ transaction, ok }: Commit): void {
    if (transaction.kind !== 'write' || !ok) return;
    const node = this.#nodes.find(({ session }) => session === transaction.session);
    if (node === undefined) return;
    const loss = this.#losses.find(({ to, node: index }) => {
      const isMeant = index === null || this.#nodes[index] === node;
      return isMeant && isOfKind(transaction.operations, to, this.#paths);
    });
    if (loss === undefined) return;
    this.#losses.splice(this.#losses.indexOf(loss), 1);
    this.#world.note(() => `the answer to ${node.name} gets lost: ${loss.to}`);
    this.#reset(node);
  }

  #part(fault: Extract<Fault, { kind: 'partition' }>): void {
    const { node: index, stallMs, pauseMs, forMs } = fault;
    const node = index === null ? this.#nodes.find(({ saysItLeads }) => saysItLeads) : this.#at(index);
    if (node === undefined) {
      this.#world.after(100, () => this.#isMended || this.#part(fault));
      return;
    }
    const ways = this.#ensemble.servers.map((server) => ({
      server,
      way: this.#network.way(node.machine.name, server.index),
    }));
    const links = ways.flatMap(({ way }) => [way.there, way.back]);
    if (stallMs > 0) for (const link of links) link.cut();
    this.#world.after(stallMs, () => {
      for (const link of links) link.mend();
      this.#world.after(pauseMs, () => {
        const own = ways.find(({ way }) => way.open.size > 0)?.server;
        if (this.#isMended || own === undefined) return;
        const isLeader = own.isLeading;
        this.#befallServer({ kind: 'cut server off', server: own.index, forMs });
        for (const { server, way } of ways) {
          if (server === own) continue;
          // They elect another at once; it does not know that yet.
          if (isLeader) server.hangUpOnLeader();
          way.refuses = stallMs === 0;
          for (const link of [way.there, way.back]) {
            link.cut();
            this.#for(forMs, () => {
              way.refuses = false;
              link.mend();
            });
          }
        }
      });
    });
  }

  /** An administrator ends a session early; never a leader's, whose lease cannot know of it. */
  #expire(node: Node): void {
    const session = node.session;
    if (session === 0n || this.#judge.claim?.owner === session || node.agent?.status.stage != null) return;
    this.#ensemble.expire(session);
  }
}

/** Whether something gets lost or delayed by it, so that what else has to happen soon may not. */
function isDisturbing(fault: Fault): boolean {
  switch (fault.kind) {
    case 'hook':
    case 'unhealthy':
    case 'leave':
    case 'reset':
    case 'hasty people':
      return false;
    case 'people':
      return ['evict', 'evict dead', 'misconfigure'].includes(fault.act.do);
    case 'delete claim':
    case 'delete decision':
    case 'spoil decision':
      return false;
    default:
      return true;
  }
}

function isOfKind(operations: readonly Operation[], kind: Written, paths: GroupPaths): boolean {
  const does = (type: Operation['type'], path: string) =>
    operations.some((operation) => operation.type === type && operation.path.startsWith(path));
  switch (kind) {
    case 'registration':
      return does('create', `${paths.nodes}/`);
    case 'seat':
      return does('create', `${paths.election}/`);
    case 'claim':
      return does('create', paths.current);
    case 'READY':
      return does('setData', paths.current);
    case 'deletion':
      return does('delete', paths.current);
    case 'decision':
      return does('setData', paths.elected);
    case 'configuration':
      return does('setData', paths.config);
    case 'record':
      return does('create', paths.historyPrefix);
  }
}
