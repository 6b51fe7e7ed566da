/** Rules about claims: which node may claim, when it may claim, and when it must release its claim. */
import { durationMs } from '../../src/model/duration.js';
import type { Picture } from './ledger.js';
import type { Rule, RuleContext, Step } from './rules.js';
import { failuresKnown } from './rules-of-limits.js';
import { isBarred, refusals } from './rules-of-sites.js';
import { isCrowded, isGivenUp, isShunned, isTaken, saysItFailed, slotOfClaim } from './slots-seen.js';

export function claimRules(context: RuleContext): Rule {
  const { violate, setup, promptMs, answerMs } = context;
  /** Instant at which the group was last paused. In a paused group, a leaving node waits for no successor. */
  let pausedMs = Number.NEGATIVE_INFINITY;

  function made({ was, is }: Step): void {
    const { claim, elected } = is;
    if (claim === null || claim.id === was.claim?.id) return;
    const { node } = claim.content;
    if (elected?.content.node !== node) {
      violate(9, `${node} claims while ${elected?.content.node ?? 'nobody'} is elected`);
      return;
    }
    if (!was.seats.some(({ owner }) => owner === claim.owner)) violate(9, `${node} claims, and has no seat`);
    const before = was.registrations.get(node);
    const { version, content } = elected;
    if (saysItFailed(before, is) && elected.id === was.elected?.id) {
      violate(9, `${node} claims again under version ${version} of elected, in which it failed`);
    }
    if (content.failures.find((record) => record.node === node)?.until != null)
      violate(9, `${node} claims though it is in backoff`);
    const overridden = content.requested?.overridden ?? [];
    const own = is.registrations.get(node);
    // The registration written with the claim shows what the node knew when it sent the claim.
    if (own?.illSinceMs != null && !overridden.includes('unhealthy'))
      violate(9, `${node} claims though it is unhealthy`);
    if (own?.content.draining === true) violate(9, `${node} claims while it leaves`);
    if (own !== undefined && slotOfClaim(own.content) !== is.slot)
      violate(9, `${node} claims, and says that it does in slot ${slotOfClaim(own.content)}`);
  }

  /** Checks that a leaving READY leader waits for a successor if another node can become the successor. */
  function leftEarly({ was, is, write, nowMs }: Step): void {
    const { claim, elected, config } = was;
    if (claim === null || is.claim !== null || write?.session !== claim.owner) return;
    const { node, status } = claim.content;
    const leavingSinceMs = was.registrations.get(node)?.leavingSinceMs ?? null;
    if (leavingSinceMs === null || !context.isCalm || status !== 'READY' || config === null) return;
    const waitMs = durationMs(config.content.timeouts.claim) * 0.9;
    const isHurried = context.nodes.some((one) => one.name === node && one.leaves > 1);
    if (isHurried || elected?.content.node !== node || pausedMs >= leavingSinceMs || isGivenUp(was)) return;
    if (nowMs - leavingSinceMs < waitMs && hasCandidate(was, node, context))
      violate(9, `${node} leaves without waiting for a successor`);
  }

  /** Checks that a leader that continues under a new decision writes the new term into its claim. */
  function termWritten({ was, is }: Step): void {
    if (is.elected === was.elected && is.claim?.readySinceMs === was.claim?.readySinceMs) return;
    context.soon(2 * promptMs, 9, () => {
      const { claim, elected } = context.picture();
      if (claim?.content.status !== 'READY' || context.picture().decisions !== is.decisions) return null;
      const { node, term } = claim.content;
      if (elected?.content.node !== node || elected.content.term === term) return null;
      // A leader that is elected again during its release no longer leads, so it does not write the term.
      const leads = context.nodes.some((one) => one.session === claim.owner && one.saysItLeads);
      if (!leads) return null;
      return `${node} leads in term ${elected.content.term}, and its claim says term ${term}`;
    });
  }

  /** Checks that the owner of a claim stops leading if the claim is deleted by hand. */
  function stopped({ was, is, isByHand }: Step): void {
    const { claim } = was;
    if (!isByHand || claim === null || is.claim !== null || !context.wasCalm) return;
    context.unlessDisturbed(setup.sessionTimeoutMs / 5 + answerMs, 9, () => {
      const leads = context.nodes.find(
        (one) => one.saysItLeads && one.agent?.status.fencingToken === claim.id,
      );
      return leads === undefined ? null : `${leads.name} leads on though its claim is gone`;
    });
  }

  /**
   * Checks that a leader is replaced soon if it has become ineligible or an operator wants to replace it,
   * provided that another node can follow.
   */
  function replaced({ was, is }: Step): void {
    const node = is.elected?.content.node ?? null;
    const term = is.elected?.content.term;
    if (node === null) return;
    const isChanged = is.config !== was.config || is.registrations.get(node) !== was.registrations.get(node);
    if (!isChanged || whyLeave(is, node) === null) return;
    // A leaving node does not wait for a successor forever, so the elector has less time.
    const withinMs = is.registrations.get(node)?.leavingSinceMs != null ? promptMs : 2 * promptMs;
    context.soon(withinMs, 9, () => {
      const now = context.picture();
      const why = whyLeave(now, node);
      // If operators overrode ineligible reasons when they requested the node, the reasons do not count.
      const isOverridden = (now.elected?.content.requested?.overridden.length ?? 0) > 0;
      const isKept = isOverridden || now.config?.content.paused != null;
      // A node that was elected again in the meantime was eligible at that time. Later reasons are judged
      // separately.
      const isSame = now.elected?.content.node === node && now.elected.content.term === term;
      if (!isSame || why === null || isKept || isGivenUp(now)) return null;
      const candidate = why === lowered ? hasBetter(now, node, context) : hasCandidate(now, node, context);
      return candidate ? `${node} is still elected, though ${why}` : null;
    });
  }

  /**
   * Checks that the elected node claims as soon as there is no claim. Checks, too, that a node releases its
   * claim when it is no longer elected.
   */
  function handedOver({ was, is }: Step): void {
    if (is.elected === was.elected && is.claim?.id === was.claim?.id) return;
    const { elected, claim } = is;
    const node = context.nodes.find(({ name }) => name === elected?.content.node);
    const owner = context.nodes.find(({ session }) => session === claim?.owner);
    context.soon(claim === null ? promptMs : 2 * promptMs, 9, () => {
      const now = context.picture();
      if (now.decisions !== is.decisions || now.claims !== is.claims) return null;
      const { process, machine } = owner ?? {};
      const isBound = machine?.misbehaves(promptMs) === true;
      const isOld =
        claim !== null && claim.content.node !== elected?.content.node && process?.isRunning === true;
      if (isOld && !isBound) return `${claim.content.node} keeps its claim, though it is elected no longer`;
      if (claim !== null || node === undefined || elected === null || node.machine.misbehaves(promptMs))
        return null;
      const registration = now.registrations.get(node.name);
      const isEligible = registration?.illSinceMs === null && registration.leavingSinceMs === null;
      const backsOff = elected.content.failures.some((one) => one.node === node.name && one.until !== null);
      const isThere = isEligible && now.seats.some((seat) => seat.owner === node.session) && !backsOff;
      const eligibleSinceMs = Math.max(registration?.sinceMs ?? 0, registration?.lastIllMs ?? 0);
      const isSince = eligibleSinceMs < context.world.nowMs - promptMs;
      const hasFailed = saysItFailed(registration, now);
      return isThere && isSince && !hasFailed && node.process?.isRunning === true
        ? `${node.name} is elected, and does not claim`
        : null;
    });
  }

  return (step) => {
    if (step.was.config?.content.paused != null) pausedMs = step.nowMs;
    handedOver(step);
    replaced(step);
    made(step);
    leftEarly(step);
    termWritten(step);
    stopped(step);
  };
}

const lowered = 'its priority was lowered';

function whyLeave(picture: Picture, node: string): string | null {
  const { registrations, config, elected } = picture;
  const registration = registrations.get(node);
  if (registration === undefined || config === null) return null;
  if (registration.illSinceMs !== null) return 'it is unhealthy';
  if (registration.leavingSinceMs !== null) return 'it leaves';
  if (Object.hasOwn(config.content.drained, node)) return 'it is drained';
  const site = config.content.sites[registration.content.site];
  if (site?.drained != null) return 'its site is drained';
  const [refusal] = refusals(config.content, registration.content.site);
  if (refusal !== undefined) return refusal.why;
  if (isCrowded(picture, registration.content.site, true)) return 'its site holds another slot';
  const priority = site?.override?.priority ?? site?.priority ?? 100;
  if (priority === 0) return 'its priority is 0';
  const [then] = elected?.content.priorities ?? [priority];
  return priority < then && site?.override?.until == null ? lowered : null;
}

function hasBetter(picture: Picture, leaver: string, context: RuleContext): boolean {
  const { config, registrations } = picture;
  if (config?.content.strategy !== 'site-priority') return false;
  const priority = (node: string) => {
    const site = config.content.sites[registrations.get(node)?.content.site ?? ''];
    return site?.override?.priority ?? site?.priority ?? 100;
  };
  const isAllowed = (node: string) => !isShunned(picture, registrations.get(node)?.content.site ?? '');
  const better = [...registrations.keys()].filter(
    (node) => priority(node) > priority(leaver) && isAllowed(node),
  );
  const others = new Map([...registrations].filter(([node]) => better.includes(node)));
  return hasCandidate({ ...picture, registrations: others }, leaver, context);
}

/** Whether a node other than the given one has been eligible for a while, by the simplest criteria. */
export function hasCandidate(
  picture: Picture,
  leaver: string,
  { world: { nowMs }, promptMs }: RuleContext,
): boolean {
  const { registrations, seats, config } = picture;
  return [...registrations].some(([node, { content, illSinceMs, leavingSinceMs, lastIllMs, sinceMs }]) => {
    if (node === leaver || illSinceMs !== null || leavingSinceMs !== null || config === null) return false;
    if (nowMs - Math.max(sinceMs, lastIllMs) < promptMs || !seats.some((seat) => seat.node === node))
      return false;
    if (failuresKnown(picture, node).length > 0 || isTaken(picture, node)) return false;
    const { drained, sites } = config.content;
    const site = sites[content.site];
    if (isBarred(picture, content.site)) return false;
    return drained[node] === undefined && site?.drained == null && site?.priority !== 0 && !site?.override;
  });
}
