/** Who may lead. The one place that says so: elections, retries, switchovers and what-if questions all ask here. */
import { type GroupConfig, siteConfig, sitePriority } from './group-config.js';
import { isAhead } from './limits.js';
import { fromInstant } from './names.js';
import { type SiteObstacle, siteObstacles } from './site-rules.js';
import type { Member } from './snapshot.js';
import type { Cause, Elected, FailureRecord } from './znodes.js';

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

export function failureOf(failures: readonly FailureRecord[], node: string): FailureRecord | null {
  return failures.find((record) => record.node === node) ?? null;
}

/** Whether a record keeps its node out at `nowMs`. A node that waits for its exclusion's end is excluded by it. */
export function excludes(record: FailureRecord, nowMs: number): boolean {
  return record.until !== null && !isOver(record, nowMs);
}

/** Its end has come, or its beginning is still to come: then the ensemble's clock was set back, and it would last for as
 * much longer than it should. */
export function isOver(record: FailureRecord, nowMs: number): boolean {
  return record.until === null || fromInstant(record.until) <= nowMs || isAhead(record, nowMs);
}

/**
 * Everything that keeps `member` from leading; empty when it is fit.
 * `nowMs` is an instant on the ensemble's clock, milliseconds since the epoch.
 */
export function obstacles(
  member: Member,
  config: GroupConfig,
  failures: readonly FailureRecord[],
  nowMs: number,
): Obstacle[] {
  const registration = member.value;
  if (registration === null) {
    return [{ kind: 'unreadable', reason: `its registration cannot be read: ${member.problem}` }];
  }
  const found: Obstacle[] = [];
  const { health, draining, site, priority } = registration;
  if (!health.ok) {
    found.push({ kind: 'unhealthy', reason: `it is unhealthy: ${health.reason ?? 'no reason given'}` });
  }
  if (draining) found.push({ kind: 'leaving', reason: 'it is shutting down' });
  const drained = Object.hasOwn(config.drained, member.node) ? config.drained[member.node] : undefined;
  if (drained !== undefined) {
    found.push({ kind: 'drained', reason: `it was drained by ${drained.by}: ${drained.reason}` });
  }
  const { enabled, disabled } = siteConfig(config, site);
  if (!enabled) {
    const by = disabled === null ? '' : ` by ${disabled.by}: ${disabled.reason}`;
    found.push({ kind: 'site-disabled', reason: `site ${site} is disabled${by}` });
  }
  found.push(...siteObstacles(site, config));
  if (sitePriority(config, site, nowMs) === 0) {
    found.push({ kind: 'priority-zero', reason: `site ${site} has priority 0, which never leads` });
  }
  if (priority === 0) {
    found.push({ kind: 'priority-zero', reason: 'the node has priority 0, which never leads' });
  }
  const { misplaced } = member;
  if (misplaced?.isHard === true) found.push({ kind: 'misplaced', reason: misplaced.reason });
  const failure = failureOf(failures, member.node);
  if (failure !== null && excludes(failure, nowMs)) {
    const times = failure.count === 1 ? '' : ` (${failure.count} failures in a row)`;
    found.push({
      kind: 'excluded',
      reason: `it is excluded until ${failure.until}: ${failure.reason}${times}`,
    });
  }
  return found;
}
