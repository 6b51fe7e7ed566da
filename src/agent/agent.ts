/**
 * The agent of one node runs a loop: observe, decide, act, and wait. An event does nothing but wake the loop,
 * and each round reads the group again. A lost reply, a replaced session, a duplicate event or a shutdown
 * therefore needs no special treatment: the next snapshot shows its effect.
 *
 * Not promised: that a frozen or killed agent stops its own workload. The workload is responsible for
 * stopping itself (`ports/workload.ts`), and receives the lease for that purpose.
 */

import { isDeepStrictEqual } from 'node:util';
import type { Logger } from 'pino';
import type { Rules } from '../../strategies/registry.js';
import { errorMessage, PetrelError } from '../errors.js';
import { Listeners } from '../listeners.js';
import { durationMs } from '../model/duration.js';
import { defaultGroupConfig } from '../model/group-config.js';
import { type GroupPaths, groupPaths } from '../model/paths.js';
import { type NodeDescription, type Registration, registrationSchema } from '../model/registration.js';
import { isElected } from '../model/slots.js';
import type { GroupSnapshot } from '../model/snapshot.js';
import type { Clock } from '../ports/clock.js';
import type { Host } from '../ports/host.js';
import { isStoreError, type Store, type StoreError } from '../ports/store.js';
import type { Workload } from '../ports/workload.js';
import { ensureTree, forbidden, whyLost } from '../tree/ensure-tree.js';
import { type AgentStatus, leftText, statusText } from './agent-status.js';
import { ifStillTrue } from './conditional-write.js';
import { Elector } from './elector/elector.js';
import { ElectorWatchdog } from './elector/elector-watchdog.js';
import { type Unwritten, withUnwritten } from './elector/turn.js';
import type { AgentEvent } from './events.js';
import type { LeadershipRound } from './leadership/options.js';
import { ReportingWorkload } from './leadership/reporting-workload.js';
import { LeadershipRunner } from './leadership/runner.js';
import { TokenMemory, type TokenStore } from './leadership/token-memory.js';
import { describe, encode, preparing, register, takeSeat } from './membership.js';
import { beforeInstant, Pacing } from './pacing.js';
import { ProblemLog } from './problem-log.js';
import { type RatesHeard, ScoreReader } from './scores/score-reader.js';
import { EarlierIncarnations, type WorkloadPlace } from './session/earlier-incarnation.js';
import { forget, remember, type SessionMemory, type SessionTicket } from './session/session-memory.js';
import { alone, type Sharing } from './session/sharing.js';
import { Contents } from './snapshot/contents.js';
import { SnapshotReader } from './snapshot/snapshot-reader.js';

export interface AgentOptions {
  /** Opens a new session, or attaches to an existing one. */
  openStore(session?: SessionTicket): Store;
  readonly root: string;
  readonly node: string;
  readonly site: string;
  readonly priority: number;
  readonly tags: Readonly<Record<string, string>>;
  /** Strategies and constraints that this node knows. */
  readonly rules: Rules;
  /** Probe address, and request rates from probe answers. Null (the default) if this node does not probe. */
  readonly probe?: (RatesHeard & NonNullable<NodeDescription['probe']>) | null | undefined;
  /** Petrel's version. */
  readonly version: string;
  readonly workload: Workload;
  readonly workloadPlace: WorkloadPlace;
  readonly clock: Clock;
  readonly log: Logger;
  readonly host: Host;
  readonly sessionMemory: SessionMemory | null;
  /** Store for the fencing tokens that the node has seen. By default, the tokens are lost on a restart. */
  readonly tokenStore?: TokenStore | null | undefined;
  /** Rules for agents that share a session. By default, the agent has its own session. */
  readonly sharing?: Sharing | undefined;
}

export type { AgentStatus } from './agent-status.js';

const retryMs = 1_000;

export class Agent {
  readonly #options: AgentOptions;
  readonly #sharing: Sharing;
  readonly #paths: GroupPaths;
  readonly #leadershipRunner: LeadershipRunner;
  readonly #elector: Elector;
  readonly #watchdog: ElectorWatchdog;
  readonly #earlier: EarlierIncarnations;
  readonly #snapshotReader: SnapshotReader;
  readonly #listeners: Listeners<AgentStatus>;
  readonly #events: Listeners<AgentEvent>;
  readonly #pacing: Pacing;
  readonly #problems: ProblemLog;
  #registration: Registration;
  #store: Store | null = null;
  #drainingSinceMs: number | null = null;
  #hurried = false;
  #lastReported = '';
  #refusal: PetrelError | null = null;
  readonly #unlist: () => void;

  constructor(options: AgentOptions) {
    const { node, site, clock, host, log, rules } = options;
    this.#options = options;
    this.#sharing = options.sharing ?? alone;
    this.#paths = groupPaths(options.root);
    const incarnation = host.newIncarnation();
    this.#unlist = host.markAgentAlive(incarnation);
    this.#registration = { ...describe(options, incarnation), ...preparing(options.workload) };
    this.#listeners = new Listeners(log, 'the status');
    this.#events = new Listeners(log, 'events');
    this.#pacing = new Pacing(clock);
    this.#problems = new ProblemLog(log);
    const tokens = new TokenMemory(options.tokenStore ?? null, log);
    const notify = (event: AgentEvent) => this.#events.notify(event);
    const shared = {
      ...{ rules, node, site, paths: this.#paths },
      workload: new ReportingWorkload(options.workload, clock, notify),
      clock,
      log,
      notify,
      dueSinceMs: () => this.#pacing.dueSinceMs,
      wake: () => this.#wake(),
      updateRegistration: (change: Partial<Registration>) => this.#updateRegistration(change),
      config: () => this.#snapshotReader.config,
    };
    this.#earlier = new EarlierIncarnations({ ...options, ...this.#sharing, paths: this.#paths });
    const scores = new ScoreReader({ ...options, paths: this.#paths });
    this.#elector = new Elector({
      ...shared,
      claimWith: (store, decided) => this.#leadershipRunner.claimWith(this.#roundOf(store, decided)),
    });
    this.#watchdog = new ElectorWatchdog({
      clock,
      elector: this.#elector,
      electorWatchdogMs: () => this.#sharing.electorWatchdogMs,
    });
    this.#snapshotReader = new SnapshotReader({
      paths: this.#paths,
      node,
      scores,
      contents: new Contents(),
      tokens,
      clock,
      resyncMs: () => this.#sharing.resyncMs,
    });
    this.#leadershipRunner = new LeadershipRunner({
      ...shared,
      renewals: this.#sharing.renewals,
      tokens,
      incarnation,
      seat: () => this.#snapshotReader.seat.name,
      onStage: (stage, logContext) => {
        this.#reportStatus();
        notify({ kind: 'stage', stage, logContext });
      },
    });
  }

  /** Random id of this run of the node's agent. */
  get incarnation(): string {
    return this.#registration.incarnation;
  }

  get status(): AgentStatus {
    const { leadership, leads, lease, slot } = this.#leadershipRunner;
    return {
      node: this.#options.node,
      leads,
      stage: leadership?.stage ?? null,
      term: leadership?.term ?? null,
      slot,
      fencingToken: leadership?.token ?? null,
      lease: leadership === null ? null : lease,
      joined: this.#store?.state === 'CONNECTED' && this.snapshot?.seat != null,
      elector: this.#snapshotReader.part === 'elector' && this.snapshot?.seat != null,
      leaving: this.#drainingSinceMs !== null,
    };
  }

  /** Store of the current session. Null before the first session. Replaced when the session ends. */
  get session(): Store | null {
    return this.#store;
  }

  /** The last snapshot, limited to what this node needs. Null if this session has none yet. */
  get snapshot(): GroupSnapshot | null {
    return this.#snapshotReader.snapshot;
  }

  /** Calls the listener after every change to `status`. Logs any error that the listener throws. */
  onStatus(listener: (status: AgentStatus) => void): () => void {
    return this.#listeners.add(listener);
  }

  onEvent(listener: (event: AgentEvent) => void): () => void {
    return this.#events.add(listener);
  }

  /** Sets the reported health. An unhealthy node is not elected, and an unhealthy leader is replaced. */
  setHealth(ok: boolean, reason: string | null): void {
    this.#updateRegistration({ health: { ok, reason } });
    this.#wake();
  }

  /** Sets the priority and tags that elections use from now on. */
  describe(priority: number, tags: Readonly<Record<string, string>>): void {
    this.#updateRegistration({ priority, tags: { ...tags } });
    this.#wake();
  }

  /** Leaves the group: waits for a successor, releases leadership, and ends. A second call skips the wait. */
  stop(): void {
    if (this.#drainingSinceMs !== null) this.#hurried = true;
    this.#drainingSinceMs ??= this.#options.clock.monotonicMs();
    this.#updateRegistration({ draining: true });
    this.#wake();
  }

  /**
   * Runs until `stop` has completed. Keeps trying while the ensemble is unreachable. Throws PetrelError
   * DUPLICATE_NODE or FORBIDDEN if this node cannot take part in the group.
   */
  async run(): Promise<void> {
    try {
      for (;;) {
        this.#pacing.begin();
        const waitMs = await this.#tryRound();
        this.#events.notify({ kind: 'round' });
        if (waitMs === null) break;
        this.#reportStatus();
        await this.#pacing.sleep(waitMs, () => this.#leadershipRunner.dueAtMs);
      }
    } finally {
      await this.#leave();
    }
    if (this.#refusal !== null) throw this.#refusal;
  }

  /**
   * Runs one round. Returns the longest time to wait before the next round, in ms. The lease may require an
   * earlier round. Returns null once the agent has left.
   */
  async #tryRound(): Promise<number | null> {
    try {
      return await this.#round();
    } catch (error) {
      if (error instanceof PetrelError || !isStoreError(error)) throw error;
      if (isStoreError(error, 'NO_NODE')) return await this.#restoreTree(error);
      return await this.#roundFailed(error);
    }
  }

  /** Handles a failed round. Takes only steps that need no read of the group, such as a due release. */
  async #roundFailed(error: StoreError): Promise<number | null> {
    const { log } = this.#options;
    const refusal = forbidden(error, this.#paths.root, 'use');
    if (refusal !== null) this.#leaveBecauseOf(refusal);
    const isRoutine = error.outcomeUnknown || this.#store?.state !== 'CONNECTED';
    if (isRoutine) log.debug({ error }, `round interrupted: ${error.message}`);
    else this.#problems.report({ error }, error.message);
    if (this.#store !== null) await this.#step(this.#store, null);
    if (this.#hasLeft(null)) return null;
    return isRoutine && this.#store?.state === 'CONNECTED' ? retryMs / 10 : retryMs;
  }

  /** Releases leadership and leaves, because ZooKeeper does not permit this node to do its part. */
  #leaveBecauseOf(refusal: PetrelError): void {
    this.#refusal ??= refusal;
    this.#hurried = true;
    this.#drainingSinceMs ??= this.#options.clock.monotonicMs();
  }

  async #restoreTree(missing: StoreError): Promise<number | null> {
    const store = this.#store;
    if (store?.state !== 'CONNECTED') return await this.#roundFailed(missing);
    const { known } = this.#snapshotReader;
    this.#problems.reportMissingTree(this.#paths.root, known);
    try {
      await this.#leadershipRunner.checkClaim(store);
      await ensureTree(store, this.#paths, known);
      return retryMs / 10;
    } catch (error) {
      if (error instanceof PetrelError) throw error;
      this.#problems.report({ error }, `cannot create the group's znodes: ${errorMessage(error)}`);
      await this.#step(store, null);
      return this.#hasLeft(null) ? null : retryMs;
    }
  }

  async #round(): Promise<number | null> {
    const store = await this.#openStore();
    if (store.state !== 'CONNECTED') {
      await this.#step(store, null);
      return this.#hasLeft(null) ? null : retryMs;
    }
    const turn = this.#sharing.turn();
    try {
      if ((await this.#beforeLeaseEnds(turn.come)) !== null) return await this.#inTouch(store);
      await this.#step(store, null);
      return retryMs / 10;
    } finally {
      turn.end();
    }
  }

  async #inTouch(store: Store): Promise<number | null> {
    const { resyncMs, electorWatchdogMs } = this.#sharing;
    if (this.#snapshotReader.seat.name === null && !(await this.#join(store))) {
      await this.#step(store, null);
      return this.#hasLeft(null) ? null : retryMs;
    }
    const ahead = await this.#actAhead(store);
    if (ahead !== 'look') return ahead === 'left' ? null : 0;
    const snapshot = await this.#beforeLeaseEnds(
      this.#snapshotReader.look(store, this.#leadershipRunner.slot),
    );
    if (snapshot === null) {
      await this.#step(store, null);
      return retryMs / 10;
    }
    if (snapshot.seat === null || snapshot.self?.value?.incarnation !== this.#registration.incarnation) {
      this.#snapshotReader.sits(null);
      await this.#step(store, snapshot);
      return 0;
    }
    if (await this.#step(store, snapshot)) return this.#leadershipRunner.hasHandedOver ? null : 0;
    const isElector = this.#snapshotReader.part === 'elector';
    if (!isElector && (await this.#publish(store, snapshot))) return 0;
    const recheckInMs = await this.#elect(store, snapshot, snapshot.seat.name);
    if (isElector && recheckInMs !== 0 && (await this.#publish(store, snapshot))) return 0;
    if (this.#hasLeft(snapshot)) return null;
    const auditing = snapshot.seat.second ? electorWatchdogMs : resyncMs;
    const scoring = snapshot.seat.below !== null ? resyncMs : this.#snapshotReader.scoresInMs;
    // An overdue drain needs no timer: the agent has already acted on it, and the result wakes the agent.
    const drainMs = this.#drainOverdue() ? resyncMs : this.#drainLeftMs(this.#options.clock.monotonicMs());
    this.#problems.end();
    return Math.min(recheckInMs ?? resyncMs, auditing, scoring, drainMs);
  }

  /**
   * Returns the current store. If its session has ended, returns a new store, unless ZooKeeper refuses every
   * request from this node.
   */
  async #openStore(): Promise<Store> {
    const { log, openStore, sessionMemory } = this.#options;
    if (this.#store !== null && this.#store.state !== 'LOST') return this.#store;
    if (this.#store !== null) {
      const refusal = forbidden(await whyLost(this.#store), this.#paths.root, 'use');
      if (refusal !== null) {
        this.#leaveBecauseOf(refusal);
        return this.#store;
      }
      log.warn('the session has ended: registering again');
      void this.#store.close({ timeoutMs: 0 });
    }
    const store = openStore();
    this.#store = store;
    this.#snapshotReader.begin();
    store.onChange((path) => this.#onChange(path));
    store.onState((state) => {
      if (state === 'CONNECTED') {
        remember(sessionMemory, store, log);
        this.#leadershipRunner.reconnected();
      }
      log.debug({ state }, `connection to ZooKeeper: ${state}`);
      this.#reportStatus();
      this.#wake();
    });
    return store;
  }

  /** Registers this node and takes a seat. Returns false if an earlier incarnation still owns the name. */
  async #join(store: Store): Promise<boolean> {
    const { log, node } = this.#options;
    if (this.#drainingSinceMs !== null && this.#leadershipRunner.leadership === null) return false;
    if ((await store.exists(this.#paths.elected)) === null) {
      const { known } = this.#snapshotReader;
      if (known.config !== null) this.#problems.reportMissingTree(this.#paths.root, known);
      await ensureTree(store, this.#paths, known);
    }
    const earlier = await register(store, this.#paths, this.#registration, this.#options.host);
    if (earlier !== null) return (await this.#earlier.isOver(store, earlier)) && (await this.#join(store));
    const name = await takeSeat(store, this.#paths, node);
    this.#snapshotReader.sits(name);
    log.info({ seat: name, site: this.#options.site }, `joined ${this.#paths.root}`);
    return true;
  }

  /** Waits for `observing`, a turn or a read of the group. Returns null if a release becomes due first. */
  async #beforeLeaseEnds<T>(observing: Promise<T>): Promise<T | null> {
    return await beforeInstant(this.#options.clock, this.#leadershipRunner.dueAtMs, observing);
  }

  async #step(store: Store, snapshot: GroupSnapshot | null): Promise<boolean> {
    return await this.#leadershipRunner.step(this.#roundOf(store, snapshot));
  }

  #roundOf(store: Store, snapshot: GroupSnapshot | null): LeadershipRound {
    return {
      store,
      snapshot,
      seat: snapshot?.seat?.name ?? null,
      healthy: this.#registration.health.ok,
      draining: this.#drainingSinceMs !== null,
      drainOverdue: this.#drainOverdue(),
    };
  }

  /**
   * Takes a step without first reading the group, if its write checks everything that the step depends on. If
   * something has changed, the write has no effect. After a failure, the next read shows what to do. Returns
   * `look` if the group must be read now, `left` if the agent has left, and `acted` if a departing agent can
   * take another step.
   */
  async #actAhead(store: Store): Promise<'look' | 'left' | 'acted'> {
    const expected = this.#snapshotReader.expected;
    if (expected === null) return 'look';
    try {
      const before = this.#leadershipRunner.leadership?.stage;
      const hasActed = await this.#leadershipRunner.stepAhead(this.#roundOf(store, expected));
      if (hasActed && this.#hasLeft(expected)) return 'left';
      const hasMoved = this.#leadershipRunner.leadership?.stage !== before;
      if (hasActed) return hasMoved && this.#drainingSinceMs !== null ? 'acted' : 'look';
      const isNews = this.#registration.draining && expected.self?.value?.draining === false;
      if (isNews && this.#snapshotReader.part !== 'elector') await this.#publish(store, expected);
    } catch (error) {
      if (error instanceof PetrelError || !isStoreError(error)) throw error;
      this.#options.log.debug(
        { error },
        `repeating a step that failed before the group was read: ${error.message}`,
      );
    }
    return 'look';
  }

  /** Updates an outdated registration in ZooKeeper. Returns true if the group must be read again. */
  async #publish(store: Store, snapshot: GroupSnapshot): Promise<boolean> {
    const unwritten = this.#unwritten(store, snapshot);
    if (unwritten === null) return false;
    const { data, version } = unwritten;
    await ifStillTrue(() => store.set(this.#paths.node(this.#options.node), data, version));
    return true;
  }

  /**
   * Returns this node's registration if it must be written, and the version last read from ZooKeeper. The
   * write checks that version, because another agent may have taken the name since then.
   *
   * As long as a leader can hand over with the prepared decision, its registration does not say that it is
   * leaving. Otherwise, the elector would decide again.
   */
  #unwritten(store: Store, snapshot: GroupSnapshot): Unwritten | null {
    const { self } = snapshot;
    const handsOver = this.#leadershipRunner.handsOver(this.#roundOf(store, snapshot));
    const registration = handsOver ? { ...this.#registration, draining: false } : this.#registration;
    const data = encode(registration);
    if (self === null || isDeepStrictEqual(self.value, JSON.parse(data.toString('utf8')))) return null;
    return { data, version: self.version, registration };
  }

  /** Takes a turn as the elector. The next elector checks instead whether the elector is silent. */
  async #elect(store: Store, snapshot: GroupSnapshot, seat: string): Promise<number | null> {
    if (snapshot.members !== null && snapshot.seat?.below === null) {
      const unwritten = this.#unwritten(store, snapshot);
      const members = withUnwritten(snapshot.members, unwritten);
      const turn = { store, snapshot, members, seat, unwritten };
      const { acted, decisions, recheckInMs, newSeat } = await this.#elector.turn(turn);
      if (newSeat !== null) this.#snapshotReader.sits(newSeat);
      if (decisions.length > 0) await this.#step(store, this.#snapshotReader.decided(decisions));
      return acted ? 0 : recheckInMs;
    }
    await this.#watchdog.look(store, snapshot);
    return null;
  }

  /** Whether this node hands over with the prepared decision, according to its last snapshot. */
  #handsOver(): boolean {
    if (this.#store === null || this.#store.state === 'LOST') return false;
    return this.#leadershipRunner.handsOver(this.#roundOf(this.#store, this.#snapshotReader.snapshot));
  }

  #drainOverdue(): boolean {
    return this.#hurried || this.#drainLeftMs(this.#options.clock.monotonicMs()) <= 0;
  }

  /** Returns the remaining time to wait for a successor, in ms. Infinity if this node is not leaving. */
  #drainLeftMs(nowMs: number): number {
    if (this.#drainingSinceMs === null) return Number.POSITIVE_INFINITY;
    const { timeouts } = this.#snapshotReader.config ?? defaultGroupConfig;
    return Math.max(0, this.#drainingSinceMs + durationMs(timeouts.claim) - nowMs);
  }

  /**
   * Whether the node is leaving, has no leadership, and has nothing more to wait for. If the ensemble is
   * unreachable, the claim ends with the session. Before a handover, a leader waits for the ensemble, because
   * the end of its session would count as a failure. It waits no longer than it would for a successor.
   */
  #hasLeft(snapshot: GroupSnapshot | null): boolean {
    if (this.#drainingSinceMs === null) return false;
    if (this.#leadershipRunner.hasHandedOver) return true;
    const stage = this.#leadershipRunner.leadership?.stage ?? null;
    if (stage !== null)
      return snapshot === null && stage === 'released' && (this.#drainOverdue() || !this.#handsOver());
    if (snapshot === null || this.#drainOverdue() || this.#snapshotReader.config?.paused != null) return true;
    return !isElected(snapshot, this.#options.node);
  }

  async #leave(): Promise<void> {
    const { workload, log, sessionMemory } = this.#options;
    this.#leadershipRunner.close();
    if (this.#leadershipRunner.hasHandedOver) await this.#pacing.giveWay();
    // A workload that may still be running must keep its claim, so the session is left to expire.
    const abandon = !(await workload.close());
    if (abandon) log.error('the workload is not proven dead: leaving the session to expire');
    const ended = (await this.#store?.close({ abandon })) ?? true;
    forget(sessionMemory, ended, log);
    this.#unlist();
    log.info({ ended }, leftText(ended, this.#store?.longestTimeoutMs ?? 0));
  }

  /** Updates the registration. Truncates long strings, so this copy equals the one that other nodes read. */
  #updateRegistration(change: Partial<Registration>): Registration {
    const { workload } = this.#options;
    const text = encode({ ...this.#registration, ...preparing(workload), ...change }).toString('utf8');
    this.#registration = registrationSchema.parse(JSON.parse(text));
    return this.#registration;
  }

  #reportStatus(): void {
    const { status } = this;
    const said = statusText(status);
    if (said === this.#lastReported) return;
    this.#lastReported = said;
    this.#listeners.notify(status);
  }

  /**
   * Wakes the loop. After a decision, only the nodes that the decision concerns must act at once. The others
   * wait, so that their reads do not delay the new leader.
   */
  #onChange(path: string): void {
    const { seat, snapshot } = this.#snapshotReader;
    const isElectedHere = snapshot !== null && isElected(snapshot, this.#options.node);
    const isConcerned = isElectedHere || this.#leadershipRunner.leadership !== null;
    if (seat.name !== null && path === this.#paths.seat(seat.name)) this.#pacing.wakeNow();
    else if (path === this.#paths.elected && !isConcerned) this.#pacing.wakeLater();
    else this.#pacing.wake();
  }

  #wake(): void {
    this.#pacing.wakeNow();
  }
}
