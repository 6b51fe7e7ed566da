/** The groups that an agent is in, in the form in which its HTTP interface uses them. */
import type { Agent } from '../agent/agent.js';

export interface ServedGroup {
  readonly agent: Pick<Agent, 'status' | 'snapshot' | 'session' | 'onEvent' | 'onStatus'>;
  readonly root: string;
  readonly site: string;
}

export interface ServedGroups {
  /** Groups that the agent is currently in. */
  all(): readonly ServedGroup[];
  /** Calls `listener` for each current group, and later for each group that is added. */
  onCome(listener: (group: ServedGroup) => void): void;
  onGone(listener: (root: string) => void): void;
}

/** Returns the groups of an agent that is in only one group. */
export function theOnly(group: ServedGroup): ServedGroups {
  return { all: () => [group], onCome: (listener) => listener(group), onGone() {} };
}
