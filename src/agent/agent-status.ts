import type { Stage } from '../core/leadership.js';
import type { Lease } from '../lease/lease.js';

export interface AgentStatus {
  readonly node: string;
  readonly leads: boolean;
  readonly stage: Stage | null;
  readonly term: number | null;
  /** Slot that the node has claimed. Null if it has claimed none. */
  readonly slot: number | null;
  readonly fencingToken: bigint | null;
  /**
   * Lease of the leadership. Its instants are in milliseconds of `process.hrtime()`. Null if the node has no
   * leadership.
   */
  readonly lease: Lease | null;
  /** Whether the node is registered, has a seat, and is connected. */
  readonly joined: boolean;
  readonly elector: boolean;
  readonly leaving: boolean;
}

/**
 * Returns a string that represents the status. Listeners must be notified whenever this string changes, and
 * only then.
 */
export function statusText(status: AgentStatus): string {
  return `${status.leads} ${status.stage} ${status.term} ${status.slot} ${status.fencingToken} ${status.joined} ${status.elector} ${status.leaving}`;
}

/**
 * Returns the last message that the agent logs. `timeoutMs` is the longest timeout ever granted to the
 * session, or 0 if no session was open. A server may take a third longer than the timeout to expire a
 * session.
 */
export function leftText(ended: boolean, timeoutMs: number): string {
  if (ended || timeoutMs === 0) return 'left the group';
  const withinS = ((timeoutMs * 4) / 3 / 1000).toFixed(1);
  return `left, but could not end the session: the session expires within ${withinS} s (later if ZooKeeper has no quorum)`;
}
