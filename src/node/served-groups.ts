/** The groups that an agent is in, as far as its HTTP interface tells of them. */
import type { Agent } from '../agent/agent.js';

export interface ServedGroup {
  readonly agent: Pick<Agent, 'status' | 'snapshot' | 'session' | 'onEvent' | 'onStatus'>;
  readonly root: string;
  readonly site: string;
}

export interface ServedGroups {
  /** Those that there are at this moment. */
  all(): readonly ServedGroup[];
  /** Each that there is, and each that comes. */
  onCome(listener: (group: ServedGroup) => void): void;
  onGone(listener: (root: string) => void): void;
}

/** The one group of an agent that is in no other. */
export function theOnly(group: ServedGroup): ServedGroups {
  return { all: () => [group], onCome: (listener) => listener(group), onGone() {} };
}
