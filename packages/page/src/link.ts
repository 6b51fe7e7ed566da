/**
 * The state of the connection to the agent, and the age of the displayed status. A page that presents old
 * data as current is worse than no page.
 */
import { wholeText } from './times.js';

export interface Link {
  readonly state: /** No status has arrived yet. */
    | 'connecting'
    | 'live'
    /** The agent responds, but it has lost its connection to ZooKeeper. */
    | 'out-of-touch'
    /** The agent responds and is connected to ZooKeeper, but is not allowed to read the group. */
    | 'refused'
    /** The agent does not respond. */
    | 'lost';
  /**
   * Instant at which the displayed status was last known to be current, on the page's own monotonic clock.
   */
  readonly heldAtMs: number;
  /** Reason why the link is not live. Empty if it is live. */
  readonly reason: string;
}

export const noLink: Link = { state: 'connecting', heldAtMs: 0, reason: '' };

/**
 * The agent sends a heartbeat at least every 5 s. After `quietMs` without a heartbeat, the page shows how
 * long the silence has lasted. After `silenceMs`, the page treats the connection as lost.
 */
const quietMs = 6_000;
export const silenceMs = 12_000;

/**
 * Records that data has arrived from the agent. If the link is live, the data shows that the status is still
 * current.
 */
export function received(link: Link, nowMs: number): Link {
  return link.state === 'live' ? { ...link, heldAtMs: nowMs } : link;
}

export function broken(link: Link, state: 'out-of-touch' | 'refused' | 'lost', reason: string): Link {
  return { ...link, state, reason };
}

export interface LinkText {
  readonly label: string;
  readonly detail: string;
}

export function linkText({ state, heldAtMs, reason }: Link, nowMs: number): LinkText {
  const age = heldAtMs === 0 ? 'No data yet' : `The data is ${wholeText(nowMs - heldAtMs)} old`;
  switch (state) {
    case 'connecting':
      return { label: 'connecting', detail: '' };
    case 'live': {
      const silentMs = nowMs - heldAtMs;
      return { label: silentMs < quietMs ? 'live' : `no update for ${wholeText(silentMs)}`, detail: '' };
    }
    case 'out-of-touch':
      return {
        label: 'agent disconnected from ZooKeeper',
        detail: `${age}. The agent has lost its connection to ZooKeeper: ${reason}.`,
      };
    case 'refused':
      return { label: 'agent lacks permission', detail: `${age}. ${reason}.` };
    case 'lost':
      return {
        label: 'connection lost',
        detail: `${age}. The agent does not respond (${reason}). Reconnecting.`,
      };
  }
}
