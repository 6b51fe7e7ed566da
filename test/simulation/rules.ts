/**
 * The rules of docs/reference/protocol.md that are not invariants: which node may write what, and when. The
 * rules judge only commits. A deadline is checked only while the world is calm, which means that nothing in
 * the world is lost, delayed, frozen or dead.
 */
import type { GroupPaths } from '../../src/model/paths.js';
import type { Asker, Commit, Transaction } from './ensemble.js';
import type { Invariant, Violate } from './judge.js';
import { inSlot, Ledger, type Picture, slotsIn } from './ledger.js';
import type { Node } from './node.js';
import { answerMs, promptMs, reconnectMs } from './pace.js';
import { claimRules } from './rules-of-claims.js';
import { comingRules } from './rules-of-coming.js';
import { electingRules } from './rules-of-electing.js';
import { failureRules } from './rules-of-failures.js';
import { backoffRules, limitRules } from './rules-of-limits.js';
import { seatRules } from './rules-of-seats.js';
import { siteRules, successionRules } from './rules-of-sites.js';
import { slotRules } from './rules-of-slots.js';
import { znodeRules } from './rules-of-znodes.js';
import type { Setup } from './setup.js';
import { SlotRuleContext, stepIn } from './slot-rule-context.js';
import type { World } from './world.js';

export type Write = Extract<Transaction, { kind: 'write' }>;

/** One step of the committed state. */
export interface Step {
  readonly was: Picture;
  readonly is: Picture;
  /** The write of this step. Null if a session has ended instead: see `ended`. */
  readonly write: Write | null;
  readonly ended: bigint | null;
  readonly commit: Commit;
  /** Whether an operator, not a node, made the change. */
  readonly isByHand: boolean;
  readonly nowMs: number;
  /**
   * Views of the same step, newest first. If the step changes a decision or the configuration, each view has
   * a picture that the change may be based on. Otherwise, the only view has the newest picture.
   */
  readonly views: readonly Step[];
}

/** A former state of the tree. */
interface Past {
  readonly picture: Picture;
  readonly zxid: bigint;
}

export interface RuleContext {
  /** The slot that is judged. */
  readonly slot: number;
  readonly world: World;
  readonly setup: Setup;
  readonly paths: GroupPaths;
  readonly nodes: readonly Node[];
  readonly violate: Violate;
  /**
   * Time within which a node of a calm group reacts to what it sees. `answerMs` is the part of it that
   * messages take.
   */
  readonly promptMs: number;
  readonly answerMs: number;
  /**
   * Whether all connections between the node and the servers, and among the servers, are intact, and all
   * servers are running.
   */
  isInTouch(node: Node): boolean;
  /**
   * Start of the period in which the session has been receiving replies without a long gap. Infinity if the
   * session is not connected.
   */
  inTouchSinceMs(session: bigint): number;
  /** Time for which the elector has been the elector and has been running. 0 if it is not running. */
  electorForMs(): number;
  /**
   * Earliest and latest time that the ensemble's clock may show now. The bounds follow from all its readings
   * so far, under any leader of the ensemble.
   */
  wall(): { readonly earliestMs: number; readonly latestMs: number };
  /** The current state. */
  picture(): Picture;
  /** Whether the world has been undisturbed for a while. */
  readonly isCalm: boolean;
  /** Whether a quota may leave no room for records of the history. */
  readonly isUnderQuota: boolean;
  /** Whether the world is calm, or was calm until operators changed the tree by hand. */
  readonly wasCalm: boolean;
  /**
   * Accepts a decision if it is right for at least one state that may have been read for it. May call `judge`
   * repeatedly.
   */
  judged(step: Step, judge: (step: Step, complain: Violate) => void): void;
  /**
   * Checks a condition after the given time. Checks nothing if the world is not calm now, or if something
   * disturbs it during that time.
   */
  soon(withinMs: number, rule: Invariant, isWrong: () => string | null): void;
  /**
   * Checks a condition after the given time, unless something disturbs the world during that time. Unlike
   * `soon`, checks even if the world is not calm now.
   */
  unlessDisturbed(withinMs: number, rule: Invariant, isWrong: () => string | null): void;
}

export type Rule = (step: Step) => void;

/** Sessions that may have watches left from former roles of their nodes. */
interface Watchers {
  readonly electors: ReadonlySet<bigint>;
  readonly candidates: ReadonlySet<bigint>;
  readonly reseated: ReadonlySet<bigint>;
}

/** Number of states to keep. Fewer states arise while one round reads. */
const pastsKept = 200;

export class Rules implements RuleContext {
  readonly slot = 1;
  readonly world: World;
  readonly setup: Setup;
  readonly paths: GroupPaths;
  readonly nodes: readonly Node[];
  readonly violate: Violate;
  readonly promptMs: number;
  readonly answerMs: number;
  #ledger: Ledger;
  #rules: readonly Rule[];
  /** Rules that are not rules of the tree. They remember nothing that a restore undoes. */
  readonly #otherRules: Rule[] = [];
  readonly #isByHand: (session: bigint) => boolean;
  readonly isInTouch: (node: Node) => boolean;
  readonly inTouchSinceMs: (session: bigint) => number;
  readonly #basisOf: (asker: Asker) => bigint | null;
  /** The last states, each with the instant at which it began. */
  readonly #past: (Past & { readonly sinceMs: number })[] = [];
  isUnderQuota = false;
  #calmFromMs = 3_000;
  #disturbances = 0;
  #shakenMs = Number.NEGATIVE_INFINITY;
  #wasCalm = false;
  /** Minimum lead of the ensemble's clock over true time so far. `#mostAheadMs` is the maximum. */
  #leastAheadMs = Number.POSITIVE_INFINITY;
  #mostAheadMs = Number.NEGATIVE_INFINITY;
  /** Sessions that have ever had the lowest seat. */
  readonly #electors = new Set<bigint>();
  /** Sessions that have lost a seat and have not ended. */
  readonly #reseated = new Set<bigint>();
  /** Instant at which a session last lost its seat. */
  seatLostMs = Number.NEGATIVE_INFINITY;
  /** Nodes that have been elected, or published as the successor, during the current claim, by slot. */
  readonly #candidates = new Map<number, Set<string>>();
  /** Sessions that had watches left from former roles, at the time of each change. */
  readonly #former = new WeakMap<Transaction, Watchers>();

  constructor(options: {
    readonly world: World;
    readonly setup: Setup;
    readonly paths: GroupPaths;
    readonly nodes: readonly Node[];
    readonly violate: Violate;
    isByHand(session: bigint): boolean;
    isInTouch(node: Node): boolean;
    inTouchSinceMs(session: bigint): number;
    /**
     * Returns the newest change that was known for certain to the round that decided on this write. Null if
     * unknown.
     */
    basisOf(asker: Asker): bigint | null;
  }) {
    this.world = options.world;
    this.setup = options.setup;
    this.paths = options.paths;
    this.nodes = options.nodes;
    this.violate = options.violate;
    this.promptMs = promptMs(this.setup);
    this.answerMs = answerMs(this.setup);
    this.#isByHand = options.isByHand;
    this.isInTouch = options.isInTouch;
    this.inTouchSinceMs = options.inTouchSinceMs;
    this.#basisOf = options.basisOf;
    this.#ledger = new Ledger(options.paths);
    this.#rules = this.#rulesOfTree();
  }

  #rulesOfTree(): Rule[] {
    return [
      seatRules(this),
      ...Array.from({ length: this.setup.slots }, (_, index) => this.#rulesOfSlot(index + 1)),
      limitRules(this),
      znodeRules(this),
      siteRules(this),
      slotRules(this),
    ];
  }

  /**
   * Continues with the restored data of an ensemble, and forgets everything else. `replay` has to call the
   * given function for every commit in the data.
   */
  restored(replay: (take: (commit: Commit) => void) => void): void {
    const { nowMs } = this.world;
    this.#ledger = new Ledger(this.paths);
    replay((commit) => {
      if (commit.transaction.kind === 'close' || commit.changes.length > 0) this.#ledger.take(commit, nowMs);
    });
    this.#past.length = 0;
    this.#electors.clear();
    this.#reseated.clear();
    this.#candidates.clear();
    this.#rules = this.#rulesOfTree();
  }

  #rulesOfSlot(slot: number): Rule {
    const context = this.setup.slots === 1 ? this : new SlotRuleContext(this, slot);
    const rules = [
      claimRules(context),
      electingRules(context),
      failureRules(context),
      backoffRules(context),
      comingRules(context),
      successionRules(context),
    ];
    return (step) => {
      const own = stepIn(step, slot);
      for (const rule of rules) rule(own);
    };
  }

  picture(): Picture {
    return this.#ledger.picture;
  }

  electorForMs(): number {
    const { seats, electorSinceMs } = this.picture();
    const elector = this.nodes.find(({ session }) => session !== 0n && session === seats[0]?.owner);
    if (elector?.isMute !== false) return 0;
    return Math.min(this.world.nowMs - electorSinceMs, elector.process?.runsForMs ?? 0);
  }

  wall(): { earliestMs: number; latestMs: number } {
    const { nowMs } = this.world;
    return { earliestMs: nowMs + this.#leastAheadMs, latestMs: nowMs + this.#mostAheadMs };
  }

  /**
   * Returns the number of notified sessions that count against the limit. A change may wake a session because
   * of watches left from a former role: elector, candidate during the current claim, or owner of another
   * seat. For each of these roles, only one notified session counts.
   */
  calledFor(change: Transaction, sessions: ReadonlySet<bigint>): number {
    const former = this.#former.get(change);
    if (former === undefined) return sessions.size;
    const left = new Set(sessions);
    let count = 0;
    for (const kind of [former.electors, former.candidates, former.reseated]) {
      const ofKind = [...left].filter((session) => kind.has(session));
      for (const session of ofKind) left.delete(session);
      count += Math.min(1, ofKind.length);
    }
    return count + left.size;
  }

  #watchesLeft(): Watchers {
    const names = new Set([...this.#candidates.values()].flatMap((each) => [...each]));
    const candidates = this.nodes.filter(({ name }) => names.has(name));
    return {
      electors: new Set(this.#electors),
      candidates: new Set(candidates.map(({ session }) => session)),
      reseated: new Set(this.#reseated),
    };
  }

  get isCalm(): boolean {
    return this.world.nowMs >= this.#calmFromMs;
  }

  /**
   * Records a disturbance that lasts for the given time. The world is calm again only after sessions had time
   * to recover.
   */
  disturbed(forMs: number, isByHand = false): void {
    this.#disturbances += 1;
    this.#wasCalm = this.isCalm && isByHand;
    const overMs = this.world.nowMs + forMs + 3 * this.setup.sessionTimeoutMs;
    this.#calmFromMs = Math.max(this.#calmFromMs, overMs);
  }

  /**
   * Records that a connection has broken or the elector has changed. A node that was about to act must start
   * over.
   */
  shaken(): void {
    this.#shakenMs = this.world.nowMs;
  }

  get wasCalm(): boolean {
    return this.isCalm || this.#wasCalm;
  }

  also(rule: Rule): void {
    this.#otherRules.push(rule);
  }

  soon(withinMs: number, rule: Invariant, isWrong: () => string | null): void {
    if (this.isCalm) this.unlessDisturbed(withinMs, rule, isWrong);
  }

  unlessDisturbed(withinMs: number, rule: Invariant, isWrong: () => string | null): void {
    const sinceMs = this.world.nowMs;
    const recoveryMs = reconnectMs(this.setup) + Math.min(withinMs, 2 * this.promptMs);
    this.after(withinMs, rule, () => {
      if (this.#shakenMs > sinceMs) {
        const leftMs = this.#shakenMs + recoveryMs - this.world.nowMs;
        if (leftMs > 0) {
          this.unlessDisturbed(leftMs, rule, isWrong);
          return null;
        }
      }
      return isWrong();
    });
  }

  /** Checks a condition when the given time has passed, unless something disturbs the world earlier. */
  after(withinMs: number, rule: Invariant, isWrong: () => string | null): void {
    const before = this.#disturbances;
    this.world.after(withinMs, () => {
      const wrong = before === this.#disturbances ? isWrong() : null;
      if (wrong !== null) this.violate(rule, wrong);
    });
  }

  judged(step: Step, judge: (step: Step, complain: Violate) => void): void {
    const complaints: [Invariant, string][] = [];
    for (const view of step.views) {
      const before = complaints.length;
      judge(view, (...complaint) => complaints.push(complaint));
      if (complaints.length === before) return;
    }
    const [first] = complaints;
    if (first !== undefined) this.violate(...first);
  }

  #seatsLost({ was, is, ended, nowMs }: Step): void {
    if (was.seats === is.seats) return;
    for (const { name, owner } of was.seats) {
      if (owner === ended || is.seats.some((seat) => seat.name === name)) continue;
      this.#reseated.add(owner);
      this.seatLostMs = nowMs;
    }
  }

  /**
   * Returns the views of a step. A round cannot have read anything older than the reply to its first read. A
   * former state is a view only if the configuration was the same, because the write checks it. For a
   * decision, the previous decision must also have been the same.
   */
  #views(step: Omit<Step, 'views'>): Step[] {
    const { was, is, write } = step;
    const isDecision = !isSameDecided(is, was);
    const written = isDecision ? writtenWith(is, was) : new Map();
    const present = { ...step, was: withWritten(was, written), views: [] };
    if (write?.asker == null || step.isByHand || (!isDecision && is.config === was.config)) return [present];
    const basis = this.#basisOf(write.asker);
    const views: Step[] = [present];
    let untilMs = step.nowMs;
    for (const { picture, zxid, sinceMs } of this.#past.toReversed()) {
      const isOther = picture.config !== was.config || (isDecision && !isSameDecided(picture, was));
      if (basis === null || isOther) break;
      views.push({ ...present, was: withWritten(picture, written), nowMs: untilMs });
      untilMs = sinceMs;
      if (zxid <= basis) break;
    }
    return views;
  }

  #remember(past: Past & { readonly sinceMs: number }): void {
    this.#past.push(past);
    if (this.#past.length > pastsKept) this.#past.shift();
  }

  #readWall(aheadMs: number): void {
    this.#leastAheadMs = Math.min(this.#leastAheadMs, aheadMs);
    this.#mostAheadMs = Math.max(this.#mostAheadMs, aheadMs);
  }

  #noteCandidates({ was, is }: Step): void {
    for (const { slot, claim, claims, elected } of slotsIn(is)) {
      const known = this.#candidates.get(slot) ?? new Set();
      this.#candidates.set(slot, known);
      if (claims !== inSlot(was, slot).claims && claim !== null) known.clear();
      const node = elected?.content.node;
      if (node != null) known.add(node);
    }
    const next = is.successor?.content.prepared?.decision.node;
    if (next != null && is.successor !== was.successor) this.#candidates.get(this.slot)?.add(next);
  }

  committed(commit: Commit): void {
    const { transaction, changes } = commit;
    if (transaction.kind === 'open') return;
    if (transaction.kind === 'write' && changes.length === 0) return;
    const { nowMs } = this.world;
    if (transaction.kind === 'write') this.#readWall(transaction.wallMs - nowMs);
    const left = this.#watchesLeft();
    const was = this.#ledger.picture;
    this.#ledger.take(commit, nowMs);
    const here = {
      was,
      is: this.#ledger.picture,
      write: transaction.kind === 'write' ? transaction : null,
      ended: transaction.kind === 'close' ? transaction.session : null,
      commit,
      isByHand: transaction.kind === 'write' && this.#isByHand(transaction.session),
      nowMs,
    };
    // A former candidate has left no other watch than that on the claim.
    this.#former.set(transaction, isClaimDeleted(here) ? left : { ...left, candidates: new Set() });
    const step: Step = { ...here, views: this.#views(here) };
    this.#remember({ picture: step.is, zxid: commit.truth.lastZxid, sinceMs: nowMs });
    const [elector] = step.is.seats;
    if (elector?.id !== was.seats[0]?.id) this.shaken();
    this.#seatsLost(step);
    if (elector !== undefined) this.#electors.add(elector.owner);
    this.#noteCandidates(step);
    for (const rule of [...this.#rules, ...this.#otherRules]) rule(step);
  }
}

/** Whether the commit has deleted the claim of a slot. */
function isClaimDeleted({ was, is }: Pick<Step, 'was' | 'is'>): boolean {
  return slotsIn(was).some(({ slot, claim }) => claim !== null && inSlot(is, slot).claim?.id !== claim.id);
}

/** Whether the decisions of all slots are the same in both pictures. */
function isSameDecided(one: Picture, other: Picture): boolean {
  return slotsIn(one).every(({ slot, elected }) => inSlot(other, slot).elected === elected);
}

/**
 * Returns the registrations that a decision's transaction writes. An elector writes its own node's
 * registration together with a decision that depends on it.
 */
function writtenWith(is: Picture, was: Picture): Picture['registrations'] {
  return new Map([...is.registrations].filter(([node, seen]) => was.registrations.get(node) !== seen));
}

function withWritten(picture: Picture, written: Picture['registrations']): Picture {
  return written.size === 0
    ? picture
    : { ...picture, registrations: new Map([...picture.registrations, ...written]) };
}
