/** What a fault is once its victims are found, and how they are found. */
import type { Fault, NodePart } from '../plan.js';
import type { World } from '../world.js';

/** One fault, its victims found. */
export interface Trouble {
  readonly detail: string;
  /** Nodes that may be unable to lead because of it; none where it blocks them all. */
  readonly nodes: readonly string[];
  readonly ensemble?: boolean;
  readonly blocks?: boolean;
  /** Somebody may have to wait for a session to expire. */
  readonly silences?: boolean;
  /** Slots whose leaders it may move though they are none of `nodes`; missing: all. */
  readonly slots?: readonly number[];
  begin(): Promise<void>;
  end?(): Promise<void>;
}

/** What is told of a fault while it goes on. */
export interface Tell {
  crash(what: string): void;
  note(what: string): void;
}

/** Nodes of which a process is in trouble already: two faults would take each other back. */
export type Taken = Set<string>;

export type Of<Kind extends Fault['kind']> = Extract<Fault, { kind: Kind }>;

/** What a fault is aimed at. */
export interface Aim {
  readonly on: NodePart;
  readonly slot?: number | undefined;
}

export function aimText({ on, slot }: Aim): string {
  return slot === undefined ? on : `${on} of slot ${slot}`;
}

/** Takes the node that has a part now, or, when it is taken, the next one that is not. Null: all are. */
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
