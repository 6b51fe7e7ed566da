/** Defines faults with known victims, and finds these victims. */
import type { Fault, NodePart } from '../plan.js';
import type { World } from '../world.js';

/** A fault with known victims. */
export interface TargetedFault {
  readonly detail: string;
  /** Nodes that the fault may keep from leading. Empty if the fault blocks the whole group. */
  readonly nodes: readonly string[];
  readonly ensemble?: boolean;
  readonly blocks?: boolean;
  /** Whether the group may have to wait for a session to expire. */
  readonly silences?: boolean;
  /**
   * Slots whose leaders the fault may move even if those leaders are not in `nodes`. Undefined means all
   * slots.
   */
  readonly slots?: readonly number[];
  begin(): Promise<void>;
  end?(): Promise<void>;
}

/** Receives reports about a fault while the fault is active. */
export interface FaultReporter {
  crash(what: string): void;
  note(what: string): void;
  /** Reports the answer of a node to a request for `/leader`. `code` is null if there was no answer. */
  http(answer: { readonly node: string; readonly code: number | null; readonly requestedAtMs: number }): void;
}

/**
 * Nodes that already have a fault of one of their processes. Two faults of the same node would revert each
 * other.
 */
export type Taken = Set<string>;

export type Of<Kind extends Fault['kind']> = Extract<Fault, { kind: Kind }>;

/** Target of a fault on a node. */
export interface Aim {
  readonly on: NodePart;
  readonly slot?: number | undefined;
}

export function aimText({ on, slot }: Aim): string {
  return `${on}${slotText({ slot })}`;
}

export function slotText({ slot }: Pick<Aim, 'slot'>): string {
  return slot === undefined ? '' : ` of slot ${slot}`;
}

/**
 * Takes the node that has a part now, or the next free node if that node is taken. Returns null if all nodes
 * are taken.
 */
export async function nodeOf(
  { on: part, slot = 1 }: Aim,
  world: World,
  taken: Taken,
): Promise<string | null> {
  const leader = world.client.leader(slot)?.node;
  const leading = world.client.leading();
  const elector = part === 'leader' ? undefined : (await world.view.seated().catch(() => []))[0];
  const wanted =
    part === 'leader'
      ? leader
      : part === 'elector'
        ? elector
        : world.nodes.findLast((node) => !leading.includes(node) && node !== elector);
  const from = Math.max(0, world.nodes.indexOf(wanted ?? ''));
  const inOrder = [...world.nodes.slice(from), ...world.nodes.slice(0, from)];
  const free = inOrder.find((node) => !taken.has(node)) ?? null;
  if (free !== null) taken.add(free);
  return free;
}
