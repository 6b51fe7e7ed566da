/** What the other leaderships of the same group mean for the one being decided. */

import { fromInstant } from '../model/names.js';
import type { Elected, FailureRecord } from '../model/znodes.js';
import { failureOf } from './backoff.js';

export interface Elsewhere {
  /** By node: why it cannot lead here, such as "it leads slot 2". */
  readonly busy: ReadonlyMap<string, string>;
  /** By node: which other slot its site has, such as "slot 2". */
  readonly held: ReadonlyMap<string, string>;
  /** Nodes that the other decisions name. */
  readonly elected: readonly string[];
  /** Nodes that are READY there. */
  readonly ready: ReadonlySet<string>;
  /** Current failures there. */
  readonly failures: readonly FailureRecord[];
  /** Whether no node has ever been elected there. */
  readonly isUntouched: boolean;
  /** Why the leadership that is decided about is being removed. Null if it is kept. */
  readonly retired: string | null;
  /** Its name, such as "slot 2". Null if it is the only one. */
  readonly name: string | null;
}

/** No other leadership exists. */
export const nowhereElse: Elsewhere = {
  busy: new Map(),
  held: new Map(),
  elected: [],
  ready: new Set(),
  failures: [],
  isUntouched: true,
  retired: null,
  name: null,
};

/**
 * Merges `own` with the failures of the other leaderships. For each node the later failure counts. If both
 * are the same failure, the leadership's own record counts.
 */
export function withFailuresOfOthers(
  own: readonly FailureRecord[],
  { failures, ready }: Elsewhere,
): readonly FailureRecord[] {
  const all = [...own];
  for (const record of failures) {
    const known = failureOf(all, record.node);
    if (known !== null && fromInstant(known.failedAt) >= fromInstant(record.failedAt)) continue;
    if (known !== null) all.splice(all.indexOf(known), 1);
    all.push(record);
  }
  return all.filter(({ node }) => !ready.has(node));
}

/**
 * Whether the decision removed its leadership on purpose, so that no leader is missing. No other planned
 * decision names no node.
 */
export function isGivenUp({ node, cause }: Pick<Elected, 'node' | 'cause'>): boolean {
  return node === null && cause === 'planned';
}
