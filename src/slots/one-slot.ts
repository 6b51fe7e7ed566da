/**
 * Presents a group with several leaders as one slot, together with the effects that the other slots have on
 * that slot. The code that elects a leader sees only this view.
 */

import { recovered, settleFailures } from '../core/backoff.js';
import { type Elsewhere, nowhereElse } from '../core/elsewhere.js';
import type { GroupConfig } from '../model/group-config.js';
import { configOfSlot, membersOfSlot, slotOf, slotStates } from '../model/slots.js';
import { type GroupSnapshot, type Member, ownerName, type SlotState } from '../model/snapshot.js';
import { initialElected } from '../model/znodes.js';

export interface SlotsInput {
  readonly snapshot: GroupSnapshot;
  readonly members: readonly Member[];
  readonly config: GroupConfig;
  /** Current time on the ensemble's clock, in milliseconds since the epoch. */
  readonly nowMs: number;
  /** For each node that is waiting to take over another slot, the number of that slot. Keyed by node id. */
  readonly reserved?: ReadonlyMap<string, number> | undefined;
}

/** Input to a decision about one leader. All information about the other slots is in `elsewhere`. */
export interface SlotInput {
  readonly snapshot: GroupSnapshot;
  readonly members: readonly Member[];
  readonly config: GroupConfig;
  readonly elsewhere: (epochMs: number) => Elsewhere;
}

/** Returns the input for one slot. `view` is that slot's view of the group. */
export function slotInput(
  view: GroupSnapshot,
  { members, config, reserved }: Omit<SlotsInput, 'snapshot' | 'nowMs'>,
): SlotInput {
  const slot = slotOf(view);
  const { value } = view.config;
  const ofSlot = value === null ? view.config : { ...view.config, value: configOfSlot(value, slot) };
  return {
    snapshot: { ...view, config: ofSlot },
    members: slotStates(view).length === 1 ? members : membersOfSlot(members, slot),
    config: configOfSlot(config, slot),
    elsewhere: (nowMs) => elsewhereOf({ snapshot: view, members, config, nowMs, reserved }),
  };
}

/** Returns how the other slots affect the slot that `snapshot` describes. */
export function elsewhereOf(input: SlotsInput): Elsewhere {
  const { snapshot, members, config, nowMs, reserved = new Map<string, number>() } = input;
  const slot = slotOf(snapshot);
  const states = slotStates(snapshot);
  if (states.length === 1 && slot <= config.leaders) return nowhereElse;
  const others = states.filter((state) => state.slot !== slot);
  const ready = others
    .map(({ elected, current }) => recovered(elected.value ?? initialElected, current, members))
    .filter((node) => node !== null);
  return {
    busy: new Map([...[...reserved].map(reservation), ...takenBy(states, slot, members)]),
    held: sharing(input, others),
    elected: others.flatMap(({ elected }) => elected.value?.node ?? []),
    ready: new Set(ready),
    failures: others.flatMap(({ elected, current }) =>
      settleFailures(elected.value ?? initialElected, members, current, config, nowMs),
    ),
    isUntouched: others.every(({ elected }) => (elected.value?.term ?? 1) === 0),
    retired: slot > config.leaders ? givenUpReason(config.leaders, slot) : null,
    name: `slot ${slot}`,
  };
}

function givenUpReason(leaders: number, slot: number): string {
  return `slot ${slot} is removed, because leaders is now ${leaders}`;
}

function reservation([node, slot]: readonly [string, number]): [string, string] {
  return [node, `it will take over slot ${slot}`];
}

/**
 * Returns the nodes that are taken by other slots, each with the reason. A node belongs to the slot whose
 * claim it owns. A node without a claim belongs to the first slot that names it. If malformed data makes two
 * slots name the same node, exactly one of these slots keeps the node.
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

/**
 * Returns the nodes whose site another slot already uses. An incumbent yields only to slots with lower
 * numbers. If two incumbents are in the same site, one of them therefore stays. A node that is not an
 * incumbent yields to all slots, and to leaders whose release has not finished.
 */
function sharing(
  { snapshot, members }: SlotsInput,
  others: readonly SlotState[],
): ReadonlyMap<string, string> {
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
    members.flatMap(({ node, value }): [string, string][] => {
      const holders = node === incumbent ? byEarlier : byAll;
      const holder = value === null ? undefined : holders.get(value.site);
      return holder === undefined ? [] : [[node, `the leader of slot ${holder}`]];
    }),
  );
}
