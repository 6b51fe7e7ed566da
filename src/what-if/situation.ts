/**
 * The input of a simulation: a group, and which nodes are lost. `petrel-lab` adds groups that a file
 * describes.
 */

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
  /** Milliseconds since the epoch, on the ensemble's clock. */
  readonly nowMs: number;
  readonly lost: ReadonlySet<string>;
  /** Number of nodes in the group, including those that are down. */
  readonly size: number;
  /** Name of the score that gives a node's rate of requests. */
  readonly load: string;
  /** For operators: what the result is based on. */
  readonly notes: readonly string[];
}

export interface Assumed {
  /** Entries of the form `node=NODE` or `site=SITE`. */
  readonly lose: readonly string[];
  readonly size: number | undefined;
}

/** `nowMs` is in milliseconds since the epoch, on the ensemble's clock. Throws PetrelError INVALID. */
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

/** Whether the previous leader is absent. It counts as a node of the group, as strategies also assume. */
function leaderIsMissing(view: GroupView): boolean {
  const previous = previousLeader(view, view.members);
  return previous !== null && !view.members.some(({ node }) => node === previous.node);
}

/**
 * Returns `given`, or else the option `size` of the group's own strategy, or else the number of known nodes.
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

/** Returns the name of the score that the group's own strategy uses as a node's rate of requests. */
export function loadOf({ load }: Record<string, unknown>): string {
  return typeof load === 'string' ? load : requestsScore;
}
