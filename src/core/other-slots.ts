/** What the other slots of a group mean for one: whom it cannot have, and what is known of nodes that failed there. */

import { failureOf, recovered, settleFailures } from './backoff.js';
import type { GroupConfig } from './group-config.js';
import { fromInstant } from './names.js';
import type { Obstacle } from './obstacle.js';
import { slotOf, slotStates } from './slots.js';
import { type GroupSnapshot, type Member, ownerName, type SlotState } from './snapshot.js';
import { type Elected, type FailureRecord, initialElected } from './znodes.js';

export interface OtherSlots {
  readonly slot: number;
  /** Nodes that another slot has, or is to have, and which that is. */
  readonly taken: ReadonlyMap<string, string>;
  /** Nodes whose site holds another slot, and which. */
  readonly sharing: ReadonlyMap<string, number>;
  /** Nodes that are READY in another slot. */
  readonly ready: ReadonlySet<string>;
  /** Failures in other slots, as they stand. */
  readonly failures: readonly FailureRecord[];
  /** No other slot was ever filled. */
  readonly isUntouched: boolean;
  /** Why the slot is given up; null while the group is to have it. */
  readonly retired: string | null;
}

export interface Surroundings {
  readonly snapshot: GroupSnapshot;
  readonly members: readonly Member[];
  readonly config: GroupConfig;
  /** Milliseconds since the epoch, on the ensemble's clock. */
  readonly nowMs: number;
  /** Nodes that wait to take over another slot, by node. */
  readonly courted?: ReadonlyMap<string, number> | undefined;
}

/** What there is beside the slot that `snapshot` is about; undefined where that is all there is. */
export function otherSlotsOf(surroundings: Surroundings): OtherSlots | undefined {
  const { snapshot, members, config, nowMs, courted = new Map<string, number>() } = surroundings;
  const slot = slotOf(snapshot);
  const states = slotStates(snapshot);
  if (states.length === 1 && slot <= config.leaders) return undefined;
  const others = states.filter((state) => state.slot !== slot);
  const ready = others
    .map(({ elected, current }) => recovered(elected.value ?? initialElected, current, members))
    .filter((node) => node !== null);
  return {
    slot,
    taken: new Map([...[...courted].map(courting), ...takenBy(states, slot, members)]),
    sharing: sharing(surroundings, others),
    ready: new Set(ready),
    failures: others.flatMap(({ elected, current }) =>
      settleFailures(elected.value ?? initialElected, members, current, config, nowMs),
    ),
    isUntouched: others.every(({ elected }) => (elected.value?.term ?? 1) === 0),
    retired: slot > config.leaders ? givenUpReason(config.leaders, slot) : null,
  };
}

function givenUpReason(leaders: number, slot: number): string {
  return `leaders is ${leaders} now, and slot ${slot} is given up`;
}

/** Whether a decision gave its slot up, so that nobody is missing in it: nothing else plans to have nobody. */
export function isGivenUp({ node, cause }: Pick<Elected, 'node' | 'cause'>): boolean {
  return node === null && cause === 'planned';
}

function courting([node, slot]: readonly [string, number]): [string, string] {
  return [node, `it is to take over slot ${slot}`];
}

/**
 * A node has the slot whose claim it owns, or else the first that names it. So that of two slots that name one node, as
 * only junk makes them, exactly one keeps it.
 */
function takenBy(states: readonly SlotState[], slot: number, members: readonly Member[]): [string, string][] {
  const owned = states.flatMap(({ slot: of, current }): [string, number, string][] => {
    const owner = current === null ? null : ownerName(current, members);
    const does = current?.value?.status === 'READY' ? 'leads' : 'has claimed';
    return owner === null ? [] : [[owner, of, `it ${does} slot ${of}`]];
  });
  const named = states.flatMap(({ slot: of, elected }): [string, number, string][] => {
    const node = elected.value?.node ?? null;
    return node === null ? [] : [[node, of, `it is elected in slot ${of}`]];
  });
  const has = new Map<string, readonly [number, string]>();
  for (const [node, of, why] of [...owned, ...named]) if (!has.has(node)) has.set(node, [of, why]);
  return [...has].flatMap(([node, [of, why]]): [string, string][] => (of === slot ? [] : [[node, why]]));
}

/** An incumbent gives way to the slots before its own, so that of two in one site one stays; who comes gives way to all,
 * and to whoever is still on the way out. */
function sharing(
  { snapshot, members, config }: Surroundings,
  others: readonly SlotState[],
): ReadonlyMap<string, number> {
  if (config.siteRules.spread.over === 'any-site') return new Map();
  const slot = slotOf(snapshot);
  const incumbent = snapshot.elected.value?.node ?? null;
  const held = (states: readonly SlotState[], withClaims: boolean) => {
    const sites = states.toReversed().flatMap(({ slot: of, elected, current }) => {
      const { node = null, site = null } = elected.value ?? {};
      const claimed = withClaims ? (current?.value?.site ?? null) : null;
      return [claimed, node === null ? null : site].map((one) => [one, of] as const);
    });
    return new Map(sites.filter((entry): entry is [string, number] => entry[0] !== null));
  };
  const byAll = held(others, true);
  const byEarlier = held(
    others.filter((state) => state.slot < slot),
    false,
  );
  return new Map(
    members.flatMap(({ node, value }): [string, number][] => {
      const holder = (node === incumbent ? byEarlier : byAll).get(value?.site ?? '');
      return holder === undefined ? [] : [[node, holder]];
    }),
  );
}

/** Why a node cannot have this slot, whatever it is fit for. */
export function slotObstacles(
  { node, value }: Member,
  config: GroupConfig,
  otherSlots?: OtherSlots,
): Obstacle[] {
  if (otherSlots === undefined) return [];
  const taken = otherSlots.taken.get(node);
  if (taken !== undefined) return [{ kind: 'leads-slot', reason: taken }];
  const holder = otherSlots.sharing.get(node);
  if (holder === undefined || config.siteRules.spread.strength === 'soft') return [];
  const reason = `site ${value?.site} holds slot ${holder}, and no site may hold two`;
  return [{ kind: 'site-holds-slot', reason }];
}

/** What a soft rule has against a node; null: nothing. */
export function sharedSite(
  { node, value }: Member,
  config: GroupConfig,
  otherSlots?: OtherSlots,
): string | null {
  const holder = otherSlots?.sharing.get(node);
  if (holder === undefined || config.siteRules.spread.strength === 'hard') return null;
  return `site ${value?.site} holds slot ${holder} already`;
}

/** `own` with those of other slots: of two of one node the later counts, and of two of one failure the slot's own. */
export function withFailuresOfOthers(
  own: readonly FailureRecord[],
  otherSlots?: OtherSlots,
): readonly FailureRecord[] {
  if (otherSlots === undefined) return own;
  const all = [...own];
  for (const record of otherSlots.failures) {
    const known = failureOf(all, record.node);
    if (known !== null && fromInstant(known.failedAt) >= fromInstant(record.failedAt)) continue;
    if (known !== null) all.splice(all.indexOf(known), 1);
    all.push(record);
  }
  return all.filter(({ node }) => !otherSlots.ready.has(node));
}
