/**
 * Rules about leaders that lose their lease and return. The second loss counts against the leader if the
 * elector was connected in the meantime and is another node.
 */
import { durationMs } from '../../src/model/duration.js';
import type { ClaimSeen, Picture } from './ledger.js';
import type { RuleContext, Step } from './rules.js';
import { hasCandidate } from './rules-of-claims.js';
import { isGivenUp } from './slots-seen.js';

/** Factor that allows for clocks of different rates. */
const slack = 0.9;

/** A leadership that has ended. */
interface Ended {
  readonly node: string;
  readonly term: number;
  readonly goneMs: number;
}

export interface LeaseLosses {
  watch(step: Step): void;
  /** Whether the elected node may be blamed for another lease loss. */
  areGrounds(node: string, step: Step): boolean;
}

export function leaseLossesOf(context: RuleContext): LeaseLosses {
  const { promptMs, setup } = context;
  const ended: Ended[] = [];

  function watch({ was, is, nowMs }: Step): void {
    const before = was.claim;
    if (before !== null && before.readySinceMs !== null && is.claim?.id !== before.id)
      ended.push({ node: before.content.node, term: before.content.term, goneMs: nowMs });
    if (is.claim !== null && is.claim.id !== before?.id) answered(is.claim, is);
  }

  /**
   * Whether the node has lost its lease again. The node's own report is not enough: the commits must show the
   * losses, too. Only with several slots, earlier losses count as reported.
   */
  function isBackAgain({ content: { node, term, resumes } }: ClaimSeen, maxMs: number): boolean {
    const own = ended.filter((one) => one.node === node);
    const last = own.at(-1);
    if (last?.term !== term || resumes?.lostLease !== true) return false;
    const sinceMs = last.goneMs - maxMs / slack - 2 * setup.sessionTimeoutMs;
    const isSeveral = setup.slots > 1 && resumes.earlierAgoMs.length > 0;
    return isSeveral || own.filter(({ goneMs }) => goneMs >= sinceMs).length > 1;
  }

  function areGrounds(node: string, { was, write, nowMs }: Step): boolean {
    const { claim, config } = was;
    if (claim?.content.node !== node || config === null || config.content.paused !== null) return false;
    // A node must not judge itself.
    if (write === null || write.session === claim.owner) return false;
    const { base, max } = config.content.backoff;
    const isLate = nowMs - claim.sinceMs > durationMs(base) / slack + promptMs;
    return !isLate && isBackAgain(claim, durationMs(max)) && canConfirm(write.session, claim, 0);
  }

  /**
   * Whether a session can confirm a lease loss. It can if it has been connected since at least `beforeMs`
   * before the leader stopped leading.
   */
  function canConfirm(session: bigint, { content, sinceMs }: ClaimSeen, beforeMs: number): boolean {
    const agoMs = content.resumes?.agoMs ?? 0;
    const agoTrulyMs = beforeMs === 0 ? agoMs * slack : agoMs / slack;
    return context.inTouchSinceMs(session) <= sinceMs - agoTrulyMs - beforeMs;
  }

  /** Checks that another node is elected after a second loss, if another node can follow. */
  function answered(claim: ClaimSeen, { config, decisions }: Picture): void {
    const { node, resumes } = claim.content;
    if (config === null || resumes?.lostLease !== true) return;
    const { maxLeaseLosses } = setup;
    if (maxLeaseLosses !== null && 1 + resumes.earlierAgoMs.length > maxLeaseLosses)
      context.violate(9, `${node} has lost its lease more often than it stood still`);
    const { base, max } = config.content.backoff;
    const withinMs = durationMs(max) * slack;
    const isAgain = resumes.earlierAgoMs.some((agoMs) => agoMs - resumes.agoMs <= withinMs);
    if (!isAgain || durationMs(base) * slack < 3 * promptMs) return;
    context.unlessDisturbed(2 * promptMs, 9, () => {
      const now = context.picture();
      const isSame = now.decisions === decisions && now.config === config && now.claim?.id === claim.id;
      if (!isSame || config.content.paused !== null || isGivenUp(now) || !hasCandidate(now, node, context))
        return null;
      if (context.electorForMs() < promptMs) return null;
      const elector = now.seats[0]?.owner ?? 0n;
      if (elector === claim.owner) return `${node} has lost its lease twice, and goes on judging itself`;
      return canConfirm(elector, claim, 1.2 * setup.sessionTimeoutMs)
        ? `${node} has lost its lease twice, and is still elected`
        : null;
    });
  }

  return { watch, areGrounds };
}
