/** Builds small parts of a group's state. Everything that a test does not set has a default. */

import type { z } from 'zod';
import { elect } from '../../src/core/choice.js';
import type { Choice, ChoiceInput } from '../../src/core/choice-input.js';
import {
  contextOf,
  type Findings,
  findingsOf,
  type IneligibleReason,
  judgeAll,
} from '../../src/core/constraint.js';
import { nowhereElse } from '../../src/core/elsewhere.js';
import { activeRequest } from '../../src/core/requests.js';
import { type GroupConfig, groupConfigSchema } from '../../src/model/group-config.js';
import { toInstant } from '../../src/model/names.js';
import type { Neighbour } from '../../src/model/neighbour.js';
import { prepareStrategy } from '../../src/model/read-config.js';
import { newRegistration, type Registration } from '../../src/model/registration.js';
import type { Claim, GroupSnapshot, Member, Versioned } from '../../src/model/snapshot.js';
import type { Conditions } from '../../src/model/strategy.js';
import {
  type ClaimContent,
  type Elected,
  type FailureRecord,
  initialElected,
  initialHistoryHead,
} from '../../src/model/znodes.js';
import { constraints } from '../../strategies/constraints/index.js';
import type { ReadyStrategy } from '../../strategies/index.js';
import { builtInRules } from '../../strategies/index.js';

/** Time on the ensemble's clock at instant 0 of the tests. */
export const epoch0Ms = Date.UTC(2026, 0, 1);
export const instant = (ms: number) => toInstant(epoch0Ms + ms);
/** Details of a failed takeover hook. */
export const takeoverDetail = {
  phase: 'takeover',
  reason: 'exit code 1',
  command: null,
  exitCode: 1,
  signal: null,
  durationMs: 1,
  outputTail: [],
};
export const byHand = { by: 'ops', reason: 'maintenance', at: instant(0) };

/** Conditions of a planned decision at midnight, in a group of three nodes. */
export const ordinary: Conditions = {
  after: 'planned',
  failedSite: null,
  minuteOfDay: 0,
  registered: 3,
  eligible: 3,
  flags: [],
};

export function config(change: z.input<typeof groupConfigSchema> = {}): GroupConfig {
  return groupConfigSchema.parse(change);
}

export function strategyOf(settings: GroupConfig): ReadyStrategy {
  const { strategy, problems } = prepareStrategy(settings, builtInRules);
  if (strategy === null) throw new Error(problems.join());
  return strategy;
}

export function versioned<T>(value: T, version = 1, modifiedAtMs = epoch0Ms): Versioned<T> {
  return { value, problem: null, version, modifiedAtMs };
}

export function unreadable(version = 1): Versioned<never> {
  return { value: null, problem: 'invalid JSON', version, modifiedAtMs: epoch0Ms };
}

/** Returns a registration. The node's site is its name without digits: a1 is in site a. */
export function registration(node: string, change: Partial<Registration> = {}): Registration {
  const site = node.replace(/\d+$/, '');
  const host = { name: `host-${node}`, pid: 1 };
  const described = { node, site, priority: 100, tags: {}, strategies: {}, version: '0.1.0', host };
  const life = { incarnation: `${node}-life1`, startedAt: instant(0) };
  return { ...newRegistration(described, life), ...change };
}

export const unhealthy: Partial<Registration> = { health: { ok: false, reason: 'disk full' } };

/** Returns the bytes of the name as a number, so that each node has its own session. */
export function sessionOf(node: string): bigint {
  return BigInt(`0x${Buffer.from(node).toString('hex')}`);
}

export function member(
  node: string,
  change: Partial<Registration> = {},
  place: Partial<Pick<Member, 'owner' | 'seat' | 'version'>> = {},
): Member {
  const where = { node, owner: sessionOf(node), seat: 0 };
  return { ...versioned(registration(node, change)), ...where, ...place };
}

export function members(...nodes: (string | Member)[]): Member[] {
  return nodes.map((node, seat) => (typeof node === 'string' ? member(node, {}, { seat }) : node));
}

export function decided(change: Partial<Elected> = {}): Elected {
  const { node = null } = change;
  return { ...initialElected, site: node === null ? null : registration(node).site, ...change };
}

export interface ClaimChange {
  readonly resumes?: ClaimContent['resumes'];
  readonly status?: 'PROGRESS' | 'READY';
  readonly token?: bigint;
  readonly term?: number;
  readonly version?: number;
  readonly owner?: bigint;
}

export function claim(node: string, change: ClaimChange = {}): Claim {
  const { status = 'READY', token = 100n, term = 1, version = 1, owner = sessionOf(node) } = change;
  const { resumes = null } = change;
  const { site, incarnation } = registration(node);
  const content = { node, site, incarnation, status, term, electedVersion: 1, resumes };
  return { ...versioned(content, version), token, owner, createdAtMs: epoch0Ms };
}

export function failure(node: string, change: Partial<FailureRecord> = {}): FailureRecord {
  const failedAt = change.failedAt ?? instant(0);
  return {
    node,
    incarnation: `${node}-life1`,
    count: 1,
    reason: 'takeover failed: exit code 1',
    failedAt,
    until: toInstant(Date.parse(failedAt) + 10_000),
    restarted: false,
    ...change,
  };
}

export function group(change: Partial<GroupSnapshot> = {}): GroupSnapshot {
  return {
    config: versioned(config()),
    elected: versioned(decided()),
    current: null,
    self: null,
    seat: { name: 'a1-0000000000', version: 0, below: null, second: false },
    members: null,
    history: versioned(initialHistoryHead),
    ...change,
  };
}

export interface ChoiceCase extends Omit<ChoiceInput, 'judged' | 'request' | keyof Findings> {
  readonly neighbour: Neighbour | null;
}

/**
 * Runs `elect` for these members. By default every node has always been eligible, and the elected node has
 * always been READY.
 */
export function ask(change: Partial<ChoiceCase> & Pick<ChoiceInput, 'members'>): Choice {
  const settings = change.config ?? config();
  const question = {
    config: settings,
    strategy: strategyOf(settings),
    neighbour: null,
    elsewhere: nowhereElse,
    previous: null,
    elected: decided(),
    current: null,
    failures: [],
    epochMs: epoch0Ms,
    electedFailed: false,
    eligibleForMs: () => Number.POSITIVE_INFINITY,
    betterForMs: () => Number.POSITIVE_INFINITY,
    lookedForMs: Number.POSITIVE_INFINITY,
    readyForMs: Number.POSITIVE_INFINITY,
    ...change,
  };
  const { elected, electedFailed, neighbour } = question;
  const request = activeRequest(settings, elected);
  const context = contextOf({ ...question, snapshot: { neighbour } });
  const judged = judgeAll(change.members, constraints, context);
  return elect({ ...question, request, judged, ...findingsOf(judged, elected, electedFailed) });
}

/** Returns the reasons why a node is ineligible. */
export function ineligibleReasons(
  one: Member,
  settings: GroupConfig,
  failures: readonly FailureRecord[],
  nowMs: number,
): readonly IneligibleReason[] {
  const where = { snapshot: {}, elsewhere: nowhereElse, elected: decided() };
  const context = contextOf({ config: settings, failures, epochMs: nowMs, ...where });
  return judgeAll([one], constraints, context).flatMap((judged) => judged.ineligibleReasons);
}

/** Returns all subsets of `items`. The first one is empty. */
export function subsets<T>(items: readonly T[]): T[][] {
  const [first, ...rest] = items;
  if (first === undefined) return [[]];
  const without = subsets(rest);
  return [...without, ...without.map((some) => [first, ...some])];
}
