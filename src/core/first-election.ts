/**
 * The first election of a group. No leader exists yet and none was lost, so this election may wait for nodes
 * that are still starting. Later elections never wait, especially not after a crash.
 */

import { durationMs, formatDuration } from '../model/duration.js';
import type { GroupConfig } from '../model/group-config.js';
import type { Member } from '../model/snapshot.js';
import type { Ranked } from '../model/strategy.js';
import type { Elected, Place } from '../model/znodes.js';
import type { Elsewhere } from './elsewhere.js';

interface FirstElectionInput {
  readonly elected: Elected;
  readonly previous: Place | null;
  readonly config: GroupConfig;
  readonly strategy: { readonly usesScores?: boolean | undefined };
  readonly members: readonly Member[];
  readonly elsewhere: Elsewhere;
}

/** Whether no node has ever been elected. */
export function isFirst({
  elected,
  previous,
  elsewhere,
}: Pick<FirstElectionInput, 'elected' | 'previous' | 'elsewhere'>): boolean {
  if (!elsewhere.isUntouched) return false;
  return elected.term === 0 && elected.node === null && previous === null;
}

export interface Awaited {
  /** Time after which the election is held in any case. */
  readonly leftMs: number;
  /** What the election waits for, as text for display. */
  readonly reason: string;
}

/**
 * Returns what the first election waits for. Returns null if it does not wait. `lookedForMs` is how long the
 * elector has observed the group.
 */
export function awaited(
  { elected, previous, config, strategy, members, elsewhere }: FirstElectionInput,
  ranking: readonly Ranked[],
  lookedForMs: number,
): Awaited | null {
  const { nodes, within } = config.firstElection;
  const leftMs = durationMs(within) - lookedForMs;
  if (!isFirst({ elected, previous, elsewhere }) || leftMs <= 0) return null;
  const silent = members.filter(({ scores }) => strategy.usesScores === true && scores === undefined);
  const unheard = new Set(silent.map(({ node }) => node));
  const there = ranking.filter(({ node }) => !unheard.has(node)).length;
  if (there >= nodes) return null;
  const kind = `eligible node${nodes === 1 ? '' : 's'}${strategy.usesScores === true ? ' with scores' : ''}`;
  const until = `${there} so far, at most ${formatDuration(leftMs)} more`;
  return { leftMs, reason: `the first election waits for ${nodes} ${kind}: ${until}` };
}
