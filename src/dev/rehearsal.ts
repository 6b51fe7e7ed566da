/**
 * Brings a development group to a crash point, kills there who is to die, exactly then, and waits until the group is in
 * order again. The point is seen from outside: in what ZooKeeper is asked to write, and in what the hooks write down;
 * the development server stands still, or the hook waits, until the kill is done.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { defaultGroupConfig, type GroupConfig } from '../core/group-config.js';
import { fromInstant, toInstant } from '../core/names.js';
import type { GroupPaths } from '../core/paths.js';
import type { DevelopmentServer } from '../embedded/server.js';
import { PetrelError } from '../errors.js';
import { type GroupView, readGroup } from '../group/view.js';
import { systemClock } from '../ports/clock.js';
import { isStoreError, type Store } from '../ports/store.js';
import { type DevAgents, isRunning } from './agents.js';
import { Chronicle } from './chronicle.js';
import { type CrashPoint, type StepName, stepOf, type Transition, type Victim } from './crash-points.js';
import { type DevHooks, type HookEvent, type HookPhase, hookPhases } from './hooks.js';
import { type Cast, type Sign, signOf } from './moments.js';

/** A group whose agents have these hooks, under a configuration that is the rehearsal's to write. */
export interface Stage {
  readonly server: DevelopmentServer;
  readonly store: Store;
  readonly paths: GroupPaths;
  readonly agents: DevAgents;
  readonly hooks: DevHooks;
}

export interface RehearsalOptions {
  /** One line for each thing that happens. `atMs` counts from the kill; null before it. */
  say(text: string, atMs: number | null): void;
  /** Of the group, where it is to differ from the defaults. */
  readonly config?: Partial<GroupConfig>;
  /** How long to wait for the group to be whole, for the crash point, and for order after it. Default a minute. */
  readonly patienceMs?: number;
}

export interface Outcome {
  readonly cast: Cast;
  /** Who leads in the end. */
  readonly leader: string;
  readonly term: number;
  readonly token: bigint;
  /** How long nobody was READY, in milliseconds, since the change of leader began. */
  readonly leaderlessMs: number;
  /** Nodes whose agent does not run any more. */
  readonly gone: readonly string[];
}

/** Steps before the old leader can have heard. */
const beforeRelease: readonly StepName[] = ['leaving-told', 'decided'];
const lookAtLeastEveryMs = 100;
const byHand = { by: 'petrel dev', reason: 'a crash point is rehearsed' };

export class Rehearsal implements Disposable {
  readonly #stage: Stage;
  readonly #options: RehearsalOptions;
  readonly #chronicle: Chronicle;
  readonly #unlisten: readonly (() => void)[];
  readonly #end = new AbortController();
  /** Ends a standstill. Told whether the author of the step is dead. */
  #goOn: (isAuthorDead: boolean) => void = () => {};
  #wake: () => void = () => {};
  /** The cast is on: what comes before is of no interest. */
  #isOn = false;
  #killedAtMs: number | null = null;
  /** The token of the tenure that the kill ends. */
  #ending: bigint | null = null;

  constructor(stage: Stage, options: RehearsalOptions) {
    this.#stage = stage;
    this.#options = options;
    const { server, hooks, paths } = stage;
    const nowMs = () => systemClock.monotonicMs();
    this.#chronicle = new Chronicle({ paths, nowMs, line: (text) => this.#say(text) });
    this.#unlisten = [
      server.onCommit((commit) => {
        // What a hook did before this was written is told before it.
        if (commit.operations.some(({ type }) => type !== 'check')) hooks.catchUp();
        this.#chronicle.commit(commit);
        setImmediate(() => this.#wake());
      }),
      hooks.onEvent((event) => this.#chronicle.hook(event)),
    ];
  }

  /**
   * Plays one crash point. A first election needs a group that nobody has joined yet. Agents that were killed stay so;
   * the next play starts them again. Throws PetrelError FAILED when something does not come in time.
   */
  async play(point: CrashPoint): Promise<Outcome> {
    this.#killedAtMs = null;
    this.#ending = null;
    const cast = point.transition === 'first' ? await this.#newGroup() : await this.#wholeGroup();
    const { elector, leader, heir } = cast;
    this.#isOn = true;
    this.#say(`${leader ?? 'nobody'} leads, ${elector} is the elector, ${heir} is to take over`);
    try {
      await this.#crash(point, cast);
      const view = await this.#until('the group to be in order again', (seen) =>
        this.#isOver(seen, point, cast),
      );
      const { agents } = this.#stage;
      return {
        cast,
        leader: readyLeader(view) ?? '',
        term: view.current?.value?.term ?? 0,
        token: view.current?.token ?? 0n,
        leaderlessMs: this.#chronicle.leaderlessMs,
        gone: agents.nodes.filter((node) => !agents.isRunning(node)),
      };
    } finally {
      this.#isOn = false;
      this.#goOn(false);
      this.#freeHooks();
    }
  }

  /** A play that is on fails, and holds nothing up any more. */
  [Symbol.dispose](): void {
    this.#isOn = false;
    this.#end.abort(new PetrelError('FAILED', 'the rehearsal was ended'));
    for (const unlisten of this.#unlisten) unlisten();
    this.#goOn(false);
    this.#freeHooks();
  }

  #say(text: string): void {
    const { say } = this.#options;
    if (this.#isOn)
      say(text, this.#killedAtMs === null ? null : systemClock.monotonicMs() - this.#killedAtMs);
  }

  async #crash(point: CrashPoint, cast: Cast): Promise<void> {
    const { hooks, store, paths, agents } = this.#stage;
    const { elected } = await readGroup(store, paths);
    const sign = signOf(point.step, cast, paths, elected.value?.term ?? 0);
    const reached = Promise.all([this.#sign(sign), this.#prepareFirst(point, cast)]);
    // Should what comes next fail, nobody waits for it any more.
    reached.catch(() => {});
    if (point.transition === 'failed') hooks.fail(cast.heir, 'takeover', true);
    this.#chronicle.begin();
    await this.#trigger(point.transition, cast);
    await this.#inTime(`the crash point ${point.step}`, reached);
    this.#say(`crash point reached: ${stepOf(point.step).text}`);
    await this.#kill(point.victim, cast);
    const author = cast[stepOf(point.step).of];
    this.#goOn(author !== null && !agents.isRunning(author));
    this.#holdNothing();
  }

  /**
   * The old leader releases while the heir prepares, and which of them is done first is chance. Here it is the heir,
   * unless it is to die while it prepares: then the release runs, too. Resolves when that is so.
   */
  async #prepareFirst({ step, transition }: CrashPoint, { leader, heir }: Cast): Promise<void> {
    if (leader === null || transition === 'failover' || beforeRelease.includes(step)) return;
    const { hooks } = this.#stage;
    hooks.hold(leader, 'release');
    const releasing = this.#event(leader, 'release', 'started');
    const { pid } = await this.#event(heir, 'prepare', step === 'prepare-started' ? 'started' : 'ended');
    await releasing;
    if (step === 'prepare-started') return;
    // Whoever waits for its end has heard of it.
    while (isRunning(pid)) await sleep(1);
    if (step !== 'release-started') hooks.letGo(leader, 'release');
  }

  #event(node: string, phase: HookPhase, event: HookEvent['event']): Promise<HookEvent> {
    return new Promise((resolve) => {
      const unlisten = this.#stage.hooks.onEvent((one) => {
        if (one.node !== node || one.phase !== phase || one.event !== event) return;
        unlisten();
        resolve(one);
      });
    });
  }

  /** Resolves at the sign; the group is kept there. */
  async #sign(sign: Sign): Promise<void> {
    const { server, hooks } = this.#stage;
    if ('at' in sign) {
      const standstill = await server.standStill(sign.at, sign.matches, this.#end.signal);
      this.#goOn = (isAuthorDead) => (isAuthorDead ? standstill.breakOff() : standstill.resume());
      if (this.#end.signal.aborted) standstill.resume();
      return;
    }
    hooks.hold(sign.on, sign.runs);
    await this.#event(sign.on, sign.runs, 'started');
  }

  async #trigger(transition: Transition, { leader, heir }: Cast): Promise<void> {
    const { agents } = this.#stage;
    switch (transition) {
      case 'switchover':
      case 'failed':
        this.#say(`a switchover to ${heir} is asked for`);
        return await this.#switchover(heir);
      case 'failover':
        return await this.#killOf(leader ?? '', 'agent');
      case 'drain':
        this.#say(`SIGTERM to the agent of ${leader}`);
        agents.signal(leader ?? '', 'SIGTERM');
        return;
      case 'first':
        this.#say('the group, which was paused, is resumed');
        return await this.#configure({ paused: null });
    }
  }

  async #kill(victim: Victim, cast: Cast): Promise<void> {
    const { server } = this.#stage;
    if (victim === 'zookeeper') {
      this.#killedAtMs = systemClock.monotonicMs();
      await server.halt();
      await server.restart();
      this.#say('ZooKeeper was killed, and started again');
      return;
    }
    const [role, what] = victim.split('-');
    const node = (role === 'leader' ? cast.leader : role === 'heir' ? cast.heir : cast.elector) ?? '';
    this.#killedAtMs = systemClock.monotonicMs();
    await this.#killOf(node, what === 'keeper' || what === 'both' ? what : 'agent');
  }

  async #killOf(node: string, what: 'agent' | 'keeper' | 'both'): Promise<void> {
    const { agents, hooks } = this.#stage;
    hooks.catchUp();
    this.#ending = this.#chronicle.begunUnder(node);
    const pids = await agents.kill(node, what);
    const who = what === 'both' ? 'agent and keeper' : what;
    this.#chronicle.killed(`kill -9 ${pids.join(' ')}: ${who} of ${node}`, node);
  }

  /** In order again, and whatever the kill leads to has happened. */
  #isOver(view: GroupView, { transition }: CrashPoint, { leader }: Cast): boolean {
    const { agents } = this.#stage;
    const gone = agents.nodes.filter((node) => !agents.isRunning(node));
    if (view.members.some(({ node }) => gone.includes(node))) return false;
    if (transition === 'drain' && leader !== null && !gone.includes(leader)) return false;
    return view.current?.token !== this.#ending && isQuiet(view);
  }

  /** All nodes paused in a group in which nobody was ever elected; the elector has come first. */
  async #newGroup(): Promise<Cast> {
    const { agents } = this.#stage;
    const [heir = '', ...others] = agents.nodes;
    const elector = others.at(-1) ?? '';
    const order = [heir, ...others];
    const paused = { ...byHand, at: toInstant(systemClock.wallMs()) };
    await this.#configure({ ...this.#config(order), paused });
    agents.start(elector);
    await this.#until(`${elector} to join`, ({ seats }) => seats.length === 1);
    agents.startAll();
    await this.#until('all nodes to join', (view) => areAllIn(view, agents.nodes));
    return { elector, leader: null, heir };
  }

  /** All nodes are there, and three of them have a part each. */
  async #wholeGroup(): Promise<Cast> {
    const { agents } = this.#stage;
    await this.#configure(this.#config(agents.nodes));
    agents.startAll();
    const isWhole = (view: GroupView) => areAllIn(view, agents.nodes) && isQuiet(view) && !excludes(view);
    let view = await this.#until('the group to be whole', isWhole);
    const elector = view.seats[0]?.node ?? '';
    if (readyLeader(view) === elector) {
      const other = agents.nodes.find((node) => node !== elector) ?? '';
      await this.#switchover(other);
      view = await this.#until(`${other} to lead`, (seen) => readyLeader(seen) === other && isWhole(seen));
    }
    const leader = readyLeader(view) ?? '';
    const [heir = '', ...spare] = agents.nodes.filter((node) => node !== elector && node !== leader);
    await this.#configure(this.#config([heir, ...spare, leader, elector]));
    return { elector, leader, heir };
  }

  /** Who comes next is told, and nothing moves that nobody asked for. */
  #config(order: readonly string[]): Partial<GroupConfig> {
    const strategy = { strategy: 'preference-list', strategyOptions: { order } };
    return { ...this.#options.config, ...strategy, failback: 'manual', paused: null, switchover: null };
  }

  async #switchover(node: string): Promise<void> {
    const { store, paths } = this.#stage;
    const { elected } = await readGroup(store, paths);
    const at = toInstant(systemClock.wallMs());
    const replacesTerm = elected.value?.term ?? 0;
    const request = { to: { node }, replacesTerm, notBefore: null, force: false, ...byHand, at };
    await this.#configure({ switchover: request });
  }

  /** By compare-and-set: the elector may write, too. */
  async #configure(change: Partial<GroupConfig>): Promise<void> {
    const { store, paths } = this.#stage;
    for (;;) {
      const { config } = await readGroup(store, paths);
      const content = Buffer.from(JSON.stringify({ ...(config.value ?? defaultGroupConfig), ...change }));
      try {
        await store.set(paths.config, content, config.version);
        return;
      } catch (error) {
        if (!isStoreError(error, 'BAD_VERSION')) throw error;
      }
    }
  }

  /** Reads the group at every change, and every so often, until it is as wanted. */
  async #until(wanted: string, isSo: (view: GroupView) => boolean): Promise<GroupView> {
    const untilMs = systemClock.monotonicMs() + this.#patienceMs;
    for (;;) {
      this.#end.signal.throwIfAborted();
      const changed = new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      const view = await this.#view();
      if (view !== null && isSo(view)) return view;
      if (systemClock.monotonicMs() >= untilMs) throw this.#tooLate(wanted);
      await Promise.race([changed, sleep(lookAtLeastEveryMs)]);
    }
  }

  /** Null while it cannot be read. */
  async #view(): Promise<GroupView | null> {
    const { store, paths } = this.#stage;
    try {
      return await readGroup(store, paths);
    } catch (error) {
      if (isStoreError(error) && store.state !== 'CLOSED') return null;
      throw error;
    }
  }

  async #inTime<T>(wanted: string, work: Promise<T>): Promise<T> {
    const { signal } = this.#end;
    let cancel = () => {};
    const late = new Promise<never>((_, reject) => {
      signal.throwIfAborted();
      const end = () => reject(signal.reason);
      signal.addEventListener('abort', end);
      const cancelTimer = systemClock.timer(this.#patienceMs, () => reject(this.#tooLate(wanted)));
      cancel = () => {
        signal.removeEventListener('abort', end);
        cancelTimer();
      };
    });
    try {
      return await Promise.race([work, late]);
    } finally {
      cancel();
    }
  }

  get #patienceMs(): number {
    return this.#options.patienceMs ?? 60_000;
  }

  #tooLate(wanted: string): PetrelError {
    return new PetrelError('FAILED', `waited ${this.#patienceMs / 1000} s in vain for ${wanted}`);
  }

  #freeHooks(): void {
    this.#holdNothing();
    for (const node of this.#stage.agents.nodes) this.#stage.hooks.fail(node, 'takeover', false);
  }

  #holdNothing(): void {
    const { agents, hooks } = this.#stage;
    for (const node of agents.nodes) for (const phase of hookPhases) hooks.letGo(node, phase);
  }
}

function readyLeader({ current }: GroupView): string | null {
  return current?.value?.status === 'READY' ? current.value.node : null;
}

/** The elected node is READY, and the history says so. */
function isQuiet(view: GroupView): boolean {
  const { elected, current, history } = view;
  const term = elected.value?.term;
  const isSettled = current?.value?.term === term && history?.value?.term === term;
  return term !== undefined && isSettled && readyLeader(view) === elected.value?.node;
}

function areAllIn({ members, seats }: GroupView, nodes: readonly string[]): boolean {
  return nodes.every((node) => {
    const member = members.find((one) => one.node === node);
    return member?.value?.draining === false && seats.some((seat) => seat.node === node);
  });
}

function excludes({ elected }: GroupView): boolean {
  const nowMs = systemClock.wallMs();
  return (elected.value?.failures ?? []).some(({ until }) => until !== null && fromInstant(until) > nowMs);
}
