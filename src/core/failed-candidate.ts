/** Detects whether and how the elected node failed under the current version of `elected`. */

import { durationMs } from '../model/duration.js';
import { readyNode } from '../model/snapshot.js';
import type { Elected } from '../model/znodes.js';
import { type Failed, failureOf, failureReason } from './backoff.js';
import { isFallback } from './effective-decision.js';
import { type Observation, type ObservedTransition, overdueMs, type Watched } from './watchdog.js';

/**
 * Returns the failure of the elected node. Returns null if it has not failed. The node has failed in three
 * cases: it reported a failure, its claim vanished during PROGRESS together with its session, or it exceeded
 * a time limit. A running node may also release its claim in order to claim again. In that case, the node
 * itself reports whether it failed.
 */
export function failedCandidate(
  { snapshot, members, config, nowMs }: Observation,
  elected: Elected,
  { progress, watched }: Pick<ObservedTransition, 'progress' | 'watched'>,
): Failed | null {
  const { node } = elected;
  if (node === null || isFallback(snapshot, elected)) return null;
  if (readyNode(snapshot.current, members) === node) return null;
  const { version } = snapshot.elected;
  const registration = members.find((member) => member.node === node)?.value;
  const failed = (reason: string): Failed => {
    return { node, incarnation: registration?.incarnation ?? 'unknown', reason };
  };
  const own = registration?.lastFailure;
  if (own?.electedVersion === version) return failed(failureReason(own.detail));
  // Tokens of claims that reached READY, as reported by the node's registration or, if the node is gone, by
  // the history. Under this version of `elected`, the history records only claims that reached READY.
  const readyTokens = [registration?.lastTakeover?.token, snapshot.history?.value?.fencingToken];
  const reachedReady = progress !== null && readyTokens.includes(String(progress.token));
  const isAlive = members.some(({ owner }) => owner === progress?.owner);
  if (progress !== null && !isAlive && !reachedReady && snapshot.current?.token !== progress.token) {
    return failed('its claim disappeared during the takeover');
  }
  if (watched === null || watched.condition.kind === 'holding' || overdueMs(watched, nowMs) < 0) return null;
  return failed(lateText(watched, durationMs(config.timeouts.takeover)));
}

/**
 * Returns the same wording as the candidate's own report, because either report may arrive first on a loaded
 * machine.
 */
function lateText({ condition, limitMs }: Watched, takeoverMs: number): string {
  if (condition.kind === 'unclaimed')
    return `it did not claim leadership within ${limitMs} ms (including the prepare hook)`;
  return `its takeover timed out after ${takeoverMs} ms: it was not READY within ${limitMs} ms`;
}

interface FailedBefore extends Pick<Observation, 'snapshot' | 'members'> {
  readonly elected: Elected;
}

/**
 * Whether no decision has responded to the elected node's last failure yet. A decision that elects the node
 * again after a failure ends the node's backoff, so it counts as a response.
 */
export function failedBefore({ elected, snapshot, members }: FailedBefore): boolean {
  if (elected.node === null || readyNode(snapshot.current, members) === elected.node) return false;
  return failureOf(elected.failures, elected.node)?.until != null;
}
