/** What a what-if is about: a group, and who is lost. `petrel-lab` adds groups that a file describes. */

import { previousLeader } from '../core/records.js';
import { PetrelError } from '../errors.js';
import { readableConfig } from '../group/judge.js';
import type { GroupView } from '../group/view.js';
import { firstOf } from '../model/outside.js';
import { requestsScore } from '../model/scores.js';
import { lostNodes } from './losses.js';

export interface Situation {
  /** The file, or the root of the group. */
  readonly of: string;
  readonly view: GroupView;
  /** On the ensemble's clock, since the epoch. */
  readonly nowMs: number;
  readonly lost: ReadonlySet<string>;
  /** How many nodes the group has, those that are down too. */
  readonly size: number;
  /** Name of the score that tells a node's rate of requests. */
  readonly load: string;
  /** For people: what the answer rests on. */
  readonly notes: readonly string[];
}

export interface Assumed {
  /** `node=NODE` or `site=SITE`, each. */
  readonly lose: readonly string[];
  readonly size: number | undefined;
}

/** `nowMs`: on the ensemble's clock, since the epoch. Throws PetrelError INVALID. */
export function liveSituation(view: GroupView, nowMs: number, { lose, size }: Assumed): Situation {
  const places = view.members.map(({ node, value }) => ({ node, site: value?.site ?? null }));
  const options = readableConfig(view).strategyOptions;
  return {
    of: view.paths.root,
    view,
    nowMs,
    lost: lostNodes(lose, places, '--lose'),
    size: sizeOf(size, options, places.length + (leaderIsMissing(view) ? 1 : 0)),
    load: loadOf(options),
    notes: firstOf(view.problems.map(({ path, problem }) => `${path}: ${problem}`)),
  };
}

/** Whoever led last and is not there was a node of the group, as strategies reckon too. */
function leaderIsMissing(view: GroupView): boolean {
  const previous = previousLeader(view, view.members);
  return previous !== null && !view.members.some(({ node }) => node === previous.node);
}

/**
 * What is `given`, else what the group's own strategy is told in its option `size`, else how many are known.
 */
export function sizeOf(given: number | undefined, { size }: Record<string, unknown>, known: number): number {
  if (given === undefined)
    return typeof size === 'number' && Number.isSafeInteger(size) && size > 0 ? size : known;
  if (given >= known) return given;
  throw new PetrelError(
    'INVALID',
    `--size: too small, because the group already has ${known} nodes (including lost nodes)`,
  );
}

/** Name of the score that the group's own strategy takes for a node's rate of requests. */
export function loadOf({ load }: Record<string, unknown>): string {
  return typeof load === 'string' ? load : requestsScore;
}
