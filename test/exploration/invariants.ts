/**
 * Checks those invariants of the protocol that must hold at every instant, as far as a single world or a
 * single write can violate them.
 */

import { isInBackoff } from '../../src/core/backoff.js';
import { durationMs } from '../../src/model/duration.js';
import { fromInstant } from '../../src/model/names.js';
import type { Elected } from '../../src/model/znodes.js';
import { epoch0Ms, ineligibleReasons } from '../core/builders.js';
import type { Agent, Request, Tree, World } from './world.js';

/** Checks invariant 2: no two workloads run at the same time. Returns the violation, or null. */
export function judgeWork(world: World): string | null {
  let working: Agent | null = null;
  for (const agent of world.agents) {
    if (agent.work === null) continue;
    if (working !== null) {
      return `two nodes work at once: ${working.node} under token ${working.work}, ${agent.node} under ${agent.work}`;
    }
    working = agent;
  }
  return null;
}

/** Returns the violation that a write causes, or null. The write was applied to `before`. */
export function judgeWrite(before: World, agent: Agent, request: Request, after: World): string | null {
  const { purpose } = request;
  switch (purpose.for) {
    case 'claim':
      return judgeClaim(before, agent, purpose.electedVersion, purpose.elected.term);
    case 'ready':
      return judgeReady(before, agent);
    case 'decide-and-claim':
      return judgeElected(before, after) ?? judgeClaimWithDecision(before, agent, purpose);
    case 'elected':
      return judgeElected(before, after);
    case 'give-away':
      if (before.tree.current?.owner === agent.session) {
        return agent.work === null ? null : `${agent.node} gives its claim away while its workload may live`;
      }
      return `${agent.node} deletes a claim that another made`;
    case 'hand-over':
      return judgeHandover(before, agent, after);
    case 'remove-fenced':
      return judgeRemoval(before, purpose.fence.token);
    default:
      return before.tree.current === after.tree.current || purpose.for === 'tree'
        ? null
        : `${agent.node} changes the claim by ${purpose.for}`;
  }
}

/**
 * Checks that a leader which leaves deletes nothing but its own claim, and elects a node that the elector
 * could elect at this moment. Returns the violation, or null.
 */
function judgeHandover(before: World, agent: Agent, after: World): string | null {
  const { tree } = before;
  const decision = after.tree.elected?.value;
  if (tree.current?.owner !== agent.session) return `${agent.node} hands over a claim that another made`;
  if (agent.work !== null) return `${agent.node} hands over while its workload may live`;
  const next = tree.members.find(({ node }) => node === decision?.node);
  const group = tree.config?.value;
  const was = tree.elected?.value;
  if (decision == null || group == null || was == null) return 'a handover without a group';
  if (next === undefined) return `${agent.node} hands over to ${decision.node}, which is not registered`;
  if (was.node !== agent.node) return `${agent.node} hands over while ${was.node} is elected`;
  const found = ineligibleReasons(next, group, was.failures, epoch0Ms + before.nowMs + before.skewMs);
  if (found.length > 0)
    return `${agent.node} hands over to ${next.node}: ${found.map(({ reason }) => reason).join(', ')}`;
  if (group.paused !== null) return `${agent.node} hands over in a paused group`;
  const published = tree.successor?.value?.prepared?.decision ?? null;
  if (JSON.stringify(published) !== JSON.stringify(decision))
    return `${agent.node} hands over by a decision that the elector has replaced`;
  const { switchover } = group;
  const isMeant = switchover?.to !== 'best-other' && switchover?.to !== undefined && 'node' in switchover.to;
  if (isMeant && switchover.replacesTerm === was.term)
    return `${agent.node} hands over to ${next.node} although a switchover is requested`;
  if (!tree.seats.some(({ node }) => node === next.node)) return `${next.node} has no seat to be notified at`;
  return judgeElected(before, after);
}

function judgeClaim({ tree }: World, agent: Agent, version: number, term: number): string | null {
  if (tree.elected?.value?.node !== agent.node) {
    return `${agent.node} claims while ${tree.elected?.value?.node} is elected`;
  }
  if (tree.elected.value.term !== term) return `${agent.node} claims under a term that was not decided`;
  const reported = tree.members.find(({ node }) => node === agent.node)?.value?.lastFailure;
  const own = agent.failedUnder === version || reported?.electedVersion === version;
  return own ? `${agent.node} claims again under version ${version} of elected, in which it failed` : null;
}

/**
 * Checks that an elector which elects its own node and claims in one write has read the decision that it
 * replaces, and that no operator has objected in the meantime. Returns the violation, or null.
 */
function judgeClaimWithDecision(
  { tree, nowMs, skewMs }: World,
  { node, session }: Agent,
  { elected, electedVersion, view }: Extract<Request['purpose'], { for: 'claim' | 'decide-and-claim' }>,
): string | null {
  const was = tree.elected;
  if (elected.node !== node) return `${node} claims in the write that elects ${elected.node}`;
  if (!tree.seats.some(({ owner }) => owner === session)) return `${node} elects itself without a seat`;
  if (was === null || was.version + 1 !== electedVersion)
    return `${node} elects itself over a decision that it has not read`;
  const group = tree.config?.value;
  const to = group?.switchover?.replacesTerm === was.value?.term ? group?.switchover?.to : undefined;
  const requested = typeof to === 'object' && 'node' in to ? to.node : null;
  if (group == null || requested === node) return null;
  if (group.paused !== null && was.value?.node !== node) return `${node} elects itself in a paused group`;
  const isEligible = ({ members }: Tree) => {
    const target = members.find((one) => one.node === requested);
    if (target === undefined) return false;
    return ineligibleReasons(target, group, elected.failures, epoch0Ms + nowMs + skewMs).length === 0;
  };
  if (!isEligible(view) || !isEligible(tree)) return null;
  return `${node} elects itself although ${requested} is requested`;
}

/**
 * Checks invariant 4: only the elected node becomes READY, in its own claim. Returns the violation, or null.
 */
function judgeReady({ tree }: World, agent: Agent): string | null {
  if (tree.current?.owner !== agent.session) return `${agent.node} says READY in a claim that another made`;
  const elected = tree.elected?.value?.node;
  return elected === agent.node ? null : `${agent.node} says READY while ${elected} is elected`;
}

function judgeRemoval({ tree, agents }: World, token: bigint): string | null {
  if (tree.current?.token !== token) return 'a claim is removed that was not fenced';
  const owner = agents.find(({ work }) => work === token);
  return owner === undefined ? null : `a fenced claim is removed while ${owner.node} still works under it`;
}

function judgeElected(before: World, after: World): string | null {
  const was = before.tree.elected?.value ?? null;
  const is = after.tree.elected?.value ?? null;
  if (was === null || is === null) return null;
  if (is.term < was.term) return `the term falls from ${was.term} to ${is.term}`;
  if (is.node !== was.node && is.term <= before.newestTerm && before.newestTerm > 0) {
    return `${is.node ?? 'nobody'} is elected under term ${is.term}, and there was a term ${before.newestTerm}`;
  }
  return judgeLimits(was, is, before);
}

/**
 * Checks invariant 8 for one write: a rewritten decision never extends a backoff, and no backoff is longer
 * than `backoff.max`. Returns the violation, or null.
 */
function judgeLimits(was: Elected, is: Elected, { tree }: World): string | null {
  const maxMs = durationMs(tree.config?.value?.backoff.max ?? '10m');
  for (const record of is.failures) {
    const earlier = was.failures.find(
      ({ node, failedAt, count }) =>
        node === record.node && failedAt === record.failedAt && count === record.count,
    );
    if (record.until === null) continue;
    const until = fromInstant(record.until);
    if (earlier !== undefined && (earlier.until === null || fromInstant(earlier.until) < until)) {
      return `the backoff of ${record.node} is made longer by a rewrite`;
    }
    if (until - fromInstant(record.failedAt) > maxMs) return `the backoff of ${record.node} is too long`;
  }
  return null;
}

/**
 * Checks invariant 3: a workload starts only under a newer token than all before. Returns the violation, or
 * null.
 */
export function judgeToken(world: World, token: bigint): string | null {
  return token > world.newestWork ? null : `token ${token} is led under after token ${world.newestWork}`;
}

/**
 * Time that a backoff may last beyond its length, because the clocks of the servers may differ by this much.
 */
const toleranceMs = 10_000;

/**
 * Checks invariant 8 for one world: no node is in backoff for longer than `backoff.max`, even if the
 * ensemble's clock is set. Returns the violation, or null.
 */
export function judgeBackoffs({ tree, nowMs, skewMs }: World): string | null {
  const failures = tree.elected?.value?.failures ?? [];
  if (failures.length === 0 || skewMs === 0) return null;
  const maxMs = durationMs(tree.config?.value?.backoff.max ?? '10m');
  const late = failures.find((record) => {
    const leftMs = fromInstant(record.until ?? record.failedAt) - (epoch0Ms + nowMs + skewMs);
    return leftMs > maxMs + toleranceMs && isInBackoff(record, epoch0Ms + nowMs + skewMs);
  });
  return late === undefined
    ? null
    : `${late.node} is in backoff until ${late.until}, though no backoff is that long`;
}
