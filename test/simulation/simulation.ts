/**
 * Simulates one run of a group, which a seed determines. The group is created, and faults happen. Finally,
 * everything is repaired. The group must have a leader again soon, and must then stay at rest.
 */
import { type GroupPaths, groupPaths } from '../../src/model/paths.js';
import { type Chance, chance } from '../support/chance.js';
import { isRegistrationDeleted, leaderBound, reconnectingMs, resyncMs, settlingMs } from './bound.js';
import { chrootLifeOf, losesChroot } from './chroot-lives.js';
import { Conduct } from './conduct.js';
import { asOperator, firstCredentials } from './credentials.js';
import { credentialsLifeOf, rotatesCredentials } from './credentials-lives.js';
import { Ensemble } from './ensemble.js';
import { drawFaults, faultText, type PlannedFault, sweepEvery, sweepFaults } from './faults.js';
import { type Cast, Havoc } from './havoc.js';
import { Judge, type Violation } from './judge.js';
import { keepingLifeOf, keepsClaim } from './keeping-lives.js';
import { hasLeaseLosses, leaseLossLifeOf } from './lease-loss-lives.js';
import { Machine } from './machine.js';
import { Network } from './network.js';
import { Node, openSimulated } from './node.js';
import { Operator } from './operator.js';
import { reconnectMs } from './pace.js';
import { Process } from './process.js';
import { quotaLifeOf, reachesQuota } from './quota-lives.js';
import { isRestored, restoredLifeOf } from './restored-lives.js';
import { Rules } from './rules.js';
import { scenarioOf } from './scenarios.js';
import type { ScriptedRun } from './scripted-run.js';
import { drawSetup, type Setup, sticks } from './setup.js';
import { hasSiteRules, siteLifeOf } from './site-lives.js';
import { hasSeveralLeaders, slotLifeOf } from './slot-lives.js';
import { isInPlace, missingText } from './slots-filled.js';
import { hasStalls, stallLifeOf } from './stall-lives.js';
import { hasUnlikeServers, unlikeServersLifeOf } from './unlike-lives.js';
import { Wiretap } from './wiretap.js';
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
  readonly permittedOverlaps: number;
  /** Time from the repair until the group had its leaders. Null if a violation came before the repair. */
  readonly leaderlessMs: number | null;
  /** Maximum time that `leaderlessMs` may reach. */
  readonly boundMs: number;
  /** Trace of the run. Null unless a trace was requested. */
  readonly trace: readonly string[] | null;
}

const root = '/cluster';
/** Initial reading of the ensemble's wall clock, without the deviation of a server. */
const epochMs = Date.UTC(2026, 0, 1);
const peaceMs = 4_000;
/**
 * Silence after which a session counts as disconnected, whatever the rates of the clocks. In session
 * timeouts.
 */
const longestBreak = 0.32;
/** Maximum number of steps. No run needs nearly as many. */
const mostSteps = 400_000;

export interface SimulateOptions {
  /** Faults that replace those of the seed. */
  readonly faults?: readonly PlannedFault[];
  readonly keepsTrace?: boolean;
}

export async function simulate(seed: number, options: SimulateOptions = {}): Promise<Outcome> {
  const { life, ofWorld } = runOf(seed);
  const { setup } = life;
  const faults = options.faults ?? life.faults;
  const simulation = new Simulation(setup, new World(ofWorld, options.keepsTrace ?? false));
  return { seed, setup, faults, ...(await simulation.run(faults)) };
}

/** Whether this seed's group has site rules. */
export function drawsSiteRules(seed: number): boolean {
  return hasSiteRules(seed, sourcesOf(seed).ofSites);
}

/** Whether this seed's group has several leaders at some time. */
export function drawsSeveralLeaders(seed: number): boolean {
  const { ofSites, ofSlots } = sourcesOf(seed);
  return !hasSiteRules(seed, ofSites) && hasSeveralLeaders(seed, ofSlots);
}

/** Returns independent sources of chance. Draws for one purpose then do not change the draws for another. */
function sourcesOf(seed: number) {
  const drawn = chance(seed);
  return {
    ofSetup: drawn.fork(),
    ofFaults: drawn.fork(),
    ofWorld: drawn.fork(),
    ofSites: drawn.fork(),
    ofSlots: drawn.fork(),
    ofLeaseLosses: drawn.fork(),
    ofLimits: drawn.fork(),
    ofStalls: drawn.fork(),
    ofKeeping: drawn.fork(),
    ofEnsembles: drawn.fork(),
  };
}

function runOf(seed: number): { readonly life: ScriptedRun; readonly ofWorld: Chance } {
  const sources = sourcesOf(seed);
  const { ofSetup, ofFaults, ofWorld, ofSites, ofSlots, ofLeaseLosses, ofLimits, ofStalls, ofKeeping } =
    sources;
  const setup = drawSetup(ofSetup);
  const life = scenarioOf(seed, ofFaults, setup) ?? {
    setup,
    faults: unscriptedFaults(seed, ofFaults, setup),
  };
  if (hasSiteRules(seed, ofSites)) return { life: siteLifeOf(ofSites, life), ofWorld };
  if (hasSeveralLeaders(seed, ofSlots)) return { life: slotLifeOf(ofSlots, life), ofWorld };
  if (keepsClaim(seed)) return { life: keepingLifeOf(ofKeeping, setup), ofWorld };
  if (hasStalls(seed)) return { life: stallLifeOf(ofStalls, setup), ofWorld };
  if (hasUnlikeServers(seed)) return { life: unlikeServersLifeOf(ofLimits, setup), ofWorld };
  if (isRestored(seed)) return { life: restoredLifeOf(sources.ofEnsembles, setup), ofWorld };
  if (rotatesCredentials(seed)) return { life: credentialsLifeOf(sources.ofEnsembles, setup), ofWorld };
  if (losesChroot(seed)) return { life: chrootLifeOf(sources.ofEnsembles, setup), ofWorld };
  if (reachesQuota(seed)) return { life: quotaLifeOf(sources.ofEnsembles, setup), ofWorld };
  return { life: hasLeaseLosses(seed) ? leaseLossLifeOf(ofLeaseLosses, setup) : life, ofWorld };
}

function unscriptedFaults(seed: number, ofFaults: Chance, setup: Setup): PlannedFault[] {
  const { servers, sessionTimeoutMs, faultPeriodMs, isGentle } = setup;
  const target = {
    nodes: setup.nodes.length,
    sites: setup.sites.length,
    servers,
    sessionTimeoutMs,
    fromMs: 0,
    untilMs: faultPeriodMs,
    isGentle,
  };
  return seed % sweepEvery === 0 ? sweepFaults(seed / sweepEvery, target) : drawFaults(ofFaults, target);
}

class Simulation {
  readonly #world: World;
  readonly #paths: GroupPaths;
  readonly #cast: Cast;
  readonly #havoc: Havoc;
  /** Names of nodes for which a second machine has been started. */
  readonly #twins = new Set<string>();

  constructor(setup: Setup, world: World) {
    this.#world = world;
    this.#paths = groupPaths(`${setup.chroot}${root}`);
    const nodes: Node[] = [];
    const judge = new Judge(world, this.#paths, nodes, setup);
    const rules = new Rules({
      world,
      setup,
      paths: this.#paths,
      nodes,
      violate: (invariant, what) => judge.violate(invariant, what),
      isByHand: (session) => judge.isByHand(session),
      isInTouch: (node) => this.#isInTouch(node),
      inTouchSinceMs: (session) => tap.inTouchSinceMs(session),
      basisOf: ({ peer, xid }) => tap.basisOf(peer, xid),
    });
    const conduct = new Conduct(rules, judge);
    rules.also(conduct.rule);
    const ensemble = new Ensemble({
      world,
      servers: setup.servers,
      tickMs: setup.tickMs,
      minSessionTimeoutMs: 2 * setup.tickMs,
      unlike: setup.unlike,
      delays: setup.delays,
      overflow: setup.overflow,
      startZxid: setup.startZxid,
      clockOf: () => ({
        ...this.#clock(setup.rates?.servers),
        wallMs: epochMs + world.chance.between(-1, 1) * setup.wallSkewMs,
      }),
      onCommit: (commit) => {
        judge.committed(commit);
        rules.committed(commit);
        this.#havoc.committed(commit);
      },
      // If the sequence counter sticks, several nodes may watch one seat, so the number of woken nodes is not
      // judged.
      onWake: (departure, sessions) => sticks(setup) || judge.woken(rules.calledFor(departure, sessions)),
    });
    const tap = new Wiretap(this.#paths, (invariant, what) => judge.violate(invariant, what), {
      breakMs: longestBreak * setup.sessionTimeoutMs,
      nowMs: () => world.nowMs,
    });
    const network = new Network(world, ensemble, setup.delays, tap);
    network.onWrite = (machine, operations) => this.#havoc.writes(machine, operations);
    const cast = { setup, world, paths: this.#paths, ensemble, network, nodes, judge, rules, conduct };
    const newNode = (name: string, machine: string) => {
      this.#twins.add(name);
      return this.#newNode(name, machine);
    };
    for (const name of setup.nodes) nodes.push(this.#newNode(name, name, cast));
    const operator = this.#newOperator(cast);
    judge.isByHand = (session) => operator.owns(session);
    judge.mayDeleteByHand = () => operator.mayDelete;
    const owners = new Map<bigint, string>();
    world.nameOf = (session) => {
      const node = nodes.find((one) => one.session === session);
      const name = node?.machine.name ?? (operator.owns(session) ? 'ops' : owners.get(session));
      owners.set(session, name ?? 'somebody');
      return name ?? 'somebody';
    };
    this.#cast = { ...cast, operator, newNode };
    this.#havoc = new Havoc(this.#cast);
  }

  #newOperator({ setup, network }: Pick<Cast, 'setup' | 'network'>): Operator {
    const process = new Process(this.#world, 'ops', this.#clock());
    const { servers, sessionTimeoutMs, nodes, sites } = setup;
    const at = { process, network, machine: 'ops', world: this.#world, servers, sessionTimeoutMs };
    const own = setup.hasAccess ? asOperator(firstCredentials, this.#paths) : undefined;
    const open = (access = own) => openSimulated({ ...at, access });
    return new Operator(this.#world, process, open, this.#paths, { nodes, sites });
  }

  #clock(rate?: number) {
    const { chance } = this.#world;
    // Any two rates differ by less than 10 %. Many pairs differ by almost that much.
    const drawn = 1 + 0.045 * Math.max(-1, Math.min(1, chance.between(-2, 2)));
    return {
      rate: rate ?? drawn,
      startMs: chance.between(0, 1e6),
      wallMs: chance.next() * 2e12,
    };
  }

  #newNode(
    name: string,
    machineName: string,
    { setup, network, judge, conduct }: Pick<Cast, 'setup' | 'network' | 'judge' | 'conduct'> = this.#cast,
  ): Node {
    const { sessionTimeoutMs, chroot, hasPrepare, hasFence, hasMemory, servers, sites } = setup;
    const node: Node = new Node({
      world: this.#world,
      network,
      machine: new Machine(this.#world, machineName, this.#clock(setup.rates?.nodes), {
        started: (group) => {
          judge.started(node, group);
          conduct.started(node, group);
        },
        failed: (group) => conduct.failed(node, group),
        kills: () => this.#havoc.dieOfHook(node),
        ended: () => {},
        fences: (target) => this.#fence(target),
      }),
      name,
      site: sites[Math.max(0, setup.nodes.indexOf(name)) % sites.length] ?? 'a',
      root,
      chroot,
      credentials: setup.hasAccess ? firstCredentials : null,
      servers,
      sessionTimeoutMs,
      hasPrepare,
      hasFence,
      hasMemory,
      ended: (error) => this.#ended(node, error),
    });
    return node;
  }

  /**
   * Handles the end of an agent. An agent whose name another machine uses starts again after a while. An
   * agent that has left starts again only after the repair.
   */
  #ended(node: Node, error: unknown): void {
    const { judge, nodes, setup } = this.#cast;
    const isRefused = String(error).includes('DUPLICATE_NODE') || String(error).includes('is in use');
    if (error === null) {
      if (this.#havoc.isRepaired) this.#world.after(100, () => node.isUp || node.restart());
    } else if (isRefused && this.#twins.has(node.name)) {
      this.#world.after(setup.sessionTimeoutMs, () => nodes.includes(node) && node.start());
    } else judge.violate(0, `the agent of ${node.name} ended: ${String(error)}`);
  }

  #fence(target: string): void {
    const { nodes, judge } = this.#cast;
    for (const node of nodes) if (node.name === target) node.machine.killGroups();
    judge.fenced(target);
  }

  #isInTouch({ machine }: Node): boolean {
    const { servers } = this.#cast.ensemble;
    return servers.every((server) => {
      const { there, back } = this.#cast.network.way(machine.name, server.index);
      const isLinked = servers.every(
        (other) => other === server || this.#cast.ensemble.areLinked(server, other),
      );
      return server.process.isRunning && isLinked && there.isWhole && back.isWhole;
    });
  }

  async run(faults: readonly PlannedFault[]): Promise<Omit<Outcome, 'seed' | 'setup' | 'faults'>> {
    const world = this.#world;
    const { setup, judge, conduct } = this.#cast;
    const boundMs = leaderBound(setup, faults).reduce((sum, { ms }) => sum + ms, 0);
    const stop = () => {
      conduct.look();
      if (world.steps > mostSteps) judge.violate(0, `no end after ${mostSteps} steps`);
      return judge.violation !== null;
    };
    await this.#found();
    const foundedMs = world.nowMs;
    for (const planned of faults) {
      world.at(foundedMs + planned.atMs, () => {
        world.note(() => `FAULT ${faultText(planned, setup)}`);
        this.#havoc.befall(planned.fault);
      });
    }
    await world.run(foundedMs + setup.faultPeriodMs, stop);
    let leaderlessMs: number | null = null;
    if (!stop()) {
      const repairedMs = await this.#repair(faults, stop);
      await world.run(repairedMs + boundMs, () => stop() || isInPlace(this.#cast));
      leaderlessMs = world.nowMs - repairedMs;
      if (!stop() && !isInPlace(this.#cast))
        judge.violate(5, `${missingText(this.#cast)} ${Math.round(boundMs)} ms after all was repaired`);
      if (!stop()) await this.#settle(repairedMs, faults, stop);
      if (setup.checksPeace) await this.#peace(faults, stop);
    }
    return {
      violation: judge.violation,
      steps: world.steps,
      simulatedMs: world.nowMs,
      transitions: judge.transitions,
      claims: judge.claims,
      permittedOverlaps: judge.permittedOverlaps,
      leaderlessMs,
      boundMs,
      trace: world.trace,
    };
  }

  async #found(): Promise<void> {
    const { setup, operator, nodes, ensemble } = this.#cast;
    const world = this.#world;
    let isFounded = false;
    operator.process.deliver(() => {
      operator.found(setup.config, setup.hasAccess ? firstCredentials : null).then(() => {
        isFounded = true;
      });
    });
    await world.run(10_000, () => isFounded);
    for (const node of nodes) world.after(world.chance.between(0, 300), () => node.start());
    if (setup.sequence === null) return;
    const everywhere = [ensemble.truth, ...ensemble.servers.map(({ database }) => database)];
    for (const database of everywhere) database.setNextSequence(this.#paths.election, setup.sequence);
  }

  /** Repairs everything. Resolves with the instant at which operators have reverted their changes, too. */
  async #repair(faults: readonly PlannedFault[], stop: () => boolean): Promise<number> {
    const { judge, operator, setup, nodes } = this.#cast;
    this.#havoc.repair();
    // In a misconfigured group, no node can elect, so no node can replace a mute elector. Therefore, no node
    // stays mute.
    const isMisconfigured = faults.some(({ fault }) => 'act' in fault && fault.act.do === 'misconfigure');
    if (isMisconfigured) for (const node of nodes) node.muteSinceMs = Number.POSITIVE_INFINITY;
    let isDone = false;
    operator.calm(() => {
      isDone = true;
    });
    const withinMs = reconnectingMs(setup);
    await this.#world.run(this.#world.nowMs + withinMs, () => stop() || isDone);
    if (!isDone && !stop())
      judge.violate(0, `people cannot change anything ${Math.round(withinMs)} ms after all was repaired`);
    return this.#world.nowMs;
  }

  /** Checks that every running node is registered and has a seat. */
  async #settle(repairedMs: number, faults: readonly PlannedFault[], stop: () => boolean): Promise<void> {
    const { setup, nodes, rules, judge } = this.#cast;
    const isHandled = isRegistrationDeleted(faults);
    const withinMs = reconnectingMs(setup) + (isHandled ? 1.1 * resyncMs : 0);
    const missing = () => {
      const { seats, registrations } = rules.picture();
      return nodes.find(({ name, session, isUp }) => {
        if (!isUp) return false;
        const isSeated = seats.some(({ owner }) => owner === session);
        return !isSeated || registrations.get(name)?.owner !== session;
      });
    };
    // A node may lose its seat in the meantime because it was silent. It needs some more time for another
    // seat.
    const seatedMs = () => rules.seatLostMs + 2 * rules.promptMs + reconnectMs(setup);
    const untilMs = () => Math.max(repairedMs + withinMs, seatedMs());
    while (!stop() && missing() !== undefined && this.#world.nowMs < untilMs())
      await this.#world.run(untilMs(), () => stop() || missing() === undefined);
    const lost = missing();
    if (lost === undefined || stop()) return;
    const lateMs = Math.round(this.#world.nowMs - repairedMs);
    judge.violate(9, `${lost.name} has no seat, or is not registered, ${lateMs} ms after all was repaired`);
  }

  /**
   * Lets backoffs and waiting times expire. Afterwards, leadership must not move, and nothing but lease
   * renewals may be written.
   */
  async #peace(faults: readonly PlannedFault[], stop: () => boolean): Promise<void> {
    const { judge, nodes, setup } = this.#cast;
    if (stop()) return;
    for (const node of nodes) node.muteSinceMs = Number.POSITIVE_INFINITY;
    await this.#world.run(this.#world.nowMs + settlingMs(setup, faults), stop);
    const { writes, transitions, claims } = judge;
    await this.#world.run(this.#world.nowMs + peaceMs, stop);
    if (stop()) return;
    if (!isInPlace(this.#cast)) judge.violate(5, `${missingText(this.#cast)} in peace`);
    if (judge.transitions !== transitions || judge.claims !== claims)
      judge.violate(6, 'leadership moves in peace');
    if (judge.writes !== writes) judge.violate(6, `${judge.writes - writes} writes in peace`);
  }
}
