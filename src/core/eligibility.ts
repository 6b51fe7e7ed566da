/** Who may lead. The one place that says so: elections, retries, switchovers and what-if questions all ask here. */

import { excludes, failureOf } from './backoff.js';
import { type GroupConfig, siteConfig, sitePriority } from './group-config.js';
import type { Obstacle } from './obstacle.js';
import { siteObstacles } from './site-rules.js';
import type { Member } from './snapshot.js';
import type { FailureRecord } from './znodes.js';

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
