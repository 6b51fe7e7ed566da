/**
 * Carries out what `core/round.ts` decides. Every write checks the elector's own seat. An elector that has
 * lost its seat therefore cannot write.
 */

import type { Rules } from '../../../strategies/registry.js';
import { type ClockReading, ensembleNowMs } from '../../core/ensemble-clock.js';
import { recordText } from '../../core/records.js';
import type { ElectorAction } from '../../core/round.js';
import { defaultGroupConfig, type GroupConfig } from '../../model/group-config.js';
import { decided } from '../../model/log-context.js';
import { toInstant } from '../../model/names.js';
import { pathsOfSlot } from '../../model/paths.js';
import { type NamedRules, type PreparedRules, prepareRules } from '../../model/read-config.js';
import type { Registration } from '../../model/registration.js';
import { isLaterSeat } from '../../model/sequence.js';
import { slotStates, slotView } from '../../model/slots.js';
import type { GroupSnapshot } from '../../model/snapshot.js';
import type { TransitionRecord } from '../../model/znodes.js';
import { RuleAsker } from '../../own-strategies/asker.js';
import type { Operation, Store } from '../../ports/store.js';
import {
  type Commit,
  type Decision,
  type GroupAction,
  type GroupMemory,
  type GroupRound,
  groupRound,
  isGroupDue,
} from '../../slots/group-round.js';
import { ensureSlots } from '../../tree/ensure-tree.js';
import { isHeldByOthers } from '../../tree/foreign.js';
import { prune, withRoom } from '../../tree/history-room.js';
import { ifStillTrue } from '../conditional-write.js';
import type { AgentEvent } from '../events.js';
import type { ClaimWithDecision } from '../leadership/claim-writes.js';
import { encode } from '../membership.js';
import { MalformedReport } from '../snapshot/malformed.js';
import { canNotify, precedesLeader, unpublished, writeCommit } from './commit.js';
import { type ConfigAction, configure, logChange } from './configure.js';
import { DecisionLog } from './decision-log.js';
import { type FenceNews, Fencer, type FencerOptions } from './fencer.js';
import { RecordPause } from './record-pause.js';
import {
  abandonedText,
  type DecisionMade,
  type ElectorTurn,
  haveAllGivenUp,
  lastResort,
  type TurnResult,
  withDecisions,
} from './turn.js';

export interface ElectorOptions extends FencerOptions {
  readonly rules: Rules;
  notify(event: AgentEvent): void;
  /** Monotonic instant at which the current rounds were first requested. */
  dueSinceMs(): number;
  updateRegistration(change: Partial<Registration>): Registration;
  /** Last readable configuration. Null if no readable configuration has been found so far. */
  config(): GroupConfig | null;
  /**
   * Returns the claim that this node would make at once, if it read this snapshot. Returns null if it would
   * make none.
   */
  claimWith(store: Store, decided: GroupSnapshot): ClaimWithDecision | null;
}

/**
 * Longest time for which a decision waits for a node's seat. A node takes a seat as soon as it has
 * registered. A node that still has no seat after this time is elected nevertheless. If it cannot claim, the
 * transition watchdog replaces it.
 */
const putOffMs = 1_000;

/** Time for which no successor is published after a quota or an ACL refused one. */
const unpublishedMs = 60_000;

export class Elector {
  readonly #options: ElectorOptions;
  readonly #malformed: MalformedReport;
  readonly #decisions: DecisionLog;
  readonly #recordPause: RecordPause;
  /** Monotonic instant until which no successor is published. */
  #unpublishedUntilMs = Number.NEGATIVE_INFINITY;
  readonly #asker: RuleAsker;
  #memory: GroupMemory = new Map();
  #clock: ClockReading | null = null;
  readonly #fencer: Fencer;
  /**
   * Version of the configuration under which this node failed to give up its seat: the new seat was not later
   * than the old one. This happens if the sequence counter has reached its end. No other node can then become
   * the elector.
   */
  #stuckUnder: number | null = null;
  #lastProblem = '';
  /**
   * Monotonic instant at which the current postponement of decisions began. Null if no decision is postponed.
   */
  #putOffSinceMs: number | null = null;

  constructor(options: ElectorOptions) {
    this.#options = options;
    this.#malformed = new MalformedReport(options.paths, options.log);
    this.#decisions = new DecisionLog(options.log, options.rules);
    this.#recordPause = new RecordPause(options.clock);
    this.#asker = new RuleAsker(options.rules);
    this.#fencer = new Fencer(options, {
      config: () => options.config() ?? defaultGroupConfig,
      known: (slot) => this.#memory.get(slot),
      remember: (slot, news) => this.#remember(slot, news),
      forgetClock: () => {
        this.#clock = null;
      },
    });
  }

  /** Takes one turn as the elector. Throws StoreError. */
  async turn(turn: ElectorTurn): Promise<TurnResult> {
    this.#malformed.look(turn.snapshot, turn.members);
    const round = await this.#decide(turn);
    this.#decisions.look(round, turn.snapshot, this.#options.config() ?? defaultGroupConfig);
    let newSeat: string | null = null;
    const decisions: DecisionMade[] = [];
    const due = round.actions
      .flatMap((each) => this.#recordPause.leaves(each))
      .flatMap((each) => this.#withoutRefused(each));
    const actions = due.filter(({ action }) => action.do !== 'commit' || this.#mayMake(turn, action));
    for (const { slot, action } of actions) {
      if (action.do === 'give-up-seat') newSeat ??= await this.#giveUpSeat(turn, action);
      else if (action.do === 'commit') decisions.push(...(await this.#commit(turn, action)));
      else await this.#perform(turn, slot, action);
    }
    const acted = actions.some(({ action: { do: verb } }) => verb !== 'alarm' && verb !== 'fence');
    const isPutOff = actions.length < due.length;
    const recheckInMs = isPutOff ? Math.min(round.recheckInMs ?? putOffMs, putOffMs) : round.recheckInMs;
    return { acted, decisions, recheckInMs, newSeat };
  }

  /**
   * Whether this node, if it were the elector, would now write a decision that is clearly due. The next
   * elector uses this to check the elector. Always false if the configuration is unreadable, because the last
   * configuration that the elector could read may differ from this node's.
   */
  async wouldWrite(turn: ElectorTurn): Promise<boolean> {
    const { value } = turn.snapshot.config;
    if (value === null || !(await this.#isDue(turn, value))) return false;
    // The two nodes may run different versions of a user's own constraint. The nodes could then disagree
    // forever, so the decision must also be due without constraints.
    return value.constraints.length === 0 || (await this.#isDue(turn, { ...value, constraints: [] }));
  }

  async #isDue(turn: ElectorTurn, by: NamedRules): Promise<boolean> {
    let round = await this.#decide(turn, by);
    if (round.actions.some(({ action }) => action.do === 'read-clock')) {
      await this.#readClock(turn.store);
      round = await this.#decide(turn, by);
    }
    return isGroupDue(round, turn.snapshot);
  }

  /**
   * If a successor was refused a short time ago, removes the successor from the action. Returns no action if
   * nothing else remains.
   */
  #withoutRefused(each: GroupAction): GroupAction[] {
    const { slot, action } = each;
    const isPaused = this.#options.clock.monotonicMs() < this.#unpublishedUntilMs;
    if (action.do !== 'commit' || action.successor === undefined || !isPaused) return [each];
    return action.records.length === 0 ? [] : [{ slot, action: unpublished(action) }];
  }

  #mayMake(turn: ElectorTurn, commit: Commit): boolean {
    const nowMs = this.#options.clock.monotonicMs();
    const isTimely = canNotify(turn, commit) && !precedesLeader(turn, commit);
    const since = isTimely ? null : (this.#putOffSinceMs ?? nowMs);
    this.#putOffSinceMs = since;
    return since === null || nowMs - since >= putOffMs;
  }

  /**
   * Determines what is due at the current instant. Other work continues while a user's own rule is evaluated.
   */
  async #decide(turn: ElectorTurn, by?: NamedRules): Promise<GroupRound> {
    const config = this.#usableConfig(turn.snapshot);
    const named = this.#isAbandoned(config, turn) ? lastResort : (by ?? config);
    const timed = { ...turn, config, nowMs: this.#options.clock.monotonicMs() };
    return await this.#asker.answered((rules) => this.#round(timed, prepareRules(named, rules)));
  }

  /**
   * Completes the round. Reads and updates the memory only here, because the memory may have changed while a
   * strategy was evaluated.
   */
  #round(turn: ElectorTurn & { config: GroupConfig; nowMs: number }, prepared: PreparedRules): GroupRound {
    const { node, workload } = this.#options;
    const { store, snapshot, members, config, nowMs } = turn;
    if (prepared.problems !== null) {
      const reason = prepared.problems.join('; ');
      const give = { do: 'give-up-seat', reason, configVersion: snapshot.config.version } as const;
      const actions = [{ slot: 1, action: give }];
      return { actions, memory: this.#memory, recheckInMs: null, rounds: new Map() };
    }
    const round = groupRound({
      self: node,
      ...{ snapshot, members, config, nowMs },
      strategy: prepared.strategy,
      constraints: prepared.constraints,
      memory: this.#memory,
      clock: this.#clock,
      canFence: workload.has('fence'),
      // A fault that cuts a leader off begins at most one session timeout before that leader stops leading.
      observedSinceMs: store.inTouchSinceMs() + store.negotiatedTimeoutMs,
    });
    this.#memory = round.memory;
    return round;
  }

  #usableConfig({ config }: GroupSnapshot): GroupConfig {
    if (config.value !== null) {
      this.#lastProblem = '';
      return config.value;
    }
    const last = this.#options.config();
    if (this.#lastProblem !== config.problem) {
      this.#lastProblem = config.problem;
      const instead = last === null ? 'the default configuration' : 'the last readable configuration';
      const message = `the group's configuration cannot be used; deciding with ${instead}: ${config.problem}`;
      this.#options.log.error({ path: this.#options.paths.config }, message);
    }
    return last ?? defaultGroupConfig;
  }

  /** Whether no node is left that could run elections under the configured rules. */
  #isAbandoned(config: GroupConfig, turn: ElectorTurn): boolean {
    if (!haveAllGivenUp(turn) && this.#stuckUnder !== turn.snapshot.config.version) return false;
    this.#options.log.error({ strategy: config.strategy }, abandonedText(config));
    return true;
  }

  async #perform(
    group: ElectorTurn,
    slot: number,
    action: Exclude<GroupAction['action'], { do: 'give-up-seat' | 'commit' }>,
  ): Promise<void> {
    const turn = { ...group, snapshot: slotView(group.snapshot, slot) };
    switch (action.do) {
      case 'read-clock':
        return await this.#readClock(turn.store);
      case 'change-sites':
      case 'drop-request':
      case 'pause':
        return await this.#configure(turn, action);
      case 'alarm':
        this.#options.log.error({ ...decided(turn.snapshot), holder: action.node }, action.message);
        return;
      case 'fence':
        this.#fencer.fence(turn, action.fence);
        return;
      case 'remove-fenced-claim':
        return await this.#fencer.removeClaim(turn, action.fence);
    }
  }

  async #readClock(store: Store): Promise<void> {
    const stat = await store.set(this.#options.paths.clock, Buffer.alloc(0), 'any');
    this.#clock = { epochMs: stat.mtimeMs, atMs: this.#options.clock.monotonicMs() };
  }

  /**
   * Writes all decisions and records in one multi. The multi checks or writes everything that a decision
   * depends on. It also makes this node's claim, if this node is elected and would claim at once. Returns the
   * decisions that were written.
   */
  async #commit(turn: ElectorTurn, commit: Commit): Promise<readonly DecisionMade[]> {
    const { decisions, records } = commit;
    await this.#openSlots(turn, decisions);
    const { paths, log } = this.#options;
    const claim = this.#claimWith(turn, decisions);
    const committed = await writeCommit(turn, paths, commit, log, claim);
    if (committed === null) return [];
    if (committed.isUnrecorded) this.#recordPause.begin();
    if (committed.isUnpublished === true)
      this.#unpublishedUntilMs = this.#options.clock.monotonicMs() + unpublishedMs;
    const tookMs = this.#options.clock.monotonicMs() - this.#options.dueSinceMs();
    const slots = Math.max(slotStates(turn.snapshot).length, ...decisions.map(({ slot }) => slot));
    for (const { slot, elected } of decisions) {
      const isNew = elected.term !== slotView(turn.snapshot, slot).elected.value?.term;
      if (isNew) this.#options.notify({ kind: 'elected', slot, slots, elected, tookMs });
    }
    for (const record of committed.isUnrecorded ? [] : records) {
      // If there is a decision, its log line also covers the transition that the decision ended.
      if (decisions.length === 0) this.#logRecord(record);
      this.#options.notify({ kind: 'recorded', record });
    }
    const { claimed } = committed;
    const made = claimed === undefined ? undefined : await claim?.begin(claimed);
    if (committed.recorded !== null) {
      const keep = (turn.snapshot.config.value ?? this.#options.config() ?? defaultGroupConfig).historySize;
      await prune(turn.store, paths, { recorded: committed.recorded, keep }, log);
    }
    return decisions.map((decision) => ({ ...decision, claim: made }));
  }

  /** Returns this node's claim, if the decisions elect this node and it would claim at once. */
  #claimWith({ store, snapshot }: ElectorTurn, decisions: readonly Decision[]): ClaimWithDecision | null {
    const { node, claimWith } = this.#options;
    const isElected = decisions.some(({ elected }) => elected.node === node);
    return isElected ? claimWith(store, withDecisions(snapshot, decisions)) : null;
  }

  /** If the number of slots grows, creates the znodes of the new slots before any node looks for them. */
  async #openSlots({ store, snapshot }: ElectorTurn, decisions: readonly Decision[]): Promise<void> {
    const slots = decisions.find(({ slot }) => slot === 1)?.elected.slots ?? 1;
    if (slots <= slotStates(snapshot).length) return;
    const { paths } = this.#options;
    await withRoom(store, paths, () => ensureSlots(store, paths, slots));
  }

  #logRecord(record: TransitionRecord): void {
    const { slot, term, reason } = record;
    this.#options.log.info({ slot, term, reason, record }, `recorded: ${recordText(record)}`);
  }

  async #configure(turn: ElectorTurn, action: ConfigAction): Promise<void> {
    const { paths, clock, log } = this.#options;
    const at = toInstant(this.#clock === null ? 0 : ensembleNowMs(this.#clock, clock.monotonicMs()));
    const configured = await configure(turn, paths, action, at);
    if (configured === null) return;
    logChange(log, action, configured);
    if (action.do === 'drop-request') this.#options.notify({ kind: 'request-missed' });
  }

  #remember(slot: number, news: FenceNews): void {
    const known = this.#memory.get(slot);
    if (known !== undefined) this.#memory = new Map([...this.#memory, [slot, { ...known, ...news }]]);
  }

  async #giveUpSeat(
    { store, seat }: ElectorTurn,
    { reason, configVersion }: Extract<ElectorAction, { do: 'give-up-seat' }>,
  ): Promise<string | null> {
    const { paths, node, log } = this.#options;
    if (configVersion === null) log.warn({ reason }, `handing over the elector role for now: ${reason}`);
    else log.error({ reason }, `cannot run elections on this node, handing over the elector role: ${reason}`);
    const gaveUp = configVersion === null ? {} : { gaveUp: { configVersion, reason } };
    const registration = this.#options.updateRegistration(gaveUp);
    const operations: Operation[] = [
      { type: 'set', path: paths.node(node), data: encode(registration), version: 'any' },
      { type: 'delete', path: paths.seat(seat), version: 'any' },
      { type: 'create', path: paths.seatPrefix(node), data: Buffer.from(node), mode: 'ephemeral-sequential' },
    ];
    const results = await ifStillTrue(() => withRoom(store, paths, () => store.multi(operations)));
    const created = results?.[2];
    if (created?.type !== 'create') return null;
    const newSeat = created.path.slice(paths.election.length + 1);
    if (configVersion !== null && !isLaterSeat(newSeat, seat)) this.#stuckUnder = configVersion;
    return newSeat;
  }

  /**
   * Deletes the seat of an elector that remains silent while a decision is due. The elector's own writes
   * check that seat, so they fail from then on.
   */
  async unseat(turn: ElectorTurn, silent: string): Promise<void> {
    const { store, snapshot, seat } = turn;
    const { paths, log } = this.#options;
    const isTheirs = await ifStillTrue(() => isHeldByOthers(store, paths, silent));
    if (isTheirs === null) return;
    if (isTheirs) {
      const right = 'delete the znode, or choose another root path for this group';
      log.error(`${paths.seat(silent)} does not belong to Petrel and blocks elections: ${right}`);
      return;
    }
    const done = await ifStillTrue(() =>
      store.multi([
        { type: 'check', path: paths.seat(seat), version: 'any' },
        ...slotStates(snapshot).map(({ slot, elected }): Operation => {
          return { type: 'check', path: pathsOfSlot(paths, slot).elected, version: elected.version };
        }),
        { type: 'delete', path: paths.seat(silent), version: 'any' },
      ]),
    );
    if (done === null) return;
    // The decision may have been due in any slot, so the log line names no slot.
    const { slot: _, ...unchanged } = decided(snapshot);
    log.warn(
      { ...unchanged, seat: silent },
      `removed the elector ${silent}, because it did not make a decision that was due`,
    );
  }
}
