/** Rules about nodes that join or recover. The elector must notice them and elect the right node. */
import { durationMs } from '../../src/model/duration.js';
import type { GroupConfig } from '../../src/model/group-config.js';
import type { Picture } from './ledger.js';
import type { Rule, RuleContext, Step } from './rules.js';
import { hasCandidate } from './rules-of-claims.js';
import { failbackDelayMs, priorityOf } from './rules-of-electing.js';
import { isGivenUp, isShunned } from './slots-seen.js';

export function comingRules(context: RuleContext): Rule {
  const { promptMs } = context;

  /** Whether this node would be eligible if it were the only one, by the simplest criteria. */
  function isEligible(picture: Picture, node: string): boolean {
    const registration = picture.registrations.get(node);
    if (registration === undefined) return false;
    const alone = { ...picture, registrations: new Map([[node, registration]]) };
    return hasCandidate(alone, '', context);
  }

  /** Checks that a node is elected soon if no node is elected and nothing else prevents an election. */
  function electedAtOnce(node: string, { is: { config } }: Step): void {
    context.soon(2 * promptMs, 9, () => {
      const now = context.picture();
      const isLate = now.elected?.content.node === null && now.config?.content.paused === null;
      // If the configuration has changed in the meantime, a pause may have just ended. The elector had no
      // time to elect in that case.
      const isSame = now.config === config;
      if (!isLate || !isSame || isGivenUp(now) || context.electorForMs() < promptMs || !isEligible(now, node))
        return null;
      return `no node is elected, though ${node} has come`;
    });
  }

  /**
   * Checks that a node that is better than the leader is elected once it has been eligible for long enough.
   */
  function electedInTime(node: string, { is, nowMs }: Step): void {
    const { config, elected, decisions, registrations } = is;
    const leader = elected?.content.node ?? null;
    const delayMs = config === null ? null : failbackDelayMs(config.content);
    if (config === null || elected === null || leader === null || delayMs === null) return;
    if (config.content.paused !== null || elected.content.requested !== null) return;
    if (!isBetter(config.content, is, { node, than: leader })) return;
    // In a group with several leaders, the node replaces the worst leader. Another rule checks which leader
    // that is.
    const others = is.others.flatMap((state) => state.elected?.content.node ?? []);
    if (others.some((than) => isBetter(config.content, is, { node, than }))) return;
    const id = registrations.get(node)?.id;
    const withinMs = 1.1 * (delayMs + durationMs(config.content.minLeadership)) + 2 * promptMs;
    context.soon(withinMs, 9, () => {
      const now = context.picture();
      const registration = now.registrations.get(node);
      const isSame = now.decisions === decisions && now.config === config && registration?.id === id;
      if (!isSame || registration === undefined || registration.lastIllMs > nowMs) return null;
      const readySinceMs = now.claim?.readySinceMs ?? Number.POSITIVE_INFINITY;
      const isReady = now.claim?.content.node === leader && readySinceMs <= nowMs;
      if (!isReady || isGivenUp(now) || context.electorForMs() < withinMs || !isEligible(now, node))
        return null;
      return `${leader} is still elected, though ${node} is better and has been eligible for long`;
    });
  }

  return (step) => {
    for (const [node, { id, illSinceMs }] of step.is.registrations) {
      const before = step.was.registrations.get(node);
      const isBack = before?.id === id && before.illSinceMs !== null && illSinceMs === null;
      if (before?.id === id && !isBack) continue;
      electedAtOnce(node, step);
      electedInTime(node, step);
    }
  };
}

function isBetter(
  config: GroupConfig,
  picture: Picture,
  { node, than }: { node: string; than: string },
): boolean {
  const [better, worse] = [node, than].map((one) => picture.registrations.get(one));
  if (better === undefined || worse === undefined) return false;
  const avoided = [better, worse].map(({ content }) =>
    isShunned(picture, content.site, content.node === than),
  );
  if (avoided[0] !== avoided[1]) return avoided[1] === true;
  if (config.strategy !== 'site-priority') return false;
  return priorityOf(config, better.content.site) > priorityOf(config, worse.content.site);
}
