/** The groups that an agent is in, as its HTTP interface sees them. */
import type { Agent } from '../agent/agent.js';

export interface ServedGroup {
  readonly agent: Pick<Agent, 'status' | 'snapshot' | 'session' | 'onEvent' | 'onStatus'>;
  readonly root: string;
  readonly site: string;
}

export interface ServedGroups {
  /** The present groups. */
  all(): readonly ServedGroup[];
  /** Calls `listener` for each present group and for each new one. */
  onCome(listener: (group: ServedGroup) => void): void;
  onGone(listener: (root: string) => void): void;
}

/** Returns the group of an agent that is in only one. */
export function theOnly(group: ServedGroup): ServedGroups {
  return { all: () => [group], onCome: (listener) => listener(group), onGone() {} };
}
