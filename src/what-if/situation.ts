/**
 * The input for a simulation: a group, and the nodes that are lost. `petrel-lab` adds groups that are
 * described in a file.
 */

import { previousLeader } from '../core/effective-decision.js';
import { PetrelError } from '../errors.js';
import { readableConfig } from '../group/judge.js';
import type { GroupView } from '../group/view.js';
import { firstOf } from '../model/outside.js';
import { requestsScore } from '../model/scores.js';
import { lostNodes } from './losses.js';

export interface Situation {
  /** Name of the file, or root of the group. */
  readonly of: string;
  readonly view: GroupView;
  /** Current time on the ensemble's clock, in milliseconds since the epoch. */
  readonly nowMs: number;
  readonly lost: ReadonlySet<string>;
  /** Number of nodes in the group, including those that are down. */
  readonly size: number;
  /** Name of the score that contains a node's rate of requests. */
  readonly load: string;
  /** Notes for operators about the data on which the result is based. */
  readonly notes: readonly string[];
}

export interface Assumed {
  /** Nodes and sites that are assumed to be lost, in the form `node=NODE` or `site=SITE`. */
  readonly lose: readonly string[];
  readonly size: number | undefined;
}

/**
 * Returns the situation of an existing group. `nowMs` is the current time on the ensemble's clock, in
 * milliseconds since the epoch. Throws PetrelError INVALID if the assumed losses or size are invalid.
 */
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

/**
 * Whether the previous leader is no longer registered. Such a leader still counts as a node of the group, as
 * it does for strategies.
 */
function leaderIsMissing(view: GroupView): boolean {
  const previous = previousLeader(view, view.members);
  return previous !== null && !view.members.some(({ node }) => node === previous.node);
}

/**
 * Returns `given`. If `given` is missing, returns the option `size` of the group's own strategy. If that is
 * missing too, returns the number of known nodes. Throws PetrelError INVALID if `given` is too small.
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
