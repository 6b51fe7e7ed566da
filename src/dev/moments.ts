/**
 * Defines how to recognize each step of a change of leader from outside, and how to stop the group at that
 * step.
 */

import type { Write, WriteOperation } from '../embedded/commit.js';
import type { Moment } from '../embedded/standstill.js';
import { parseJson } from '../model/names.js';
import type { GroupPaths } from '../model/paths.js';
import { registrationSchema } from '../model/registration.js';
import { claimSchema, electedSchema, historyRecordSchema } from '../model/znodes.js';
import type { StepName } from './crash-points.js';
import type { HookPhase } from './hooks.js';

/** The nodes that have a role in a change of leader. */
export interface Cast {
  /** The elector. It is neither the leader nor the candidate. */
  readonly elector: string;
  /** The leader before the change. Null in a first election. */
  readonly leader: string | null;
  readonly candidate: string;
}

export type Sign =
  /**
   * ZooKeeper receives a write for which `matches` returns true, and pauses before or after applying the
   * write.
   */
  | { readonly at: Moment; matches(write: Write): boolean }
  /** This hook is running on this node. The hook is prevented from ending. */
  | { readonly runs: HookPhase; readonly on: string };

/** Returns the sign by which to recognize a step. `term` is the term at the beginning of the transition. */
export function signOf(step: StepName, cast: Cast, paths: GroupPaths, term: number): Sign {
  const { candidate } = cast;
  const leader = cast.leader ?? '';
  const deletesClaim = (node: string) => (write: Write) =>
    has(write, 'delete', paths.current) && has(write, 'setData', paths.node(node));
  const says = (status: 'PROGRESS' | 'READY') => (write: Write) => {
    const claim = parseJson(claimSchema, written(write, paths.current)).value;
    return claim?.node === candidate && claim.status === status;
  };
  switch (step) {
    case 'leaving-announced':
      return { at: 'committed', matches: (write) => isDraining(write, paths.node(leader)) };
    case 'decided':
      return { at: 'committed', matches: (write) => electedIn(write, paths, term)?.node === candidate };
    case 'prepare-started':
      return { runs: 'prepare', on: candidate };
    case 'release-started':
      return { runs: 'release', on: leader };
    case 'release-ended':
      return { at: 'arrived', matches: deletesClaim(leader) };
    case 'claim-deleted':
      return { at: 'committed', matches: deletesClaim(leader) };
    case 'claim-created':
      return { at: 'committed', matches: says('PROGRESS') };
    case 'takeover-started':
      return { runs: 'takeover', on: candidate };
    case 'takeover-ended':
      return { at: 'arrived', matches: says('READY') };
    case 'undo-started':
      return { runs: 'release', on: candidate };
    case 'undo-ended':
      return { at: 'arrived', matches: deletesClaim(candidate) };
    case 'failure-reported':
      return { at: 'committed', matches: deletesClaim(candidate) };
    case 'decided-again':
      return { at: 'committed', matches: (write) => isSuccessor(write, candidate, paths, term) };
    case 'ready-written':
      return { at: 'committed', matches: says('READY') };
    case 'recorded':
      return { at: 'committed', matches: (write) => isRecord(write, paths, term) };
  }
}

function operationOn({ operations }: Write, path: string): WriteOperation | undefined {
  return operations.find((operation) => operation.path === path && operation.type !== 'check');
}

function has(write: Write, type: WriteOperation['type'], path: string): boolean {
  return operationOn(write, path)?.type === type;
}

function written(write: Write, path: string): string {
  return operationOn(write, path)?.data?.toString('utf8') ?? '';
}

function isDraining(write: Write, path: string): boolean {
  return parseJson(registrationSchema, written(write, path)).value?.draining === true;
}

/**
 * Returns the decision in the write. Returns null if the write contains no decision with a term greater than
 * `term`.
 */
function electedIn(write: Write, paths: GroupPaths, term: number) {
  const elected = parseJson(electedSchema, written(write, paths.elected)).value;
  return elected !== null && elected.term > term ? elected : null;
}

function isSuccessor(write: Write, candidate: string, paths: GroupPaths, term: number): boolean {
  const elected = electedIn(write, paths, term);
  return elected !== null && elected.node !== null && elected.node !== candidate;
}

function isRecord({ operations }: Write, paths: GroupPaths, term: number): boolean {
  const record = operations.find(
    ({ type, path }) => type === 'create' && path.startsWith(paths.historyPrefix),
  );
  const found = parseJson(historyRecordSchema, record?.data?.toString('utf8') ?? '').value;
  return found?.kind === 'transition' && found.term > term;
}
