/**
 * The elector's choice: which node should lead, and why. One pure function for automatic elections, retries,
 * requested switchovers and what-if questions.
 *
 * The present leader, here, is the node that `elected` names, while it is fit: not the owner of `current`, which
 * during a handover is the node on its way out.
 */
import type { ReadyStrategy } from '../../strategies/index.js';
import { durationMs, formatDuration } from './duration.js';
import { isByHand, type Obstacle, obstacles } from './eligibility.js';
import { failbackDelayMs, type GroupConfig, type SwitchoverRequest, sitePriority } from './group-config.js';
import { fromInstant } from './names.js';
import { type Claim, claimOwner, type Member } from './snapshot.js';
import type { Candidate, Ranked } from './strategy.js';
import type { Cause, Elected, FailureRecord, Place } from './znodes.js';

export interface Question {
  readonly config: GroupConfig;
  readonly strategy: ReadyStrategy;
  readonly elected: Elected;
  readonly current: Claim | null;
  readonly members: readonly Member[];
  /** Failures as they stand, with the one that is being acted on. */
  readonly failures: readonly FailureRecord[];
  /** Milliseconds since the epoch, on the ensemble's clock. */
  readonly nowMs: number;
  /** The elected node failed under the present version of `elected`. */
  readonly electedFailed: boolean;
  /** How long a node has been fit without a break, as far as the asker saw; Infinity in a what-if. */
  fitForMs(node: string): number;
  /** How long the leader has been READY, as far as the asker saw; Infinity in a what-if. */
  readonly readyForMs: number;
}

export interface Unfit {
  readonly node: string;
  readonly site: string | null;
  readonly obstacles: readonly Obstacle[];
}

export interface Choice {
  readonly node: string | null;
  /** False: what `elected` says stands, nothing is to be written. */
  readonly changes: boolean;
  readonly cause: Cause;
  /** For people. */
  readonly reason: string;
  /** The fit nodes, best first. */
  readonly ranking: readonly Ranked[];
  readonly unfit: readonly Unfit[];
  /** A wait that only the asker knows of (how long a node has been fit, say) may change the choice after so long;
   * `core/limits.ts` knows of the instants that the input itself names. */
  readonly recheckInMs: number | null;
  /** What the choice makes of the failures: a node tried again is no longer excluded. */
  readonly failures: readonly FailureRecord[];
}

/** Thrown where a strategy breaks its contract or throws: the elector cannot elect. */
export class StrategyFault extends Error {
  override readonly name = 'StrategyFault';
}

type Outcome = Pick<Choice, 'node' | 'changes' | 'cause' | 'reason'> & Partial<Choice>;

/** Decides. Throws StrategyFault when the strategy cannot rank the fit nodes. */
export function elect(question: Question): Choice {
  const { members, config, failures, nowMs } = question;
  const judged = members.map((member) => ({ member, found: obstacles(member, config, failures, nowMs) }));
  const fit = judged.filter(({ found }) => found.length === 0).map(({ member }) => member);
  const ranking = rank(question, fit);
  const unfit = judged
    .filter(({ found }) => found.length > 0)
    .map(({ member, found }) => ({ node: member.node, site: member.value?.site ?? null, obstacles: found }));
  const outcome =
    requested(question, ranking) ??
    (config.paused === null ? automatic(question, ranking, unfit) : paused(question, unfit));
  return { ranking, unfit, recheckInMs: null, failures, ...outcome };
}

/** Ranks and holds the strategy to its contract: every fit node, exactly once. */
function rank(question: Question, fit: readonly Member[]): readonly Ranked[] {
  const { strategy } = question;
  const candidates = fit.map((member) => candidate(member, question)).filter((entry) => entry !== null);
  let ranking: readonly Ranked[];
  try {
    ranking = strategy.rank({ candidates, previous: previousLeader(question) });
  } catch (cause) {
    throw new StrategyFault(`strategy ${strategy.name} failed: ${String(cause)}`, { cause });
  }
  const ranked = ranking.map(({ node }) => node).toSorted();
  const expected = candidates.map(({ node }) => node).toSorted();
  if (ranked.length !== expected.length || ranked.some((node, index) => node !== expected[index])) {
    throw new StrategyFault(
      `strategy ${strategy.name} broke its contract: it was given ${expected.join(', ') || 'nobody'} and ranked ${ranked.join(', ') || 'nobody'}`,
    );
  }
  return ranking;
}

function candidate(member: Member, { config, nowMs }: Question): Candidate | null {
  if (member.value === null) return null;
  const { site, priority, score, tags } = member.value;
  return {
    node: member.node,
    site,
    priority,
    sitePriority: sitePriority(config, site, nowMs),
    seat: member.seat,
    score,
    tags,
  };
}

/** The last node that was READY: the owner of a READY claim, else whom `elected` remembers. */
export function previousLeader({
  current,
  members,
  elected,
}: Pick<Question, 'current' | 'members' | 'elected'>): Place | null {
  if (current?.value?.status === 'READY') {
    const owner = claimOwner(current, members)?.node ?? current.value.node;
    return { node: owner, site: current.value.site };
  }
  return elected.previous;
}

/** A switchover that a person asked for, while it counts: it names the term it replaces. */
export function activeRequest(config: GroupConfig, elected: Elected): SwitchoverRequest | null {
  return config.switchover?.replacesTerm === elected.term ? config.switchover : null;
}

function requested(question: Question, ranking: readonly Ranked[]): Outcome | null {
  const request = activeRequest(question.config, question.elected);
  if (request === null) return null;
  const waitMs = request.notBefore === null ? 0 : fromInstant(request.notBefore) - question.nowMs;
  if (waitMs > 0) return null;
  const target = requestTarget(request, question, ranking);
  if (target === null || target === question.elected.node) return null;
  return {
    node: target,
    changes: true,
    cause: 'planned',
    reason: `${request.force ? 'failover' : 'switchover'} asked for by ${request.by}: ${request.reason}`,
    failures: question.failures.filter(({ node }) => node !== target),
  };
}

/** Whom a request means now; null while nobody fits it. */
export function requestTarget(
  request: SwitchoverRequest,
  { members, elected }: Pick<Question, 'members' | 'elected'>,
  ranking: readonly Ranked[],
): string | null {
  const { to, force } = request;
  const others = ranking.map(({ node }) => node).filter((node) => node !== elected.node);
  if (to === 'best-other') return others[0] ?? null;
  if ('site' in to) {
    const inSite = new Set(members.filter(({ value }) => value?.site === to.site).map(({ node }) => node));
    return others.find((node) => inSite.has(node)) ?? null;
  }
  const known = force ? members.map(({ node }) => node) : ranking.map(({ node }) => node);
  return known.includes(to.node) ? to.node : null;
}

/** Paused: nobody but the elected node may claim; after a failure it tries again, backed off. */
function paused(question: Question, unfit: readonly Unfit[]): Outcome {
  const { elected, config, electedFailed } = question;
  const why = `paused by ${config.paused?.by ?? 'somebody'}: ${config.paused?.reason ?? ''}`;
  const waits = unfit
    .find(({ node }) => node === elected.node)
    ?.obstacles.some(({ kind }) => kind === 'excluded');
  if (!electedFailed || waits === true) {
    return { node: elected.node, changes: false, cause: elected.cause, reason: why };
  }
  return { node: elected.node, changes: true, cause: 'retry', reason: `tried again while ${why}` };
}

function automatic(question: Question, ranking: readonly Ranked[], unfit: readonly Unfit[]): Outcome {
  const { elected } = question;
  const present = ranking.find(({ node }) => node === elected.node);
  if (present !== undefined && !question.electedFailed) return keepOrPrefer(question, ranking, present);
  const best = ranking[0];
  if (best !== undefined) return replace(question, best, unfit);
  return nobodyFit(question, unfit);
}

function keepOrPrefer(question: Question, ranking: readonly Ranked[], present: Ranked): Outcome {
  const { elected, config } = question;
  const keep: Outcome = { node: elected.node, changes: false, cause: elected.cause, reason: present.reason };
  const best = ranking[0];
  if (best === undefined || best.grade >= present.grade) return keep;
  const lowered = wasLowered(question);
  if (lowered !== null) {
    return { node: best.node, changes: true, cause: 'planned', reason: `${lowered}; ${best.reason}` };
  }
  const delayMs = failbackDelayMs(config);
  if (delayMs === null) {
    return { ...keep, reason: `${present.reason}; ${best.node} would be better, and failback is manual` };
  }
  const waitMs = Math.max(
    delayMs - question.fitForMs(best.node),
    durationMs(config.minTenure) - question.readyForMs,
  );
  if (waitMs > 0) {
    const reason = `${present.reason}; ${best.node} is better and takes over in ${formatDuration(waitMs)} if it stays fit`;
    return { ...keep, reason, recheckInMs: waitMs };
  }
  return {
    node: best.node,
    changes: true,
    cause: 'preference',
    reason: `better than ${present.node}: ${best.reason}`,
  };
}

/** Why a person wants the present leader to leave: a priority fell since it was elected. */
function wasLowered({ elected, config, members, nowMs }: Question): string | null {
  const leader = members.find(({ node }) => node === elected.node)?.value;
  if (leader === null || leader === undefined || elected.priorities === null) return null;
  const [siteThen, nodeThen] = elected.priorities;
  const siteNow = sitePriority(config, leader.site, nowMs);
  if (siteNow < siteThen) return `the priority of site ${leader.site} fell from ${siteThen} to ${siteNow}`;
  if (leader.priority < nodeThen) {
    return `the priority of node ${leader.node} fell from ${nodeThen} to ${leader.priority}`;
  }
  return null;
}

function replace(question: Question, best: Ranked, unfit: readonly Unfit[]): Outcome {
  const { elected, electedFailed, members } = question;
  const chosen = { node: best.node, changes: true };
  if (elected.node === null) {
    const cause: Cause = elected.previous === null ? 'first' : 'failure';
    return { ...chosen, cause, reason: best.reason };
  }
  const found = unfit.find(({ node }) => node === elected.node)?.obstacles ?? [];
  const gone = !members.some(({ node }) => node === elected.node);
  const why = gone ? 'it is gone' : found.map(({ reason }) => reason).join(', ');
  const cause: Cause = found.some(isByHand)
    ? 'planned'
    : found.some(({ kind }) => kind === 'leaving')
      ? 'shutdown'
      : electedFailed && best.node === elected.node
        ? 'retry'
        : 'failure';
  return { ...chosen, cause, reason: `instead of ${elected.node} (${why || 'it failed'}): ${best.reason}` };
}

function nobodyFit(question: Question, unfit: readonly Unfit[]): Outcome {
  const { elected } = question;
  const kept = keptWithoutAlternative(question, unfit);
  if (kept !== null) return kept;
  const retry = leastRecentlyFailed(question, unfit);
  if (retry !== null) return retry;
  const reasons = unfit.map(({ node, obstacles: found }) => {
    return `${node}: ${found.map(({ reason }) => reason).join(', ')}`;
  });
  return {
    node: null,
    changes: elected.node !== null,
    cause: 'nobody',
    reason: reasons.length === 0 ? 'no node is registered' : `nobody is fit to lead: ${reasons.join('; ')}`,
  };
}

/** A READY leader that only a rule of ours speaks against stays, rather than nobody. */
function keptWithoutAlternative(question: Question, unfit: readonly Unfit[]): Outcome | null {
  const { elected, current, members } = question;
  const leads = current?.value?.status === 'READY' && claimOwner(current, members)?.node === elected.node;
  const found = unfit.find(({ node }) => node === elected.node)?.obstacles;
  if (!leads || found === undefined) return null;
  if (found.some((one) => isByHand(one) || one.kind !== 'excluded')) return null;
  return {
    node: elected.node,
    changes: false,
    cause: elected.cause,
    reason: 'it leads, and nobody else could',
  };
}

/** When only failures keep everyone out: the one that failed longest ago, no sooner than the base time after. */
function leastRecentlyFailed(question: Question, unfit: readonly Unfit[]): Outcome | null {
  const { failures, config, nowMs } = question;
  const onlyExcluded = new Set(
    unfit
      .filter(({ obstacles: found }) => found.every(({ kind }) => kind === 'excluded'))
      .map(({ node }) => node),
  );
  const [record] = failures
    .filter(({ node }) => onlyExcluded.has(node))
    .toSorted((a, b) => fromInstant(a.failedAt) - fromInstant(b.failedAt));
  if (record === undefined) return null;
  const waitMs = fromInstant(record.failedAt) + durationMs(config.exclusion.base) - nowMs;
  const { elected } = question;
  if (waitMs > 0) {
    return {
      node: null,
      changes: elected.node !== null,
      cause: 'nobody',
      reason: `every fit node has failed; ${record.node}, which failed longest ago, is tried again in ${formatDuration(waitMs)}`,
      recheckInMs: waitMs,
    };
  }
  return {
    node: record.node,
    changes: true,
    cause: 'retry',
    reason: `every fit node has failed, and it failed longest ago (${record.reason})`,
    failures: failures.map((other) => (other === record ? { ...record, until: null } : other)),
  };
}
