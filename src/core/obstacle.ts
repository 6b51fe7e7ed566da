/** What keeps nodes from leading, as values. */
import type { Cause, Elected } from './znodes.js';

export type ObstacleKind =
  | 'unreadable'
  | 'unhealthy'
  | 'leaving'
  | 'drained'
  | 'site-disabled'
  | 'priority-zero'
  | 'excluded'
  | 'misplaced'
  | SiteObstacle['kind']
  | SlotObstacleKind;

/** What keeps a node from one slot of several, and is nothing against the node. */
type SlotObstacleKind = 'leads-slot' | 'site-holds-slot';

export interface SiteObstacle {
  readonly kind: 'site-not-allowed' | 'site-failed';
  readonly reason: string;
}

/** One thing that keeps a node from leading. */
export interface Obstacle {
  readonly kind: ObstacleKind;
  /** For people, without the node's name: "it …". */
  readonly reason: string;
}

/** A person wants it so: then not even a leader without an alternative stays. */
export function isByHand({ kind }: Obstacle): boolean {
  return kind === 'drained' || kind === 'site-disabled' || kind === 'priority-zero';
}

export function isOfSlots({ kind }: Obstacle): boolean {
  return kind === 'leads-slot' || kind === 'site-holds-slot';
}

/** A node that may not lead, and why. */
export interface Unfit {
  readonly node: string;
  readonly site: string | null;
  readonly obstacles: readonly Obstacle[];
}

export function obstaclesOf(node: string | null, unfit: readonly Unfit[]): readonly Obstacle[] {
  return unfit.find((other) => other.node === node)?.obstacles ?? [];
}

/** Why an elected node is left, by what keeps it from leading. */
export function departure(found: readonly Obstacle[]): Extract<Cause, 'planned' | 'shutdown' | 'failure'> {
  if (found.some((obstacle) => isByHand(obstacle) || obstacle.kind === 'misplaced')) return 'planned';
  return found.some(({ kind }) => kind === 'leaving') ? 'shutdown' : 'failure';
}

/** What is left of `found` against the elected node when what a forced failover overrode is not counted. */
export function unwaived(found: readonly Obstacle[], node: string, elected: Elected): readonly Obstacle[] {
  if (node !== elected.node || elected.asked === null) return found;
  const { waived } = elected.asked;
  return found.filter(({ kind }) => !waived.includes(kind));
}
