/**
 * Brings a development group to a crash point, kills a process exactly at that point, and waits until the
 * group has recovered. The point is recognized from outside, by the writes that ZooKeeper receives and the
 * events that the hooks record. To keep the group at that point until the process has been killed, the
 * development server pauses or the hook waits.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { builtInRules } from '../../strategies/index.js';
import { PetrelError, present } from '../errors.js';
import { type GroupView, readGroup } from '../group/view.js';
import type { GroupConfig } from '../model/group-config.js';
import { systemClock } from '../ports/clock.js';
import { isRunning, type NodePart } from './agents.js';
import { Chronicle } from './chronicle.js';
import { type CrashPoint, type StepName, stepOf, type Transition, type Victim } from './crash-points.js';
import { DevGroup, isQuiet, readyLeader, type Stage } from './group.js';
import { type HookEvent, type HookPhase, hookPhases } from './hooks.js';
import { type Cast, type Sign, signOf } from './moments.js';

export interface RehearsalOptions {
  /** Called with one line for each event. `atMs` is the time since the kill, and is null before the kill. */
  say(text: string, atMs: number | null): void;
  /** Settings of the group that differ from the default configuration. */
  readonly config?: Partial<GroupConfig>;
  /**
   * Time limit for each wait, in milliseconds. The limit applies separately to waiting for all nodes, for the
   * crash point, and for the recovery. The default is one minute.
   */
  readonly patienceMs?: number;
}

export interface Outcome {
  readonly cast: Cast;
  /** The leader at the end of the rehearsal. */
  readonly leader: string;
  readonly term: number;
  readonly token: bigint;
  /** Milliseconds without a READY node since the change of leader began. */
  readonly leaderlessMs: number;
}

/** Steps at which the old leader cannot yet know of the decision. */
const beforeRelease: readonly StepName[] = ['leaving-announced', 'decided'];

export class Rehearsal implements Disposable {
  readonly #stage: Stage;
  readonly #options: RehearsalOptions;
  readonly #group: DevGroup;
  readonly #chronicle: Chronicle;
  readonly #unlisten: readonly (() => void)[];
  readonly #end = new AbortController();
  /** Ends the pause at the current step. The argument says whether the agent that took the step is dead. */
  #goOn: (isAuthorDead: boolean) => void = () => {};
  /** Whether the roles have been assigned. Earlier events are not reported. */
  #isOn = false;
  #killedAtMs: number | null = null;
  /** Fencing token of the leadership that is ended by the kill. Null if the kill ends no leadership. */
  #ending: bigint | null = null;
  /** Process ids of agents that are dead or leaving the group. */
  readonly #parting = new Set<number>();

  constructor(stage: Stage, options: RehearsalOptions) {
    this.#stage = stage;
    this.#options = options;
    const { server, hooks, paths } = stage;
    const { config = {}, patienceMs = 60_000 } = options;
    this.#group = new DevGroup(stage, { config, patienceMs, signal: this.#end.signal });
    const nowMs = () => systemClock.monotonicMs();
    this.#chronicle = new Chronicle({ paths, nowMs, line: (text) => this.#say(text) });
    this.#unlisten = [
      server.onCommit((commit) => {
        // First report the hook events that happened before this transaction.
        if (commit.operations.some(({ type }) => type !== 'check')) hooks.catchUp();
        this.#chronicle.commit(commit);
        setImmediate(() => this.#group.changed());
      }),
      hooks.onEvent((event) => this.#chronicle.hook(event)),
    ];
  }

  /**
   * Rehearses one crash point. A first election requires a group that no node has joined. A killed agent is
   * restarted by its guardian. If a guardian was killed, its node remains absent until the next rehearsal.
   * Throws PetrelError FAILED if an expected event does not happen in time.
   */
  async rehearse(point: CrashPoint): Promise<Outcome> {
    this.#killedAtMs = null;
    this.#ending = null;
    this.#parting.clear();
    await this.#stage.agents.hurry();
    const cast = point.transition === 'first' ? await this.#group.newGroup() : await this.#group.wholeGroup();
    const { elector, leader, candidate } = cast;
    this.#isOn = true;
    this.#say(`${leader ?? 'nobody'} leads, ${elector} is the elector, ${candidate} is to take over`);
    try {
      await this.#crash(point, cast);
      const view = await this.#group.until('the group to recover', (view) => this.#isOver(view, point, cast));
      return {
        cast,
        leader: present(readyLeader(view), 'a leader'),
        term: present(view.current?.value, 'a claim').term,
        token: present(view.current, 'a claim').token,
        leaderlessMs: this.#chronicle.leaderlessMs,
      };
    } finally {
      this.#isOn = false;
      this.#goOn(false);
      this.#freeHooks();
    }
  }

  /** Makes a running rehearsal fail, and resumes everything that the rehearsal has paused. */
  [Symbol.dispose](): void {
    this.#isOn = false;
    this.#end.abort(new PetrelError('FAILED', 'the rehearsal was stopped'));
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
    const { hooks, store, paths } = this.#stage;
    const { elected } = await readGroup({ store, paths, rules: builtInRules });
    const sign = signOf(point.step, cast, paths, elected.value?.term ?? 0);
    const reached = Promise.all([this.#sign(sign), this.#prepareFirst(point, cast)]);
    // If a later step fails, nothing awaits this promise any more, so its rejection must be handled here.
    reached.catch(() => {});
    if (point.transition === 'failed') hooks.fail(cast.candidate, 'takeover', true);
    this.#chronicle.begin();
    await this.#trigger(point.transition, cast);
    await this.#group.inTime(`the crash point ${point.step}`, reached);
    this.#say(`crash point reached: ${stepOf(point.step).text}`);
    const dead = await this.#kill(point.victim, cast);
    this.#goOn(dead !== null && dead === cast[stepOf(point.step).of]);
    this.#holdNothing();
  }

  /**
   * Makes the candidate finish its preparation before the old leader finishes its release. Normally, both run
   * at the same time, and either may finish first. If the candidate is to be killed while it prepares, only
   * waits until both are running. Resolves when the required state is reached.
   */
  async #prepareFirst({ step, transition }: CrashPoint, { leader, candidate }: Cast): Promise<void> {
    if (leader === null || transition === 'failover' || beforeRelease.includes(step)) return;
    const { hooks } = this.#stage;
    hooks.hold(leader, 'release');
    const releasing = this.#event(leader, 'release', 'started');
    const { pid } = await this.#event(candidate, 'prepare', step === 'prepare-started' ? 'started' : 'ended');
    await releasing;
    if (step === 'prepare-started') return;
    // Wait until the hook's process has exited. The agent that is waiting for the hook has then been
    // notified.
    while (isRunning(pid)) await sleep(1);
    if (step !== 'release-started') hooks.resume(leader, 'release');
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

  /** Waits until the sign of a step is recognized, and then keeps the group in that state. */
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

  async #trigger(transition: Transition, { leader, candidate }: Cast): Promise<void> {
    const { agents } = this.#stage;
    switch (transition) {
      case 'switchover':
      case 'failed':
        this.#say(`a switchover to ${candidate} is requested`);
        return await this.#group.switchover(candidate);
      case 'failover':
        return await this.#killOf(present(leader, 'a leader'), 'agent');
      case 'drain':
        this.#say(`${leader} is asked to leave (SIGTERM)`);
        this.#parting.add(agents.agentPid(present(leader, 'a leader')));
        return agents.term(present(leader, 'a leader'));
      case 'first':
        this.#say('the group, which was paused, is resumed');
        return await this.#group.configure({ paused: null });
    }
  }

  /** Kills the victim. Returns the node whose agent was killed, or null if no agent was killed. */
  async #kill(victim: Victim, cast: Cast): Promise<string | null> {
    const { server } = this.#stage;
    if (victim === 'zookeeper') {
      this.#killedAtMs = systemClock.monotonicMs();
      await server.halt();
      await server.restart();
      this.#say('ZooKeeper was killed and restarted');
      return null;
    }
    const [role, named] = victim.split('-');
    const part = named === 'guardian' || named === 'both' ? named : 'agent';
    const node = present(
      role === 'leader' ? cast.leader : role === 'candidate' ? cast.candidate : cast.elector,
      `the ${role}`,
    );
    this.#killedAtMs = systemClock.monotonicMs();
    await this.#killOf(node, part);
    return part === 'guardian' ? null : node;
  }

  async #killOf(node: string, part: NodePart): Promise<void> {
    const { agents, hooks } = this.#stage;
    hooks.catchUp();
    this.#ending = this.#chronicle.begunUnder(node);
    this.#parting.add(agents.agentPid(node));
    const pids = await agents.kill(node, part);
    const who = part === 'both' ? 'guardian and agent' : part;
    this.#chronicle.killed(`kill -9 ${pids.join(' ')}: ${who} of ${node}`, node);
  }

  /** Whether the group has recovered and all effects of the kill have occurred. */
  #isOver(view: GroupView, { transition }: CrashPoint, { leader }: Cast): boolean {
    const { agents } = this.#stage;
    if ([...this.#parting].some(isRunning)) return false;
    if (view.members.some(({ value }) => value !== null && this.#parting.has(value.pid))) return false;
    if (transition === 'drain' && leader !== null && agents.isRunning(leader)) return false;
    return view.current?.token !== this.#ending && isQuiet(view);
  }

  #freeHooks(): void {
    this.#holdNothing();
    for (const node of this.#stage.agents.nodes) this.#stage.hooks.fail(node, 'takeover', false);
  }

  #holdNothing(): void {
    const { agents, hooks } = this.#stage;
    for (const node of agents.nodes) for (const phase of hookPhases) hooks.resume(node, phase);
  }
}
