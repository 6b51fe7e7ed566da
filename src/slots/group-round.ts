/**
 * The elector's round over all slots of a group. It makes the decisions for the slots one after the other.
 * For each slot, it takes into account the current decisions for the other slots, and those that it has just
 * made. One write commits all decisions, so no node is ever elected to two slots.
 *
 * A leader keeps its slot. A better node replaces the worst of the leaders. No leader moves from one slot to
 * another merely to tidy the numbering.
 */

import { contextOf, findingsOf, judgeAll } from '../core/constraint.js';
import type { PublishSuccessor } from '../core/decision.js';
import { effectiveDecision } from '../core/effective-decision.js';
import { nowhereElse } from '../core/elsewhere.js';
import { ensembleNowMs } from '../core/ensemble-clock.js';
import { RuleFault, rank } from '../core/ranking.js';
import { activeRequest } from '../core/requests.js';
import {
  awaitsSuccessor,
  type ElectionInput,
  type ElectorAction,
  type ElectorMemory,
  type ElectorRound,
  electorRound,
  isPlainlyDue,
  newElector,
  type Write,
} from '../core/round.js';
import type { GroupConfig } from '../model/group-config.js';
import { named } from '../model/named-slot.js';
import { slotCount, slotStates, slotView } from '../model/slots.js';
import type { CircuitBreaker, GroupSnapshot } from '../model/snapshot.js';
import type { Elected, TransitionRecord } from '../model/znodes.js';
import { slotInput } from './one-slot.js';

/** The elector's memory, keyed by slot number. */
export type GroupMemory = ReadonlyMap<number, ElectorMemory>;

export interface GroupSituation extends Omit<ElectionInput, 'memory' | 'elsewhere'> {
  readonly memory: GroupMemory;
}

export interface Decision {
  readonly slot: number;
  readonly elected: Elected;
  readonly electedVersion: number;
}

/** One atomic write of all decisions and records of a round. */
export interface Commit {
  readonly do: 'commit';
  readonly decisions: readonly Decision[];
  /** Unchanged decisions of the other slots, on which the new decisions depend. */
  readonly unchanged: readonly Omit<Decision, 'elected'>[];
  readonly configVersion: number;
  readonly records: readonly TransitionRecord[];
  readonly headVersion: number | null;
  /** The circuit breaker's record after this write. Null if the record does not change. */
  readonly circuitBreaker: CircuitBreaker | null;
  /** The successor to publish. Missing if the published successor does not change. */
  readonly successor?: PublishSuccessor;
}

type InCommit = 'write-elected' | 'record' | 'publish-successor';
type OtherAction = Exclude<ElectorAction, { do: InCommit }>;
export type GroupAction = { readonly slot: number; readonly action: OtherAction | Commit };

export interface GroupRound {
  readonly actions: readonly GroupAction[];
  readonly memory: GroupMemory;
  /**
   * Time until the next round: the shortest of the slots' recheck times. Null if no slot needs another round.
   */
  readonly recheckInMs: number | null;
  readonly rounds: ReadonlyMap<number, ElectorRound>;
}

/**
 * Whether the group lacks a decision that every elector would make, either for a slot or about the number of
 * slots.
 */
export function isGroupDue({ rounds, actions }: GroupRound, { elected }: GroupSnapshot): boolean {
  const slots = elected.value?.slots ?? 1;
  const opensSlots = actions.some(
    ({ action }) =>
      action.do === 'commit' && action.decisions.some((one) => (one.elected.slots ?? 1) > slots),
  );
  return opensSlots || [...rounds.values()].some(isPlainlyDue);
}

/** Runs one round over all slots. Throws whatever `electorRound` throws. */
export function groupRound(situation: GroupSituation): GroupRound {
  const input = { ...situation, config: withLeaders(situation) };
  const { snapshot, memory } = input;
  const roundOf = (view: GroupSnapshot, slot: number, reserved: ReadonlyMap<string, number>) =>
    electorRound({
      ...input,
      ...slotInput(view, { ...input, reserved }),
      memory: memory.get(slot) ?? newElector,
    });
  const rounds = throughSlots(snapshot, inOrder(input), (view, slot, reserved) => {
    const round = roundOf(view, slot, reserved);
    const write = round.actions.find((action) => action.do === 'write-elected');
    return {
      result: round,
      elected: write?.elected ?? null,
      circuitBreaker: write?.circuitBreaker ?? null,
      reserves: round.choice?.reserves ?? null,
      isLast: round.actions.some(({ do: verb }) => verb === 'read-clock' || verb === 'give-up-seat'),
    };
  });
  const kept = slotStates(snapshot).flatMap(({ slot }): [number, ElectorMemory][] => {
    const known = rounds.get(slot)?.memory ?? memory.get(slot);
    return known === undefined ? [] : [[slot, known]];
  });
  const waits = [...rounds.values()].flatMap(({ recheckInMs }) =>
    recheckInMs === null ? [] : [recheckInMs],
  );
  return {
    actions: actionsOf(input, rounds),
    memory: new Map(kept),
    recheckInMs: waits.length === 0 ? null : Math.min(...waits),
    rounds,
  };
}

/**
 * Keeps every existing slot if the configuration is unreadable. In that case, the fallback configuration may
 * be older than the slots.
 */
function withLeaders({ snapshot, config }: GroupSituation): GroupConfig {
  if (snapshot.config.value !== null) return config;
  return { ...config, leaders: Math.max(config.leaders, slotStates(snapshot).length) };
}

interface Visited<T> {
  readonly result: T;
  /** The slot's new decision. Null if the decision does not change. */
  readonly elected: Elected | null;
  /** The circuit breaker's new record. Null if the record does not change. */
  readonly circuitBreaker?: CircuitBreaker | null;
  /** The node that will replace this slot's leader after a wait. Null if there is none. */
  readonly reserves: string | null;
  readonly isLast?: boolean;
}

/**
 * Visits the slots in order. Each visit receives the decisions of the earlier visits and the nodes that those
 * visits have reserved.
 */
export function throughSlots<T>(
  snapshot: GroupSnapshot,
  order: readonly number[],
  visit: (view: GroupSnapshot, slot: number, reserved: ReadonlyMap<string, number>) => Visited<T>,
): ReadonlyMap<number, T> {
  const found = new Map<number, T>();
  const reserved = new Map<string, number>();
  let view = snapshot;
  for (const slot of order) {
    const {
      result,
      elected,
      reserves,
      circuitBreaker = null,
      isLast = false,
    } = visit(slotView(view, slot), slot, reserved);
    found.set(slot, result);
    if (isLast) return new Map([[slot, result]]);
    if (elected !== null) view = decidedIn(view, slot, elected);
    if (circuitBreaker !== null) view = { ...view, circuitBreaker };
    if (reserves !== null) reserved.set(reserves, slot);
  }
  return found;
}

function decidedIn(snapshot: GroupSnapshot, slot: number, value: Elected): GroupSnapshot {
  const holding = ({ elected }: Pick<GroupSnapshot, 'elected'>) => ({ ...elected, value, problem: null });
  if (slot === 1) return { ...snapshot, elected: holding(snapshot) };
  const others = snapshot.others?.map((state) =>
    state.slot === slot ? { ...state, elected: holding(state) } : state,
  );
  return { ...snapshot, others };
}

type Ordered = Pick<GroupSituation, 'snapshot' | 'members' | 'config' | 'strategy' | 'constraints'>;

function inOrder(input: GroupSituation): number[] {
  const { clock, nowMs, snapshot, memory } = input;
  const slots = slotStates(snapshot).map(({ slot }) => slot);
  if (clock === null || slots.length === 1) return slots;
  const failed = slots.filter((slot) =>
    awaitsSuccessor({
      ...input,
      ...slotInput(slotView(snapshot, slot), input),
      memory: memory.get(slot) ?? newElector,
    }),
  );
  return slotsInOrder(input, ensembleNowMs(clock, nowMs), failed);
}

/**
 * Returns the order in which the elector makes the decisions for the slots:
 * 1. Slots that are being removed.
 * 2. Slots whose leader is missing or cannot continue, by number.
 * 3. All other slots. The slot with the worst leader comes first, so that a better node replaces that leader.
 *
 * `nowMs` is on the ensemble's clock. `failed` lists the slots whose elected node has failed, even if that
 * node seems eligible.
 */
export function slotsInOrder(input: Ordered, nowMs: number, failed: readonly number[]): number[] {
  const states = slotStates(input.snapshot);
  if (states.length === 1) return states.map(({ slot }) => slot);
  const places = placesOf(input, nowMs);
  const placeOf = ({ slot, elected }: (typeof states)[number]) => {
    if (slot > input.config.leaders) return Number.MAX_SAFE_INTEGER;
    if (failed.includes(slot)) return Number.MAX_SAFE_INTEGER - 1;
    const node = elected.value?.node ?? null;
    const place = node === null ? undefined : places.get(node);
    return place ?? Number.MAX_SAFE_INTEGER - 1;
  };
  return states.toSorted((a, b) => placeOf(b) - placeOf(a) || a.slot - b.slot).map(({ slot }) => slot);
}

/** Returns the rank of each eligible node in one ranking of all eligible nodes. The best node has rank 0. */
function placesOf(input: Ordered, nowMs: number): ReadonlyMap<string, number> {
  const { snapshot, config, constraints } = input;
  const elected = effectiveDecision(snapshot);
  const leading = slotStates(snapshot).flatMap((state) => state.elected.value?.node ?? []);
  const elsewhere = { ...nowhereElse, elected: leading };
  const context = contextOf({ snapshot, config, failures: [], epochMs: nowMs, elsewhere, elected });
  try {
    const judged = judgeAll(input.members, constraints, context);
    // This ranking has no incumbent and is not the result of a failure. All findings count in it, even those
    // that a forced failover overrode.
    const findings = { ...findingsOf(judged, elected, true), failedSite: elected.failedSite };
    const request = activeRequest(config, elected);
    const decided = { elected, request, previous: elected.previous };
    const ranking = rank({ ...input, ...decided, judged, ...findings, epochMs: nowMs });
    return new Map(ranking.map(({ node }, place) => [node, place]));
  } catch (error) {
    if (!(error instanceof RuleFault)) throw error;
    // The order does not matter here, because no decision is possible for any slot while the strategy cannot
    // rank the nodes.
    return new Map();
  }
}

type Rounds = ReadonlyMap<number, ElectorRound>;

/**
 * Returns the actions of a round in the order in which they are carried out. Actions such as alarms and
 * fences come first, followed by the one write of all decisions and records. A change to the configuration
 * comes last.
 */
function actionsOf(input: GroupSituation, rounds: Rounds): GroupAction[] {
  const all = [...rounds].flatMap(([slot, { actions }]) => actions.map((action) => ({ slot, action })));
  const found = all.flatMap(({ slot, action }) =>
    action.do === 'write-elected' || action.do === 'record' || action.do === 'publish-successor'
      ? []
      : [{ slot, action }],
  );
  const changes = found.filter(({ action }) => ['change-sites', 'drop-request', 'pause'].includes(action.do));
  // Write the configuration only once per round.
  const change = changes.find(({ action }) => action.do === 'pause') ?? changes[0];
  const commit = commitOf(input, rounds);
  return [
    ...found.filter((each) => !changes.includes(each)),
    ...(commit === null ? [] : [{ slot: 1, action: commit }]),
    ...(change === undefined ? [] : [change]),
  ];
}

function commitOf(input: GroupSituation, rounds: Rounds): Commit | null {
  const { snapshot } = input;
  const writes = new Map<number, Write>();
  const records: TransitionRecord[] = [];
  let successor: PublishSuccessor | null = null;
  for (const [slot, { actions }] of rounds) {
    for (const action of actions) {
      if (action.do === 'write-elected') writes.set(slot, action);
      if (action.do === 'publish-successor') successor = action;
      const made = action.do === 'write-elected' || action.do === 'record' ? action.record : null;
      if (made !== null) records.push(namingSlot(made, slot, slotStates(snapshot).length));
    }
  }
  const decisions = withSlots(input, rounds, writes);
  if (decisions.length > 0) successor = null;
  if (decisions.length === 0 && records.length === 0 && successor === null) return null;
  const decided = new Set(decisions.map(({ slot }) => slot));
  const others = decisions.length === 0 ? [] : slotStates(snapshot).filter(({ slot }) => !decided.has(slot));
  return {
    do: 'commit',
    decisions,
    unchanged: others.map(({ slot, elected }) => ({ slot, electedVersion: elected.version })),
    configVersion: snapshot.config.version,
    records,
    headVersion: records.length === 0 ? null : (snapshot.history?.version ?? null),
    circuitBreaker:
      [...writes.values()].findLast(({ circuitBreaker }) => circuitBreaker !== null)?.circuitBreaker ?? null,
    ...(successor === null ? {} : { successor }),
  };
}

function namingSlot({ kind, ...record }: TransitionRecord, slot: number, slots: number): TransitionRecord {
  return { kind, ...named(slot, slots), ...record };
}

/** Returns the decisions to write. The first slot's decision also carries the number of slots. */
function withSlots(
  { snapshot, config }: GroupSituation,
  rounds: Rounds,
  writes: ReadonlyMap<number, Write>,
): Decision[] {
  const slots = slotsWanted(snapshot, config);
  const slotCountWritten = slots === 1 ? undefined : slots;
  const decisions = [...writes].map(([slot, { elected, electedVersion }]): Decision => {
    return { slot, electedVersion, elected: slot === 1 && slots > 1 ? { ...elected, slots } : elected };
  });
  const { value, version } = snapshot.elected;
  const first = rounds.get(1);
  if (writes.has(1) || first === undefined || first.choice === null || value === null) return decisions;
  // Do not reduce the number of slots during a takeover. If a claim disappears, the elector recognizes this
  // only as long as the decision under which the claim was made is unchanged.
  const isQuiet = first.memory.progress === null;
  const isNews = slots > (value.slots ?? 1) || (slots < (value.slots ?? 1) && isQuiet);
  return isNews
    ? [...decisions, { slot: 1, electedVersion: version, elected: { ...value, slots: slotCountWritten } }]
    : decisions;
}

/**
 * Returns the number of slots that the group should have. A surplus slot remains until no node is elected in
 * it and its claim is released.
 */
function slotsWanted(snapshot: GroupSnapshot, { leaders }: GroupConfig): number {
  const held = slotStates(snapshot).filter(
    ({ elected, current }) => elected.value === null || elected.value.node !== null || current !== null,
  );
  return Math.max(
    leaders,
    ...held.map(({ slot }) => slot),
    snapshot.elected.value === null ? slotCount(snapshot, 1) : 1,
  );
}
