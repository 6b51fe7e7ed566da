/**
 * A group with one elector, on one clock. Its nodes act only when the test makes them act. The elector's
 * actions change the state as ZooKeeper would.
 */

import type { z } from 'zod';
import { type Elsewhere, nowhereElse } from '../../src/core/elsewhere.js';
import type { ClockReading } from '../../src/core/ensemble-clock.js';
import { type ElectorAction, type ElectorRound, electorRound, newElector } from '../../src/core/round.js';
import { type GroupConfig, type groupConfigSchema, withSites } from '../../src/model/group-config.js';
import type { Registration } from '../../src/model/registration.js';
import type { Score } from '../../src/model/scores.js';
import type { Claim, GroupSnapshot, Member, Versioned } from '../../src/model/snapshot.js';
import type { Elected, HistoryHead, TransitionRecord } from '../../src/model/znodes.js';
import { initialHistoryHead } from '../../src/model/znodes.js';
import { constraints } from '../../strategies/constraints/index.js';
import type { ReadyStrategy } from '../../strategies/index.js';
import {
  type ClaimChange,
  claim,
  config,
  decided,
  epoch0Ms,
  instant,
  member,
  strategyOf,
  versioned,
} from './builders.js';

export class Bench {
  nowMs = 0;
  config: Versioned<GroupConfig> = versioned(config());
  /** The last readable configuration of the group. */
  lastConfig: GroupConfig = config();
  elected: Versioned<Elected> = versioned(decided(), 0);
  current: Claim | null = null;
  history: Versioned<HistoryHead> | null = versioned(initialHistoryHead, 0);
  /** The published successor. Undefined if this elector publishes none. */
  successor: GroupSnapshot['successor'];
  /** The group's circuit breaker. Undefined if there is none. */
  circuitBreaker: GroupSnapshot['circuitBreaker'];
  /** State of the group's other leaderships. */
  elsewhere: Elsewhere = nowhereElse;
  members: Member[] = [];
  memory = newElector;
  clock: ClockReading | null = null;
  canFence = false;
  observedSinceMs = Number.NEGATIVE_INFINITY;
  /** Name of the elector's node. */
  self = 'elector';
  /** The elector's own seat. */
  seat = 'a1-0000000000';
  strategy: ReadyStrategy | null = null;
  readonly records: TransitionRecord[] = [];
  /** Every decision that was written, oldest first. */
  readonly decisions: Elected[] = [];
  readonly alarms: string[] = [];
  #token = 100n;

  constructor(nodes: readonly string[] = [], settings: z.input<typeof groupConfigSchema> = {}) {
    this.configure(settings);
    this.members = nodes.map((node, seat) => member(node, {}, { seat }));
  }

  get epochMs(): number {
    return epoch0Ms + this.nowMs;
  }

  get snapshot(): GroupSnapshot {
    const { config: settings, elected, current, members, history, successor, circuitBreaker } = this;
    const seat = { name: this.seat, version: 0, below: null, second: false };
    const own = { self: null, seat };
    return { config: settings, elected, current, ...own, members, history, successor, circuitBreaker };
  }

  get node(): string | null {
    return this.elected.value?.node ?? null;
  }

  get term(): number {
    return this.elected.value?.term ?? -1;
  }

  get reason(): string {
    return this.elected.value?.reason ?? '';
  }

  configure(settings: z.input<typeof groupConfigSchema>): void {
    this.lastConfig = config(settings);
    this.config = versioned(this.lastConfig, this.config.version + 1);
  }

  /** Runs one round without performing its actions. */
  round(): ElectorRound {
    const round = electorRound({
      self: this.self,
      snapshot: this.snapshot,
      members: this.members,
      config: this.lastConfig,
      strategy: this.strategy ?? strategyOf(this.lastConfig),
      constraints,
      memory: this.memory,
      clock: this.clock,
      nowMs: this.nowMs,
      canFence: this.canFence,
      observedSinceMs: this.observedSinceMs,
      elsewhere: () => this.elsewhere,
    });
    this.memory = round.memory;
    return round;
  }

  /** Runs rounds until there is nothing left to do. Returns the actions that were performed. */
  settle(): ElectorAction[] {
    const done: ElectorAction[] = [];
    for (;;) {
      const { actions } = this.round();
      for (const action of actions) this.perform(action);
      done.push(...actions);
      // An elector that has handed over its role makes no further decisions. Alarms and fences do not change
      // the state, so the same ones would return in every round.
      if (actions.every(({ do: verb }) => ['alarm', 'fence', 'give-up-seat'].includes(verb))) return done;
      if (done.length > 20) throw new Error(`it does not settle: ${actions[0]?.do} ${this.reason}`);
    }
  }

  /**
   * Lets time pass. The elector checks again whenever one of its timers ends. Returns the actions that were
   * performed.
   */
  advance(ms: number): ElectorAction[] {
    const untilMs = this.nowMs + ms;
    const done = this.settle();
    for (;;) {
      const { recheckInMs } = this.round();
      const isOver = recheckInMs === null || this.nowMs + recheckInMs > untilMs;
      if (isOver || done.some(({ do: verb }) => verb === 'give-up-seat')) break;
      this.nowMs += recheckInMs;
      done.push(...this.settle());
    }
    this.nowMs = untilMs;
    return done;
  }

  perform(action: ElectorAction): void {
    switch (action.do) {
      case 'read-clock':
        this.clock = { epochMs: this.epochMs, atMs: this.nowMs };
        return;
      case 'write-elected':
        if (action.electedVersion !== this.elected.version) throw new Error('BAD_VERSION elected');
        if (action.configVersion !== this.config.version) throw new Error('BAD_VERSION config');
        this.elected = versioned(action.elected, this.elected.version + 1, this.epochMs);
        this.decisions.push(action.elected);
        if (action.record !== null) this.#record(action.record, action.headVersion);
        if (action.circuitBreaker !== null) this.circuitBreaker = action.circuitBreaker;
        return;
      case 'pause':
        this.#pause(action.reason);
        return;
      case 'record':
        this.#record(action.record, action.headVersion);
        return;
      case 'publish-successor':
        if (action.version !== (this.successor?.version ?? null)) throw new Error('BAD_VERSION successor');
        this.successor = versioned(action.successor, (action.version ?? -1) + 1, this.epochMs);
        return;
      case 'change-sites':
        this.configure(withSites(this.lastConfig, action.changes));
        return;
      case 'drop-request':
        this.configure({ ...this.lastConfig, switchover: null });
        return;
      case 'alarm':
        this.alarms.push(action.message);
        return;
      case 'remove-fenced-claim':
        this.current = null;
        return;
      case 'fence':
      case 'give-up-seat':
        return;
    }
  }

  #pause(reason: string): void {
    this.configure({ ...this.lastConfig, paused: { by: this.self, reason, at: instant(this.nowMs) } });
  }

  #record(record: TransitionRecord, headVersion: number | null): void {
    if (headVersion !== this.history?.version) throw new Error('BAD_VERSION history');
    this.records.push(record);
    const head = { term: record.term, fencingToken: record.fencingToken };
    this.history = versioned(head, headVersion + 1, this.epochMs);
  }

  updateRegistration(node: string, change: Partial<Registration>): void {
    this.members = this.members.map((one) => {
      if (one.node !== node || one.value === null) return one;
      return { ...one, value: { ...one.value, ...change }, version: one.version + 1 };
    });
  }

  /** Makes a node report scores, and round trips if there are any. */
  measure(node: string, scores: Record<string, Score>, tripsMs: Record<string, number> = {}): void {
    this.members = this.members.map((one) => {
      if (one.node !== node) return one;
      const values = new Map(Object.entries(scores));
      const roundTripsMs = new Map(Object.entries(tripsMs));
      return { ...one, scores: { node, incarnation: `${node}-life1`, values, roundTripsMs } };
    });
  }

  join(node: string, change: Partial<Registration> = {}, owner?: bigint): void {
    const seat = this.members.length;
    this.members = [
      ...this.members,
      member(node, change, { seat, ...(owner === undefined ? {} : { owner }) }),
    ];
  }

  /** Ends the node's session. */
  crash(node: string): void {
    const gone = this.members.find((one) => one.node === node);
    if (gone !== undefined && this.current?.owner === gone.owner) this.current = null;
    this.members = this.members.filter((one) => one.node !== node);
  }

  /** Ends the node's session, and lets the node return immediately in a new session. */
  renew(node: string): void {
    const owner = this.members.find((one) => one.node === node)?.owner ?? 0n;
    this.crash(node);
    this.join(node, {}, owner + 1n);
  }

  /** Creates the claim of the elected node. */
  claim(change: Pick<ClaimChange, 'resumes'> = {}): void {
    const { node } = this;
    const owner = this.members.find((one) => one.node === node)?.owner;
    if (node === null || owner === undefined) throw new Error('nobody could claim');
    if (this.current !== null) throw new Error('NODE_EXISTS current');
    this.#token += 1n;
    const made = claim(node, {
      status: 'PROGRESS',
      token: this.#token,
      term: this.term,
      version: 0,
      owner,
      ...change,
    });
    this.current = { ...made, createdAtMs: this.epochMs };
    this.updateRegistration(node, { claimedUnder: this.elected.version });
  }

  /**
   * Makes the elected node, which owns the claim, write READY. A leader also writes READY to repair its
   * claim.
   */
  ready(): void {
    const { node, current, term } = this;
    if (node === null || current === null) throw new Error('nobody has a claim');
    const { token, owner, createdAtMs, version } = current;
    const resumes = current.value?.resumes ?? null;
    const said = claim(node, { status: 'READY', term, token, owner, version: version + 1, resumes });
    this.current = { ...said, createdAtMs, modifiedAtMs: this.epochMs };
  }

  /** Makes the elected node report that its takeover failed. */
  fail(reason = 'exit code 1'): void {
    const { node } = this;
    if (node === null) throw new Error('nobody could fail');
    this.current = null;
    const detail = {
      phase: 'takeover',
      reason,
      command: null,
      exitCode: 1,
      signal: null,
      durationMs: 5,
      outputTail: [],
    };
    this.updateRegistration(node, {
      lastFailure: { electedVersion: this.elected.version, token: null, detail },
    });
  }

  /** Makes the elected node take over from the leader. Returns whether leadership moved. */
  handOver(): boolean {
    this.settle();
    const owner = this.members.find((one) => one.node === this.node)?.owner;
    if (this.node === null || this.current?.owner === owner) return false;
    this.current = null;
    this.lead();
    return true;
  }

  /** Makes a node leader: it is elected, claims and takes over without a failure. */
  lead(change: Pick<ClaimChange, 'resumes'> = {}): void {
    this.settle();
    this.claim(change);
    this.settle();
    this.ready();
    this.settle();
  }
}
