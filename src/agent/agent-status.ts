import type { Stage } from '../core/leadership.js';
import type { Lease } from '../core/lease.js';

export interface AgentStatus {
  readonly node: string;
  readonly leads: boolean;
  readonly stage: Stage | null;
  readonly term: number | null;
  /** Which slot it has claimed; null while it has none. */
  readonly slot: number | null;
  readonly fencingToken: bigint | null;
  readonly lease: Lease;
  /** Registered, with a seat, and in touch. */
  readonly joined: boolean;
  readonly elector: boolean;
  readonly leaving: boolean;
}

/** What is news when it changes. */
export function statusText(status: AgentStatus): string {
  return `${status.leads} ${status.stage} ${status.term} ${status.slot} ${status.fencingToken} ${status.joined} ${status.elector} ${status.leaving}`;
}

/**
 * The agent's last message. `timeoutMs`: the session's; 0 if none was open. Servers may take a third longer.
 */
export function leftText(ended: boolean, timeoutMs: number): string {
  if (ended || timeoutMs === 0) return 'left the group';
  const withinS = ((timeoutMs * 4) / 3 / 1000).toFixed(1);
  return `left, but could not end the session: the session expires within ${withinS} s (later if ZooKeeper has no quorum)`;
}
