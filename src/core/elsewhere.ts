/** How one leadership is affected by the other leaderships of the same group. */

import type { Elected, FailureRecord } from '../model/znodes.js';

export interface Elsewhere {
  /** Reasons why nodes cannot lead here, such as "it leads slot 2", keyed by node. */
  readonly busy: ReadonlyMap<string, string>;
  /** What another slot already has in each node's site, such as "the leader of slot 2". Keyed by node. */
  readonly held: ReadonlyMap<string, string>;
  /** Nodes named in the decisions of the other leaderships. */
  readonly elected: readonly string[];
  /** Nodes that are READY in other leaderships. */
  readonly ready: ReadonlySet<string>;
  /** Current failures that are stored in the decisions of the other leaderships. */
  readonly failures: readonly FailureRecord[];
  /** True if no node has ever been elected to any other leadership. */
  readonly isUntouched: boolean;
  /** Reason why this leadership is being removed. Null if it is kept. */
  readonly retired: string | null;
  /** Name of this leadership, such as "slot 2". Null if the group has only one leadership. */
  readonly name: string | null;
}

/** The value for a group with only one leadership. */
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
 * Whether the decision removes its leadership on purpose. If so, no leader is missing. Every other planned
 * decision names a node.
 */
export function isGivenUp({ node, cause }: Pick<Elected, 'node' | 'cause'>): boolean {
  return node === null && cause === 'planned';
}
