/** What other leaderships of the same group mean for the one that is decided about. */

import { fromInstant } from '../model/names.js';
import type { Elected, FailureRecord } from '../model/znodes.js';
import { failureOf } from './backoff.js';

export interface Elsewhere {
  /** By node: why it can have no other leadership, as "it leads slot 2". */
  readonly busy: ReadonlyMap<string, string>;
  /** By node: what its site has, as "slot 2". */
  readonly held: ReadonlyMap<string, string>;
  /** Nodes that decisions name there. */
  readonly elected: readonly string[];
  /** Nodes that are READY there. */
  readonly ready: ReadonlySet<string>;
  /** Failures there, as they stand. */
  readonly failures: readonly FailureRecord[];
  /** Nobody was ever elected there. */
  readonly isUntouched: boolean;
  /** Why the leadership that is decided about is given up; null while the group is to have it. */
  readonly retired: string | null;
  /** What it is called, as "slot 2"; null where it is the only one. */
  readonly name: string | null;
}

/** There is no other. */
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
 * `own` with the failures elsewhere: of two of one node the later counts, and of two of one failure the
 * leadership's own.
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
 * Whether a decision gave its leadership up, so that nobody is missing in it: nothing else plans to have
 * nobody.
 */
export function isGivenUp({ node, cause }: Pick<Elected, 'node' | 'cause'>): boolean {
  return node === null && cause === 'planned';
}
