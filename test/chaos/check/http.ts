/**
 * Checks that a node answers `/leader` in time, however many other clients it has. Only requests while no
 * other fault is active are judged, because most faults delay answers.
 */
import type { NemesisRecord, Run } from '../records.js';
import type { FaultSpan } from './leaderless.js';
import type { Violation } from './violation.js';

/** Share of the session timeout that docs/reference/http.md names as the timeout of a load balancer. */
const share = 1 / 4;
const crowd = 'silent-readers';

export function lateAnswers(
  nemesis: readonly NemesisRecord[],
  faults: readonly FaultSpan[],
  { sessionTimeoutMs }: Run,
): Violation[] {
  const others = faults.filter(({ kind }) => kind !== crowd);
  return nemesis.flatMap((record) => {
    if (record.event !== 'http') return [];
    const { node, code, requestedAtMs, atMs } = record;
    const isDisturbed = others.some(
      ({ fromMs, toMs }) => fromMs <= atMs && toMs >= requestedAtMs - sessionTimeoutMs,
    );
    const tookMs = atMs - requestedAtMs;
    if (isDisturbed || (code !== null && tookMs <= share * sessionTimeoutMs)) return [];
    const how = code === null ? 'gave no answer' : `took ${Math.round(tookMs)} ms to answer`;
    return [{ rule: 'others are answered', what: `${node} ${how} to /leader`, atMs: requestedAtMs }];
  });
}
