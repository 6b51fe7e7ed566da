/** What the elector would choose, as an operator's process can tell: by the same function, from what it read. */
import type { ReadyStrategy } from '../../strategies/index.js';
import { writeDuration } from '../core/duration.js';
import { type Choice, elect, type Question, StrategyFault } from '../core/elect.js';
import { failureOf } from '../core/eligibility.js';
import { readyNode, settleFailures } from '../core/failures.js';
import { awaited } from '../core/first-election.js';
import { failbackDelayMs, type GroupConfig } from '../core/group-config.js';
import { prepareStrategy } from '../core/read-config.js';
import { previousLeader } from '../core/records.js';
import { resignationHoldMs } from '../core/resignation.js';
import { electedOrRestored } from '../core/restored.js';
import type { Claim, Member } from '../core/snapshot.js';
import type { Elected, FailureRecord } from '../core/znodes.js';
import { PetrelError } from '../errors.js';
import type { GroupView } from './view.js';

export interface WhatIf {
  /** Nodes that are thought away. */
  readonly without?: readonly string[];
  /** Sites whose nodes are thought away. */
  readonly withoutSites?: readonly string[];
  /** Instead of the group's own. */
  readonly strategy?: ReadyStrategy;
}

/**
 * The choice at `nowMs` (epoch, the ensemble's clock). How long a node has been fit only the elector knows: it is
 * taken to be long enough.
 * Throws PetrelError: INVALID where the configuration cannot be read or names no strategy known here, FAILED where
 * the strategy cannot rank.
 */
export function judge(view: GroupView, nowMs: number, whatIf: WhatIf = {}): Choice {
  const config = readableConfig(view);
  const members = remaining(view, whatIf);
  const current = ownedBy(view.current, members);
  const elected = electedOrRestored(view);
  const leads = readyNode(current, members) === elected.node;
  try {
    const question: Question = {
      config,
      strategy: whatIf.strategy ?? strategyOf(config),
      elected,
      current,
      previous: previousLeader(view, view.members),
      members,
      failures: settleFailures(elected.failures, members, current, config, nowMs),
      nowMs,
      electedFailed: !leads && electedFailed(view, elected),
      fitForMs: () => Number.POSITIVE_INFINITY,
      betterForMs: () => Number.POSITIVE_INFINITY,
      lookedForMs: Number.POSITIVE_INFINITY,
      readyForMs: leads && current !== null ? nowMs - current.modifiedAtMs : null,
    };
    const choice = elect(question);
    const wait = waitText(question, choice);
    return wait === null ? choice : { ...choice, reason: `${choice.reason}; ${wait}` };
  } catch (error) {
    if (!(error instanceof StrategyFault)) throw error;
    throw new PetrelError('FAILED', error.message, { cause: error });
  }
}

/** The choice is to move leadership to a better node, which the group puts off until that has been fit, or better, for long. */
export function isPutOff(
  { changes, cause }: Choice,
  config: GroupConfig,
  strategy: ReadyStrategy | null = prepareStrategy(config).strategy,
): boolean {
  const isLong = config.failback.startsWith('after:') || strategy?.usesScores === true;
  return changes && cause === 'preference' && isLong;
}

/** What only the elector can tell the end of. */
function waitText(question: Question, choice: Choice): string | null {
  const { config, strategy } = question;
  if (choice.cause === 'first') return awaited(question, choice.ranking, 0)?.reason ?? null;
  if (!isPutOff(choice, config, strategy)) return null;
  const counted = 'without a break, which its elector counts';
  if (strategy.usesScores !== true) {
    return `not before it has been fit for ${config.failback.slice('after:'.length)} ${counted}`;
  }
  const holdMs = resignationHoldMs(config, failbackDelayMs(config) ?? 0);
  return `not before it has been better for ${writeDuration(holdMs)} ${counted}`;
}

/** The failures as they stand now: forgiven and outlived ones are gone. */
export function standingFailures(view: GroupView, config: GroupConfig, nowMs: number): FailureRecord[] {
  return settleFailures(electedOrRestored(view).failures, view.members, view.current, config, nowMs);
}

/** Throws PetrelError INVALID where it cannot be read. */
export function readableConfig({ config, paths }: GroupView): GroupConfig {
  if (config.value !== null) return config.value;
  throw new PetrelError(
    'INVALID',
    `the group's configuration, ${paths.config}, cannot be read: ${config.problem}; repair it with petrel config edit`,
  );
}

function strategyOf(config: GroupConfig): ReadyStrategy {
  const { strategy, problems } = prepareStrategy(config);
  if (strategy !== null) return strategy;
  throw new PetrelError('INVALID', `the group's strategy cannot be used here: ${problems.join('; ')}`, {
    reasons: problems,
  });
}

function remaining({ members }: GroupView, { without = [], withoutSites = [] }: WhatIf): Member[] {
  return members.filter(({ node, value }) => {
    return !without.includes(node) && !(value !== null && withoutSites.includes(value.site));
  });
}

/** A node that is thought away takes its claim with it. */
function ownedBy(claim: Claim | null, members: readonly Member[]): Claim | null {
  return claim !== null && members.some(({ owner }) => owner === claim.owner) ? claim : null;
}

function electedFailed({ members, elected: { version } }: GroupView, elected: Elected): boolean {
  if (elected.node === null) return false;
  const own = members.find(({ node }) => node === elected.node)?.value?.lastFailure;
  return own?.electedVersion === version || failureOf(elected.failures, elected.node)?.until != null;
}
