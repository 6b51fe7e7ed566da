/**
 * Runs a node's own leadership: carries out its steps, keeps the lease renewed, and answers whether this node
 * leads. `core/leadership.ts` decides what to do.
 *
 * A runner outlives sessions: it releases a leadership even after that leadership's session has ended.
 */

import {
  handsOverBy,
  isChecked,
  type Leadership,
  type LeadershipAction,
  type LeadershipInput,
  leadershipStep,
  type Stage,
} from '../../core/leadership.js';
import { present } from '../../errors.js';
import { type Lease, noLease } from '../../lease/lease.js';
import { defaultGroupConfig } from '../../model/group-config.js';
import { type LogContext, logContext } from '../../model/log-context.js';
import { named } from '../../model/named-slot.js';
import { type GroupPaths, pathsOfSlot } from '../../model/paths.js';
import { slotCount, slotStates, slotsOfNode, slotView } from '../../model/slots.js';
import type { Claim } from '../../model/snapshot.js';
import { type ClaimContent, type Elected, type FailureDetail, noCommand } from '../../model/znodes.js';
import type { Stat, Store } from '../../ports/store.js';
import type { HookContext, HookResult, HookRun, Phase, WorkloadEnd } from '../../ports/workload.js';
import { ifStillTrue } from '../conditional-write.js';
import { claimedUnder, type DecisionKnown, failedUnder } from '../elector/slot-decision.js';
import type { Renewing } from '../session/renewal.js';
import { ClaimGate } from './claim-gate.js';
import type { ClaimWithDecision } from './claim-writes.js';
import { claim, claimContent, claimMade, releasing, sayingReady } from './claim-writes.js';
import { EndedLeaderships } from './ended-leaderships.js';
import { detailOf } from './failure-detail.js';
import { isHandedOver } from './handover.js';
import { hookContext } from './hook-context.js';
import type { LeadershipOptions, LeadershipRound } from './options.js';
import { isPlannedEnd } from './planned-end.js';
import { Preparation } from './preparation.js';
import { RenewedLease } from './renewed-lease.js';

export class LeadershipRunner {
  readonly #options: LeadershipOptions;
  #leadership: Leadership | null = null;
  /** Slot of the leadership, or of the last step if there is no leadership. */
  #slot = 1;
  /** Number of slots in the group, as last read. */
  #slots = 1;
  /** Decision on which this leadership is based. The hooks receive it in their environment. */
  #elected: Elected | null = null;
  /** Reason for the end of the leadership, and the term of the decision that ends it. */
  #ending: Pick<LogContext, 'term' | 'reason'> | null = null;
  /** Store whose session owns the claim. */
  #store: Store | null = null;
  #spentToken = 0n;
  /** Decision under which this node has failed. In each slot, the versions of `elected` start at 0. */
  #failedUnder: DecisionKnown | null = null;
  readonly #preparation = new Preparation();
  #run: HookRun | null = null;
  #renewal: Renewing | null = null;
  #lease: RenewedLease | null = null;
  #cancelRetry: () => void = () => {};
  /** Whether this leadership can no longer end with the prepared decision. The elector must then decide. */
  #handOverRefused = false;
  #hasHandedOver = false;
  /** Release that the workload runs if the lease ends without renewal. */
  #guardedBy: HookContext | null = null;
  readonly #gate: ClaimGate;
  readonly #ended: EndedLeaderships;
  readonly #unsubscribe: () => void;

  constructor(options: LeadershipOptions) {
    this.#options = options;
    this.#gate = new ClaimGate(options);
    this.#ended = new EndedLeaderships(options.clock);
    this.#unsubscribe = options.workload.onEnd((end) => this.#onWorkloadEnd(end));
  }

  get leadership(): Leadership | null {
    return this.#leadership;
  }

  /** Slot of the leadership. Null if there is no leadership. */
  get slot(): number | null {
    return this.#leadership === null ? null : this.#slot;
  }

  /** Whether this node has handed over to the published successor because it is leaving. */
  get hasHandedOver(): boolean {
    return this.#hasHandedOver;
  }

  get #paths(): GroupPaths {
    return pathsOfSlot(this.#options.paths, this.#slot);
  }

  #versionIn(decision: DecisionKnown | null): number | null {
    return decision?.slot === this.#slot ? decision.version : null;
  }

  /**
   * Whether this node is READY, its workload is running as far as is known, and the lease is valid. Checks
   * the clock on every call.
   */
  get leads(): boolean {
    if (this.#leadership?.stage !== 'leading' || this.#leadership.failure !== null || this.#store === null)
      return false;
    return this.#store.state !== 'LOST' && this.#options.clock.monotonicMs() < this.lease.releaseAtMs;
  }

  get lease(): Lease {
    return this.#lease?.inForce ?? noLease;
  }

  /** Renews the lease before the renewal is due, because the ensemble can be reached again. */
  reconnected(): void {
    this.#renewal?.now();
  }

  /** Instant at which a release becomes due. The agent must act then, even if no event wakes it. */
  get dueAtMs(): number | null {
    const stage = this.#leadership?.stage;
    return stage === undefined || stage === 'releasing' || stage === 'released'
      ? null
      : this.lease.releaseAtMs;
  }

  /** Releases the leadership if its claim no longer exists. Called when a round cannot read the tree. */
  async checkClaim(store: Store): Promise<void> {
    if (this.dueAtMs === null) return;
    const stat = await store.exists(this.#paths.current);
    const isHeld = stat !== null && stat.czxid === this.#leadership?.token;
    if (!isHeld && this.dueAtMs !== null) this.#release(null, 'the claim leader/current is gone', null);
  }

  /** Takes one step. Returns true if the group should be read again afterwards. Throws StoreError. */
  async step(group: LeadershipRound): Promise<boolean> {
    const round = this.#inSlot(group);
    const action = this.#next(round);
    return action !== null && (await this.#perform(action, round));
  }

  /**
   * Takes the next step on the basis of the expected snapshot, if the write checks everything that the step
   * depends on. A release that ends with a handover may also begin, because the handover checks what the
   * release depends on. Returns true if the step was tried. Throws StoreError.
   */
  async stepAhead(group: LeadershipRound): Promise<boolean> {
    const round = this.#inSlot(group);
    const action = this.#next(round);
    if (action === null || this.#mayBeReleased(action)) return false;
    const handsOver = action.do === 'release' && handsOverBy(this.#input(round)) !== null;
    if (!isChecked(action) && !handsOver) return false;
    await this.#perform(action, round);
    return true;
  }

  /**
   * Whether the action would repeat an attempt to delete the claim. After that attempt, another node's claim
   * may exist with the same version.
   */
  #mayBeReleased({ do: verb }: LeadershipAction): boolean {
    return (
      verb === 'delete-claim' && (this.#leadership === null || this.#leadership.token <= this.#spentToken)
    );
  }

  /** Whether this node is leaving and hands over with the prepared decision. */
  handsOver(group: LeadershipRound): boolean {
    return handsOverBy(this.#input(this.#inSlot(group))) !== null;
  }

  #next(round: LeadershipRound): LeadershipAction | null {
    return leadershipStep(this.#input(round));
  }

  #input(round: LeadershipRound): LeadershipInput {
    const { store, snapshot } = round;
    const { workload, node, clock, config } = this.#options;
    return {
      self: node,
      session: store.sessionId,
      sessionOver: this.#store !== null && (this.#store !== store || store.state === 'LOST'),
      snapshot,
      config: config() ?? defaultGroupConfig,
      leadership: this.#leadership,
      spentToken: this.#spentToken,
      lease: this.lease,
      nowMs: clock.monotonicMs(),
      healthy: round.healthy,
      draining: round.draining,
      drainOverdue: round.drainOverdue,
      prepare: workload.has('prepare') ? { doneUnder: this.#versionIn(this.#preparation.doneUnder) } : null,
      handOverRefused: this.#handOverRefused,
      failedUnder: this.#versionIn(this.#failedUnder),
    };
  }

  /** Returns the round as seen from the slot that this node has or will have. */
  #inSlot(round: LeadershipRound): LeadershipRound {
    const { store, snapshot } = round;
    if (snapshot === null) return round;
    const [first = 1] = slotsOfNode(snapshot, this.#options.node, store.sessionId);
    if (this.#leadership === null) this.#slot = first;
    this.#slots = slotStates(snapshot).length;
    return { ...round, snapshot: slotView(snapshot, this.#slot) };
  }

  async #perform(action: LeadershipAction, round: LeadershipRound): Promise<boolean> {
    switch (action.do) {
      case 'prepare':
        this.#prepare(action.elected, action.electedVersion);
        return false;
      case 'claim':
        return await this.#claim(round, action.elected, action.electedVersion);
      case 'adopt':
        return await this.#adopt(round.store, action);
      case 'take-over':
        this.#takeOver(action.elected);
        return false;
      case 'write-ready':
        return await this.#writeReady(round, action);
      case 'release':
        this.#release(action.term, action.reason, action.newLeader, round);
        return this.#stage === 'released';
      case 'hand-over':
        return await this.#handOver(round, action);
      case 'delete-claim':
        return await this.#deleteClaim(round, action.claimVersion, action.failure);
      case 'forget-leadership':
        this.#options.log.info(this.#fields, `leadership ended: ${action.why}`);
        this.#end();
        return true;
    }
  }

  get #stage(): Stage | null {
    return this.#leadership?.stage ?? null;
  }

  /** Fields of every log line about this leadership. */
  get #fields(): Partial<LogContext> & { readonly fencingToken?: bigint } {
    if (this.#leadership === null) return {};
    const { term, token: fencingToken } = this.#leadership;
    const about = this.#ending ?? {
      term,
      reason: present(this.#elected, 'the decision of a leadership').reason,
    };
    return { ...logContext(about.term, about.reason, term, named(this.#slot, this.#slots)), fencingToken };
  }

  #enter(stage: Stage, change: Partial<Leadership> = {}): void {
    if (this.#leadership === null) return;
    if (this.#stage === 'leading' && stage !== 'leading') this.#noteEnd(this.#leadership);
    this.#leadership = { ...this.#leadership, ...change, stage };
    if (stage === 'released') this.#renewal?.stop();
    this.#options.onStage(stage, this.#fields);
  }

  #noteEnd({ term, token }: Leadership): void {
    const reason = this.#ending?.reason ?? 'the agent has ended';
    this.#ended.add({ slot: this.#slot, term, token, reason }, this.lease);
  }

  #context(phase: Phase, elected: Elected, reason: string, newLeader: string | null = null): HookContext {
    const { paths, node, site } = this.#options;
    const fencingToken = this.#leadership?.token ?? null;
    const ofSlot = { slot: this.#slot, slots: this.#slots };
    const about = { phase, root: paths.root, node, site, ...ofSlot, fencingToken, reason, newLeader };
    return hookContext(about, elected, this.#options.config() ?? defaultGroupConfig);
  }

  #prepare(elected: Elected, version: number): void {
    const under = { slot: this.#slot, version };
    const start = () => this.#options.workload.run(this.#context('prepare', elected, elected.reason));
    this.#preparation.begin(under, start, (result) => {
      if (result.result !== 'ok') this.#failWithoutClaim(elected, under, detailOf('prepare', result));
      this.#options.wake();
    });
  }

  /** Reports the failure to the elector in the registration only, because there is no claim to delete. */
  #failWithoutClaim({ term, reason }: Elected, under: DecisionKnown, detail: FailureDetail): void {
    this.#failedUnder = under;
    this.#options.log.warn(
      { ...named(under.slot, this.#slots), term, reason, detail },
      `not taking over: ${detail.phase} failed: ${detail.reason}`,
    );
    this.#options.updateRegistration({ lastFailure: { ...failedUnder(under), token: null, detail } });
  }

  async #claim(round: LeadershipRound, elected: Elected, electedVersion: number): Promise<boolean> {
    const { updateRegistration } = this.#options;
    const { seat, store } = round;
    if (seat === null || this.#gate.isClosed(store)) return false;
    const content = this.#newClaim(elected, electedVersion);
    const { claimedUnder: before, claimedSlot, lastFailure } = updateRegistration({});
    const registration = updateRegistration(claimedUnder(this.#slot, electedVersion));
    const claimant = { paths: this.#paths, seat, registration };
    const results = await claim(store, claimant, electedVersion, content, {
      assumedFrom: round.snapshot?.assumedFrom,
      // The registration must not mention a claim that was refused. Otherwise, the elector would assume that
      // this node has claimed, and would not fence the owner of the existing claim.
      onRefused: () => updateRegistration({ claimedUnder: before, claimedSlot, lastFailure }),
    });
    const written = results?.at(-1);
    if (written?.type === 'set') await this.#claimed(round, elected, content, written.stat);
    return true;
  }

  #newClaim({ term }: Elected, electedVersion: number): ClaimContent {
    const resumes = this.#ended.before({ slot: this.#slot, term });
    return claimContent(this.#options, { status: 'PROGRESS', term, electedVersion, resumes });
  }

  /** Takes over without first reading the new claim, because no node leads until the takeover is complete. */
  async #claimed(round: LeadershipRound, by: Elected, content: ClaimContent, stat: Stat): Promise<Claim> {
    const { store, snapshot } = round;
    const current = claimMade(content, stat, store.sessionId);
    this.#begin(store, current.token, by, content.electedVersion, true);
    if (snapshot !== null) await this.step({ ...round, snapshot: { ...snapshot, current } });
    return current;
  }

  /**
   * Returns the claim that this node would make at once if the decision in this snapshot were in force.
   * Returns null if this node would not claim or would have to wait, or if the group has several leaders.
   */
  claimWith(group: LeadershipRound): ClaimWithDecision | null {
    if (group.snapshot === null || slotCount(group.snapshot, slotStates(group.snapshot).length) > 1)
      return null;
    const round = this.#inSlot(group);
    const action = this.#next(round);
    if (action?.do !== 'claim' || this.#gate.isClosed(round.store)) return null;
    const { updateRegistration } = this.#options;
    const content = this.#newClaim(action.elected, action.electedVersion);
    const change = claimedUnder(this.#slot, action.electedVersion);
    return {
      content,
      registration: { ...updateRegistration({}), ...change },
      begin: async (stat) => {
        updateRegistration(change);
        return await this.#claimed(round, action.elected, content, stat);
      },
    };
  }

  /**
   * Adopts an existing claim of this session. The newest proof that the session is alive may be much older
   * than that claim. A committed write therefore comes first, as it does when a node creates its claim.
   */
  async #adopt(store: Store, action: Extract<LeadershipAction, { do: 'adopt' }>): Promise<boolean> {
    const { claim, elected, electedVersion } = action;
    const checksClaim = { type: 'check', path: this.#paths.current, version: claim.version } as const;
    if (this.#gate.isClosed(store)) return false;
    if ((await ifStillTrue(() => store.multi([checksClaim]))) === null) return true;
    if (claim.value?.electedVersion === electedVersion)
      this.#options.updateRegistration(claimedUnder(this.#slot, electedVersion));
    this.#begin(store, claim.token, elected, electedVersion, false);
    return true;
  }

  #begin(store: Store, token: bigint, elected: Elected, claimedUnder: number, isNew: boolean): void {
    const { tokens, log } = this.#options;
    const failure = tokens.failure(this.#options.config(), { slot: this.#slot, token }, isNew);
    this.#leadership = { token, term: elected.term, stage: 'claimed', failure, claimedUnder };
    this.#elected = elected;
    this.#store = store;
    this.#lease = new RenewedLease(store, this.#options.clock);
    this.#ended.claimed(token);
    log.info(this.#fields, `PROGRESS: claimed, ${failure === null ? '' : 'not '}taking over`);
    this.#options.onStage('claimed', this.#fields);
    this.#renewFrom(store);
  }

  #renewFrom(store: Store): void {
    const { clock, log, wake, seat, renewals } = this.#options;
    const paths = this.#paths;
    const seats = () => [seat()].filter((held) => held !== null);
    this.#renewal = renewals.begin({
      store,
      clock,
      log,
      paths: () => [paths.current, ...seats().map((held) => paths.seat(held))],
      onTried: () => this.#guard(),
      onGone: wake,
    });
  }

  /** Hands the current lease to the workload, which runs a release on its own if the lease is not renewed. */
  #guard(): void {
    const stage = this.#stage;
    if (stage === null || stage === 'released' || this.#elected === null) return;
    const lease = this.#lease?.news(stage !== 'claimed') ?? null;
    if (lease === null) return;
    if (this.#guardedBy === null || this.#guardedBy.term !== this.#elected.term) {
      this.#guardedBy = this.#context('release', this.#elected, 'the lease was not renewed');
    }
    this.#options.workload.holdLease(lease, this.#guardedBy);
  }

  #takeOver(elected: Elected): void {
    const { workload, log } = this.#options;
    this.#guard();
    this.#enter('taking-over');
    const run = workload.run(this.#context('takeover', elected, elected.reason));
    this.#run = run;
    void run.outcome.then((outcome) => {
      if (this.#run !== run || this.#stage !== 'taking-over') return;
      this.#run = null;
      if (outcome.result === 'ok') {
        this.#enter('taken-over');
        this.#options.updateRegistration({
          lastTakeover: { token: String(this.#leadership?.token), durationMs: outcome.durationMs },
        });
      } else {
        const failure = detailOf('takeover', outcome);
        log.error({ ...this.#fields, failure }, `takeover failed: ${failure.reason}`);
        this.#enter('taking-over', { failure });
      }
      this.#options.wake();
    });
  }

  async #writeReady(
    { store, seat, snapshot }: LeadershipRound,
    { elected, ...versions }: Extract<LeadershipAction, { do: 'write-ready' }>,
  ): Promise<boolean> {
    const { log, updateRegistration } = this.#options;
    if (seat === null) return false;
    const stage = this.#stage;
    const resumes = snapshot?.current?.value?.resumes ?? null;
    const { term } = elected;
    const { electedVersion } = versions;
    const content = claimContent(this.#options, { status: 'READY', term, electedVersion, resumes });
    const claimant = { paths: this.#paths, seat, registration: updateRegistration({}) };
    const written = await ifStillTrue(() => store.multi(sayingReady(claimant, versions, content)));
    // The lease, and with it the workload, may have ended before the answer to the write arrived.
    if (written === null || this.#stage !== stage) return true;
    this.#elected = elected;
    this.#enter('leading', { term: elected.term });
    log.info(this.#fields, 'READY: this node leads');
    return true;
  }

  /** `term` is the term of the decision that requires the release. Null if no decision requires it. */
  #release(term: number | null, reason: string, newLeader: string | null, round?: LeadershipRound): void {
    const elected = this.#elected;
    const leadership = present(this.#leadership, 'the leadership that is released');
    this.#ending = { term: term ?? leadership.term, reason };
    const level = isPlannedEnd(leadership, this.#ending.term, round) ? 'info' : 'warn';
    this.#options.log[level](this.#fields, `releasing: ${reason}`);
    if (this.#stage === 'claimed' || elected === null) {
      this.#enter('released');
      return;
    }
    const context = this.#context('release', elected, reason, newLeader);
    this.#runRelease({ ...context, endedByTerm: this.#ending.term });
    this.#enter('releasing');
  }

  #runRelease(context: HookContext): void {
    const run = this.#options.workload.run(context);
    this.#run = run;
    void run.outcome.then((outcome) => {
      if (this.#run === run) this.#released(outcome, context);
    });
  }

  #released(outcome: HookResult, context: HookContext): void {
    const { log, wake, clock } = this.#options;
    if (this.#stage !== 'releasing') return;
    const fields = { ...this.#fields, outcome: detailOf('release', outcome) };
    this.#options.updateRegistration({
      lastRelease: {
        token: String(this.#leadership?.token),
        term: this.#ending?.term ?? null,
        result: outcome.result,
        durationMs: outcome.durationMs,
        error: outcome.error,
      },
    });
    if (!outcome.provenDead) {
      log.error(
        fields,
        'release: the workload is not proven dead; keeping the claim and retrying the release',
      );
      this.#handOverRefused = true;
      wake();
      this.#cancelRetry();
      this.#cancelRetry = clock.timer(context.graceMs, () => this.#runRelease(context));
      return;
    }
    if (outcome.result === 'ok') log.info(fields, 'released');
    else
      log.warn(fields, `release ${outcome.result}: ${outcome.error ?? ''}; killed everything that remained`);
    this.#run = null;
    this.#enter('released');
    wake();
  }

  #onWorkloadEnd(end: WorkloadEnd): void {
    const { log } = this.#options;
    if (this.#leadership === null || this.#elected === null) return;
    switch (end.cause) {
      case 'lease-ended':
        if (this.#stage === 'released') return;
        this.#ending ??= { term: this.#leadership.term, reason: 'the lease was not renewed in time' };
        log.error(this.#fields, 'lease expired: ran the release hook and stopped the workload');
        this.#enter('releasing');
        this.#released(end.release, this.#context('release', this.#elected, 'the lease expired'));
        return;
      case 'workload-ended':
      case 'guard-lost': {
        const byItself = 'the workload ended on its own';
        const reason = end.cause === 'guard-lost' ? end.reason : (end.workload.error ?? byItself);
        log.error(this.#fields, `leadership must end: ${reason}`);
        const failure = this.#leadership.failure ?? { ...noCommand, phase: 'workload', reason };
        this.#leadership = { ...this.#leadership, failure };
        // The release must not wait for a round: a round may be waiting for an answer that never arrives.
        if (this.dueAtMs !== null) this.#release(null, reason, null);
        this.#options.wake();
      }
    }
  }

  /** Ends the leadership with the prepared decision. If the handover is refused, the elector decides. */
  async #handOver(
    { store, seat, snapshot }: LeadershipRound,
    handover: Extract<LeadershipAction, { do: 'hand-over' }>,
  ): Promise<boolean> {
    const { log, updateRegistration } = this.#options;
    const token = snapshot?.current?.token ?? null;
    if (seat === null || token === null) return false;
    if (token > this.#spentToken) this.#spentToken = token;
    const claimant = { paths: this.#paths, seat, registration: updateRegistration({}) };
    this.#handOverRefused = !(await isHandedOver(store, claimant, handover));
    const { node, term } = handover.prepared.decision;
    const what = this.#handOverRefused
      ? 'the prepared decision no longer holds: the elector decides'
      : `leadership handed over to ${node}, term ${term}`;
    log.info(this.#fields, what);
    this.#hasHandedOver = !this.#handOverRefused;
    if (this.#hasHandedOver) this.#end();
    return true;
  }

  async #deleteClaim(
    round: LeadershipRound,
    claimVersion: number,
    failure: FailureDetail | null,
  ): Promise<boolean> {
    const { node, log, updateRegistration } = this.#options;
    const { store, seat, snapshot } = round;
    if (seat === null) return false;
    const { token } = present(snapshot?.current, 'the claim that is deleted');
    if (token > this.#spentToken) this.#spentToken = token;
    const elected = snapshot?.elected;
    // A later decision may have elected this node while it was still releasing the old leadership. The
    // failure does not concern that decision.
    const isOfThis = elected?.value?.node === node && elected.value.term === this.#leadership?.term;
    const version = isOfThis ? elected.version : this.#leadership?.claimedUnder;
    let change = {};
    if (version !== undefined && failure !== null) {
      this.#failedUnder = { slot: this.#slot, version };
      change = { lastFailure: { ...failedUnder(this.#failedUnder), token: String(token), detail: failure } };
    }
    const claimant = { paths: this.#paths, seat, registration: updateRegistration(change) };
    const written = await ifStillTrue(() => store.multi(releasing(claimant, claimVersion)));
    if (written === null) return true;
    log.info(this.#fields, 'leadership released');
    this.#end();
    return true;
  }

  #end(): void {
    this.#renewal?.stop();
    this.#renewal = null;
    this.#lease = null;
    this.#run = null;
    const token = this.#leadership?.token ?? null;
    if (token !== null && token > this.#spentToken) this.#spentToken = token;
    this.#leadership = null;
    this.#elected = null;
    this.#ending = null;
    this.#guardedBy = null;
    this.#handOverRefused = false;
    this.#store = null;
    this.#options.workload.endLeadership();
    this.#options.onStage(null, {});
  }

  /** Stops leading, and removes timers and listeners. The caller must close the workload. */
  close(): void {
    if (this.dueAtMs !== null) this.#enter('releasing');
    this.#run = null;
    this.#cancelRetry();
    this.#renewal?.stop();
    this.#gate.close();
    this.#unsubscribe();
  }
}
