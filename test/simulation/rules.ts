/**
 * The rules of docs/reference/protocol.md that are not invariants: which node may write what, and when. They
 * are judged by commits only. What must happen soon is judged only while the world is calm: nothing in it is
 * lost, delayed, frozen or dead.
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
import { SlotCourt, stepIn } from './slot-court.js';
import type { World } from './world.js';

export type Write = Extract<Transaction, { kind: 'write' }>;

/** One step of the committed state. */
export interface Step {
  readonly was: Picture;
  readonly is: Picture;
  /** Null if a session has ended: see `ended`. */
  readonly write: Write | null;
  readonly ended: bigint | null;
  readonly commit: Commit;
  /** Whether an operator made the change, not a node. */
  readonly isByHand: boolean;
  readonly nowMs: number;
  /**
   * The same step as seen from each picture that a decision may be based on, newest first. For any other
   * step, only from the newest.
   */
  readonly views: readonly Step[];
}

/** A state that existed for a while. */
interface Past {
  readonly picture: Picture;
  readonly zxid: bigint;
}

export interface Court {
  /** The slot that is judged. */
  readonly slot: number;
  readonly world: World;
  readonly setup: Setup;
  readonly paths: GroupPaths;
  readonly nodes: readonly Node[];
  readonly violate: Violate;
  /**
   * Time within which a node of a calm group acts on what it sees. `answerMs` is the part that messages take.
   */
  readonly promptMs: number;
  readonly answerMs: number;
  /**
   * Whether all connections between the node and the servers, and among the servers, are intact, and all
   * servers run.
   */
  isInTouch(node: Node): boolean;
  /** Instant since which the session has had replies without a long break. Infinity if it has none. */
  inTouchSinceMs(session: bigint): number;
  /** How long the elector has been the elector, and running. 0 if it is not running. */
  electorForMs(): number;
  /** Bounds of what the ensemble's clock may show, by all its readings so far under any leader. */
  wall(): { readonly earliestMs: number; readonly latestMs: number };
  /** The current state. */
  picture(): Picture;
  /** Whether nothing has disturbed the world for a while. */
  readonly isCalm: boolean;
  /** Whether nothing had disturbed the world until operators changed the tree by hand. */
  readonly wasCalm: boolean;
  /**
   * Accepts a decision if it is right for anything that may have been read for it. May call `judge`
   * repeatedly.
   */
  judged(step: Step, judge: (step: Step, complain: Violate) => void): void;
  /**
   * Checks a condition after the given time, in a world that is calm now and stays undisturbed until then.
   */
  soon(withinMs: number, rule: Invariant, isWrong: () => string | null): void;
  /** Like `soon`, but ignores what went wrong before. */
  unlessDisturbed(withinMs: number, rule: Invariant, isWrong: () => string | null): void;
}

export type Rule = (step: Step) => void;

/** Sessions that may still have watches from earlier roles of their nodes. */
interface Watchers {
  readonly electors: ReadonlySet<bigint>;
  readonly candidates: ReadonlySet<bigint>;
  readonly reseated: ReadonlySet<bigint>;
}

/** More states than arise while one round reads. */
const pastsKept = 200;

export class Rules implements Court {
  readonly slot = 1;
  readonly world: World;
  readonly setup: Setup;
  readonly paths: GroupPaths;
  readonly nodes: readonly Node[];
  readonly violate: Violate;
  readonly promptMs: number;
  readonly answerMs: number;
  readonly #ledger: Ledger;
  readonly #rules: Rule[];
  readonly #isByHand: (session: bigint) => boolean;
  readonly isInTouch: (node: Node) => boolean;
  readonly inTouchSinceMs: (session: bigint) => number;
  readonly #basisOf: (asker: Asker) => bigint | null;
  /** The last states, and when each of them began. */
  readonly #past: (Past & { readonly sinceMs: number })[] = [];
  #calmFromMs = 3_000;
  #disturbances = 0;
  #shakenMs = Number.NEGATIVE_INFINITY;
  #wasCalm = false;
  /** Minimum and maximum by which the ensemble's clock has been ahead of true time. */
  #leastAheadMs = Number.POSITIVE_INFINITY;
  #mostAheadMs = Number.NEGATIVE_INFINITY;
  /** Sessions that had the lowest seat at some time. */
  readonly #electors = new Set<bigint>();
  /** Sessions that lost a seat and have not ended. */
  readonly #reseated = new Set<bigint>();
  /** When a session last lost its seat. */
  seatLostMs = Number.NEGATIVE_INFINITY;
  /** By slot: nodes that were elected during the current claim. */
  readonly #candidates = new Map<number, Set<string>>();
  /** Sessions that had such roles when a change happened. */
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
    /** Returns the newest change known to the round in which this write was decided on. Null if unknown. */
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
    this.#rules = [
      seatRules(this),
      ...Array.from({ length: this.setup.slots }, (_, index) => this.#rulesOfSlot(index + 1)),
      limitRules(this),
      znodeRules(this),
      siteRules(this),
      slotRules(this),
    ];
  }

  #rulesOfSlot(slot: number): Rule {
    const court = this.setup.slots === 1 ? this : new SlotCourt(this, slot);
    const rules = [
      claimRules(court),
      electingRules(court),
      failureRules(court),
      backoffRules(court),
      comingRules(court),
      successionRules(court),
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
   * Returns how many of the sessions that were notified of a change count. Former electors, nodes that waited
   * for the current claim, and nodes that had another seat may have watches left that wake them once more. Of
   * each kind, only one session counts, because one must be woken.
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

  /** Records a disturbance that lasts for the given time. Sessions need time to recover from it. */
  disturbed(forMs: number, isByHand = false): void {
    this.#disturbances += 1;
    this.#wasCalm = this.isCalm && isByHand;
    const overMs = this.world.nowMs + forMs + 3 * this.setup.sessionTimeoutMs;
    this.#calmFromMs = Math.max(this.#calmFromMs, overMs);
  }

  /**
   * Records that a connection has broken or the elector has changed, so a node that was about to act starts
   * over.
   */
  shaken(): void {
    this.#shakenMs = this.world.nowMs;
  }

  get wasCalm(): boolean {
    return this.isCalm || this.#wasCalm;
  }

  also(rule: Rule): void {
    this.#rules.push(rule);
  }

  soon(withinMs: number, rule: Invariant, isWrong: () => string | null): void {
    if (this.isCalm) this.unlessDisturbed(withinMs, rule, isWrong);
  }

  unlessDisturbed(withinMs: number, rule: Invariant, isWrong: () => string | null): void {
    const sinceMs = this.world.nowMs;
    const anewMs = reconnectMs(this.setup) + Math.min(withinMs, 2 * this.promptMs);
    this.after(withinMs, rule, () => {
      if (this.#shakenMs > sinceMs) {
        const leftMs = this.#shakenMs + anewMs - this.world.nowMs;
        if (leftMs > 0) {
          this.unlessDisturbed(leftMs, rule, isWrong);
          return null;
        }
      }
      return isWrong();
    });
  }

  /** Checks a condition at exactly that time, unless something disturbs the world before. */
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
   * Returns the views of a step. What a round read cannot be older than the reply to its first read. Only
   * states with the same configuration count, and for decisions with the same previous one, because a write
   * checks those.
   */
  #views(step: Omit<Step, 'views'>): Step[] {
    const { was, is, write } = step;
    const isDecision = !isSameDecided(is, was);
    const told = isDecision ? toldWith(is, was) : new Map();
    const present = { ...step, was: withTold(was, told), views: [] };
    if (write?.asker == null || step.isByHand || (!isDecision && is.config === was.config)) return [present];
    const basis = this.#basisOf(write.asker);
    const views: Step[] = [present];
    let untilMs = step.nowMs;
    for (const { picture, zxid, sinceMs } of this.#past.toReversed()) {
      const isOther = picture.config !== was.config || (isDecision && !isSameDecided(picture, was));
      if (basis === null || isOther) break;
      views.push({ ...present, was: withTold(picture, told), nowMs: untilMs });
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
  }

  committed(commit: Commit): void {
    const { transaction, changes } = commit;
    if (transaction.kind === 'open') return;
    if (transaction.kind === 'write' && changes.length === 0) return;
    const { nowMs } = this.world;
    if (transaction.kind === 'write') this.#readWall(transaction.wallMs - nowMs);
    this.#former.set(transaction, this.#watchesLeft());
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
    const step: Step = { ...here, views: this.#views(here) };
    this.#remember({ picture: step.is, zxid: commit.truth.lastZxid, sinceMs: nowMs });
    const [elector] = step.is.seats;
    if (elector?.id !== was.seats[0]?.id) this.shaken();
    this.#seatsLost(step);
    if (elector !== undefined) this.#electors.add(elector.owner);
    this.#noteCandidates(step);
    for (const rule of this.#rules) rule(step);
  }
}

/** Compares the decisions of all slots. */
function isSameDecided(one: Picture, other: Picture): boolean {
  return slotsIn(one).every(({ slot, elected }) => inSlot(other, slot).elected === elected);
}

/** Returns what an elector writes about its own node together with a decision that depends on it. */
function toldWith(is: Picture, was: Picture): Picture['registrations'] {
  return new Map([...is.registrations].filter(([node, seen]) => was.registrations.get(node) !== seen));
}

function withTold(picture: Picture, told: Picture['registrations']): Picture {
  return told.size === 0
    ? picture
    : { ...picture, registrations: new Map([...picture.registrations, ...told]) };
}
