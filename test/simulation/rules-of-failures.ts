/**
 * Rules about failures: which node is blamed for what, how long its backoff lasts, and how soon the elector
 * reacts.
 */
import { durationMs } from '../../src/model/duration.js';
import type { GroupConfig } from '../../src/model/group-config.js';
import type { Elected, FailureRecord } from '../../src/model/znodes.js';
import type { Violate } from './judge.js';
import { type ClaimSeen, type Picture, presentSinceMs, type SlotSeen } from './ledger.js';
import type { Rule, RuleContext, Step } from './rules.js';
import { leaseLossesOf } from './rules-of-lease-losses.js';
import { misreadingMs } from './rules-of-limits.js';
import { isBarred, refusals, siteOfFailure } from './rules-of-sites.js';
import { isCrowded, isGivenUp, isTaken, saysItFailed } from './slots-seen.js';

const slack = 0.9;
/** Maximum difference between readings of the ensemble's clock, unless the clock was set. */
const unevennessMs = 10_000;

/** A claim that vanished while its node was in PROGRESS. */
interface Vanished {
  readonly node: string;
  /** Number of the decision when the claim vanished. The next decision is the reaction to it. */
  readonly decision: number;
  /**
   * Session of the elector that saw the claim appear and vanish. Null if no elector is certain to have seen
   * both.
   */
  readonly seenBy: bigint | null;
  /** Instant of the node's previous failure. Null if there was none. */
  readonly failedAt: string | null;
}

/** Facts that a picture does not contain. */
interface Known {
  readonly vanished: Vanished | null;
  readonly claimGoneMs: number;
  readonly lastOwn: ClaimSeen | null;
}

export function failureRules(context: RuleContext): Rule {
  const { violate, promptMs } = context;
  const leaseLosses = leaseLossesOf(context);
  let vanished: Vanished | null = null;
  let claimGoneMs = 0;
  let lastOwn: ClaimSeen | null = null;
  const knownSinceMs = new Map<string, number>();
  /** Facts that were known when each picture was current. */
  const knownThen = new WeakMap<Picture, Known>();

  function keepTrack({ was, is, nowMs, ended }: Step): void {
    if (was.claim !== null && is.claim?.id !== was.claim.id) {
      claimGoneMs = nowMs;
      if (was.claim.content.status === 'PROGRESS') vanish(was.claim, { was, is, nowMs, ended });
      lastOwn = was.claim;
    }
  }

  function vanish(
    claim: ClaimSeen,
    { was, is, nowMs, ended }: Pick<Step, 'was' | 'is' | 'nowMs' | 'ended'>,
  ): void {
    const { node } = claim.content;
    const elected = is.elected;
    if (elected === null) return;
    const [elector] = was.seats;
    const isObserved =
      ended === claim.owner &&
      elected.content.node === node &&
      // If the decision was revised after the claim was made, the elector has observed the claim only since
      // that revision, so its observation proves nothing.
      claim.content.electedVersion === elected.version &&
      elector !== undefined &&
      elector.owner !== claim.owner &&
      nowMs - claim.sinceMs > promptMs / 2 &&
      claim.sinceMs - elector.sinceMs > promptMs &&
      is.seats[0]?.owner === elector.owner &&
      context.isCalm;
    const failedAt = failureOf(elected.content, node)?.failedAt ?? null;
    vanished = { node, decision: is.decisions, seenBy: isObserved ? elector.owner : null, failedAt };
    if (isObserved) answered(`the claim of ${node} vanishes`);
  }

  /** Checks that the elector reacts to a failure immediately. */
  function answered(what: string): void {
    const { config: then, decisions: before } = context.picture();
    if (then?.content.paused != null) return;
    context.soon(promptMs, 9, () => {
      const { decisions, config } = context.picture();
      const stands = decisions === before && config?.content.paused == null;
      return stands ? `${what}, and the elector does nothing about it` : null;
    });
  }

  function recorded({ was, is }: Step): void {
    const { elected } = is;
    const node = elected?.content.node ?? null;
    if (elected === null || node === null) return;
    const now = is.registrations.get(node)?.content.lastFailure ?? null;
    const before = was.registrations.get(node)?.content.lastFailure ?? null;
    if (
      now === null ||
      !saysItFailed(is.registrations.get(node), is) ||
      (now.electedVersion === before?.electedVersion && now.slot === before.slot)
    )
      return;
    answered(`${node} says that it failed`);
  }

  /** Texts of the failure records of all decisions so far. */
  const stood = new Set<string>();

  /**
   * Whether another slot has recorded this failure in the same commit. A slot that elects the node in spite
   * of it, because an operator insists, ends the backoff in its own copy of the record.
   */
  function isElectedInSpite({ node, failedAt, until }: FailureRecord, is: Picture): boolean {
    if (until !== null || is.elected?.content.node !== node) return false;
    return failuresIn(is.others, node).some((one) => one.failedAt === failedAt && one.until !== null);
  }

  function blamed(step: Step): void {
    const { was, is, write } = step;
    const [before, after] = [was.elected, is.elected];
    if (after === null || after === before) return;
    for (const record of after.content.failures) {
      const isMade = before?.id !== after.id;
      const known = isMade ? null : failureOf(before.content, record.node);
      const text = JSON.stringify(record);
      // A node that restores a deleted decision writes the failures that it knows from that decision.
      if (isMade && stood.has(text)) continue;
      stood.add(text);
      const inOthers = failuresIn(was.others, record.node);
      if ([known, ...inOthers].some((one) => one?.failedAt === record.failedAt)) continue;
      if (isElectedInSpite(record, is)) continue;
      arithmetic(step, record, latest([...(known === null ? [] : [known]), ...inOthers]));
      if (record.until === null) violate(9, `${record.node} has failed, and is not in backoff at all`);
      context.judged(step, (view, complain) => {
        if (groundsFor(record.node, view) === null)
          complain(9, `${record.node} is blamed for nothing: ${record.reason} (term ${after.content.term})`);
      });
    }
    const gone = vanished;
    if (gone === null || was.decisions !== gone.decision) return;
    vanished = null;
    if (gone.seenBy === null || gone.seenBy !== write?.session || !context.isCalm) return;
    const failedAt = failureOf(after.content, gone.node)?.failedAt ?? null;
    if (failedAt === gone.failedAt)
      violate(9, `the claim of ${gone.node} vanished in PROGRESS, and that counts for nothing`);
  }

  /** Returns a reason to blame a node. Null if there is none. */
  function groundsFor(node: string, step: Step): string | null {
    const { was, nowMs } = step;
    const { elected, config, claim } = was;
    const then = knownThen.get(was) ?? { vanished, claimGoneMs, lastOwn };
    if (elected === null || config === null || elected.content.node !== node) return null;
    const registration = was.registrations.get(node);
    if (registration === undefined) return 'it has gone';
    if (saysItFailed(registration, was)) return 'it says so';
    if (then.vanished?.node === node) return 'its claim vanished';
    if (leaseLosses.areGrounds(node, step)) return 'it lost its lease again';
    const { timeouts } = config.content;
    const isOwn = claim?.content.node === node;
    // A claim that comes too late does not clear the node: the time until the claim still counts.
    const freeUntilMs = claim === null ? nowMs : isOwn ? claim.sinceMs : then.claimGoneMs;
    const freeSinceMs = Math.max(elected.changedMs, then.claimGoneMs);
    const claimMs = durationMs(timeouts.claim) * slack;
    const hereSinceMs = presentSinceMs(registration, promptMs);
    if (freeUntilMs - Math.max(freeSinceMs, hereSinceMs) >= claimMs) return 'it did not claim';
    if (freeUntilMs - freeSinceMs >= 2 * claimMs) return 'none of its lives has claimed';
    const overMs = durationMs(timeouts.takeover) + 2 * durationMs(timeouts.grace);
    const own = isOwn ? claim : then.lastOwn?.content.node === node ? then.lastOwn : null;
    if (own !== null && nowMs - own.sinceMs >= overMs * slack) return 'it was not READY in time';
    return null;
  }

  function arithmetic({ is, nowMs }: Step, record: FailureRecord, known: FailureRecord | null): void {
    const config = is.config?.content;
    if (config === undefined || record.until === null) return;
    const base = durationMs(config.backoff.base);
    const most = durationMs(config.backoff.max);
    const lengthMs = Date.parse(record.until) - Date.parse(record.failedAt);
    const due = Math.min(base * 2 ** (record.count - 1), most);
    if (Math.abs(lengthMs - due) > 1)
      violate(
        9,
        `${record.node} is in backoff for ${lengthMs} ms after ${record.count} failures, not for ${due} ms`,
      );
    if (known === null || config.clearedFailures[record.node]?.failedAt === known.failedAt) return;
    const isForgotten = nowMs - (knownSinceMs.get(keyOf(known)) ?? nowMs) > 2 * most * slack;
    const wasReady = readyIn(record.node);
    if (record.count !== known.count + 1 && !isForgotten && !wasReady)
      violate(9, `the failure of ${record.node} after ${known.count} is counted as number ${record.count}`);
  }

  /**
   * Whether the claim that ended last in this slot was the node's and was READY. If a node becomes READY in
   * another slot, its failures end in that slot.
   */
  function readyIn(node: string): boolean {
    return lastOwn?.content.node === node && lastOwn.readySinceMs !== null;
  }

  /** Checks that a node with a backoff in one slot is not elected in another slot. */
  function inBackoffInAll(step: Step): void {
    context.judged(step, (view, complain) => {
      const node = view.is.elected?.content.node ?? null;
      if (node === null || view.is.elected === null || node === view.was.elected?.content.node) return;
      for (const { slot, elected } of view.was.others) {
        const record = elected === null ? null : failureOf(elected.content, node);
        if (record?.until != null && !mayLift(record, view.is.elected.content, view))
          complain(9, `${node} is elected, though it is in backoff in slot ${slot} until ${record.until}`);
      }
    });
  }

  /** Checks that there is a reason if a backoff ends. */
  function lifted(step: Step): void {
    context.judged(step, (view, complain) => liftedFor(view, complain));
  }

  function liftedFor(step: Step, complain: Violate): void {
    const [before, after] = [step.was.elected, step.is.elected];
    if (before === null || after === null || before === after || before.id !== after.id) return;
    for (const known of before.content.failures) {
      if (known.until === null) continue;
      const now = failureOf(after.content, known.node);
      // If another slot has a later failure of the same node, only that failure counts.
      const isSuperseded = failuresIn([...step.was.others, ...step.is.others], known.node).some(
        ({ failedAt }) => failedAt >= known.failedAt,
      );
      if (now === null && isSuperseded) continue;
      const isLifted = now === null || (now.failedAt === known.failedAt && now.until === null);
      if (isLifted && !mayLift(known, after.content, step))
        complain(9, `the backoff of ${known.node} until ${known.until} ends early`);
    }
    if (after.content.cause === 'retry' && after.content.node !== null)
      retried(after.content.node, step, complain);
  }

  /**
   * Whether the backoff may be over, or has not begun because the clock was set back. Any clock reading so
   * far may be the one that was used.
   */
  function mayBeOver({ failedAt, until }: FailureRecord): boolean {
    const { earliestMs, latestMs } = context.wall();
    if (Date.parse(until ?? '') <= latestMs + misreadingMs) return true;
    return Date.parse(failedAt) > earliestMs + unevennessMs - misreadingMs;
  }

  /** Whether the claim belongs to the failed node and became READY after the failure. */
  function isReadySince(claim: ClaimSeen | null, known: FailureRecord): boolean {
    if (claim === null || claim.content.node !== known.node || claim.readySinceMs === null) return false;
    return claim.readySinceMs >= (knownSinceMs.get(keyOf(known)) ?? Number.NEGATIVE_INFINITY);
  }

  function mayLift(known: FailureRecord, after: Elected, { was, is }: Step): boolean {
    if (mayBeOver(known)) return true;
    const { latestMs } = context.wall();
    const failedAtMs = Date.parse(known.failedAt);
    const { node } = known;
    const config = is.config?.content;
    if (config?.clearedFailures[node]?.failedAt === known.failedAt) return true;
    if (after.node === node && (after.requested !== null || after.cause === 'planned')) return true;
    const life = was.registrations.get(node)?.content.incarnation;
    if (!known.restarted && life !== known.incarnation) return true;
    if ([was.claim, lastOwn, ...was.others.map(({ claim }) => claim)].some((one) => isReadySince(one, known)))
      return true;
    const base = config === undefined ? 0 : baseMs(config);
    return after.cause === 'retry' && after.node === node && failedAtMs + base <= latestMs + misreadingMs;
  }

  /** Checks which node is tried again if every node has failed: the one whose last failure is oldest. */
  function retried(node: string, { was, is }: Step, complain: Violate): void {
    const known = was.elected === null ? null : failureOf(was.elected.content, node);
    if (known?.until == null || was.elected?.content.node === node || mayBeOver(known)) return;
    // If the node has a new incarnation, its backoff has ended for that reason. The node was not tried again.
    if (!known.restarted && was.registrations.get(node)?.content.incarnation !== known.incarnation) return;
    for (const other of is.elected?.content.failures ?? []) {
      const member = was.registrations.get(other.node);
      const config = is.config?.content;
      if (member === undefined || member.illSinceMs !== null || member.leavingSinceMs !== null) continue;
      if (config === undefined || config.drained[other.node] !== undefined) continue;
      const site = config.sites[member.content.site];
      if (site?.drained != null || site?.override != null || site?.priority === 0) continue;
      if (refusals(config, member.content.site).length > 0) continue;
      if (isTaken(was, other.node) || isCrowded(was, member.content.site)) continue;
      const { from, strength } = config.siteRules.afterFailure;
      const isTied = from === 'another-site' && strength === 'hard';
      if (isTied && member.content.site === siteOfFailure({ was, is })) continue;
      if (context.isCalm && Date.parse(other.failedAt) < Date.parse(known.failedAt))
        complain(9, `${node} is tried again, though the failure of ${other.node} is longer ago`);
    }
  }

  /**
   * Checks that a node is tried again soon after the base time if only failures make the nodes ineligible.
   */
  function triedAgain({ was, is, nowMs }: Step): void {
    if (is.elected === was.elected && is.config === was.config && is.claim?.id === was.claim?.id) return;
    const { elected, config, decisions } = is;
    if (elected === null || config === null) return;
    const failedMs = elected.content.failures.map((record) => knownSinceMs.get(keyOf(record)) ?? nowMs);
    const dueMs = Math.min(...failedMs) + baseMs(config.content) * 1.1;
    if (failedMs.length === 0) return;
    context.soon(Math.max(0, dueMs - nowMs) + promptMs, 9, () => {
      const now = context.picture();
      const isSame = now.decisions === decisions && now.config?.version === config.version;
      if (!isSame || now.claim !== null || config.content.paused !== null) return null;
      const eligible = [...now.registrations.keys()].filter((name) => isEligible(now, name));
      if (isGivenUp(now) || eligible.some((name) => failuresIn(now.others, name).length > 0)) return null;
      const backsOff = (name: string) => failureOf(elected.content, name)?.until != null;
      const [node] = eligible;
      return node === undefined || !eligible.every(backsOff)
        ? null
        : `everyone who is eligible has failed, and nobody is tried again, not even ${node}`;
    });
  }

  /**
   * Checks that the backoff of a failed node ends when a new incarnation registers, but only once for each
   * failure. If no other node is eligible, the node must be elected immediately.
   */
  function restartEndsBackoff({ was, is }: Step): void {
    const { elected, config, decisions } = is;
    if (elected === null || is.registrations === was.registrations) return;
    for (const [node, { id, content }] of is.registrations) {
      const record = failureOf(elected.content, node);
      if (was.registrations.get(node)?.id === id || record?.until == null || record.restarted) continue;
      if (record.incarnation === content.incarnation) continue;
      context.soon(promptMs, 9, () => {
        const now = context.picture();
        const isDecided = now.decisions !== decisions || now.config?.version !== config?.version;
        if (
          isDecided ||
          now.registrations.get(node)?.id !== id ||
          now.claim !== null ||
          now.config?.content.paused != null
        )
          return null;
        const eligible = [...now.registrations.keys()].filter((name) => isEligible(now, name));
        if (isGivenUp(now) || failuresIn(now.others, node).length > 0) return null;
        const isAlone = eligible.length === 1 && eligible[0] === node && now.elected?.content.node == null;
        return isAlone ? `${node} has restarted, no other node is eligible, and it stays in backoff` : null;
      });
    }
  }

  /** Whether the node is eligible if its failures are ignored. */
  function isEligible(picture: Picture, node: string): boolean {
    const { registrations, config, seats } = picture;
    const member = registrations.get(node);
    if (member === undefined || config === null || member.illSinceMs !== null) return false;
    if (isTaken(picture, node)) return false;
    if (member.leavingSinceMs !== null || config.content.drained[node] !== undefined) return false;
    const site = config.content.sites[member.content.site];
    const isSiteEligible = site?.drained == null && site?.override == null && site?.priority !== 0;
    return (
      isSiteEligible && !isBarred(picture, member.content.site) && seats.some((seat) => seat.node === node)
    );
  }

  /** Checks that a node's failures are cleared when the node becomes READY. */
  function withBackoffEnded({ was, is }: Step): void {
    const { claim } = is;
    if (claim === null || claim.readySinceMs === null || was.claim?.readySinceMs === claim.readySinceMs)
      return;
    const { node } = claim.content;
    context.soon(2 * promptMs, 9, () => {
      const now = context.picture();
      // A node that has been replaced in the meantime has failed again, so its failures still count.
      if (now.claim?.id !== claim.id || now.elected?.content.node !== node) return null;
      return failureOf(now.elected.content, node) === null
        ? null
        : `${node} is READY, and its failures still count`;
    });
  }

  function remember({ is, nowMs }: Step): void {
    // Failures in other slots are included, because a failure in one slot counts towards the next failure in
    // any slot.
    for (const record of [is, ...is.others].flatMap(({ elected }) => elected?.content.failures ?? [])) {
      if (!knownSinceMs.has(keyOf(record))) knownSinceMs.set(keyOf(record), nowMs);
    }
    knownThen.set(is, { vanished, claimGoneMs, lastOwn });
  }

  return (step) => {
    leaseLosses.watch(step);
    keepTrack(step);
    recorded(step);
    blamed(step);
    lifted(step);
    inBackoffInAll(step);
    withBackoffEnded(step);
    triedAgain(step);
    restartEndsBackoff(step);
    remember(step);
  };
}

function failureOf({ failures }: Elected, node: string): FailureRecord | null {
  return failures.find((record) => record.node === node) ?? null;
}

function failuresIn(slots: readonly SlotSeen[], node: string): FailureRecord[] {
  return slots.flatMap(({ elected }) => {
    const record = elected === null ? null : failureOf(elected.content, node);
    return record === null ? [] : [record];
  });
}

function latest(records: readonly FailureRecord[]): FailureRecord | null {
  return records.toSorted((a, b) => Date.parse(b.failedAt) - Date.parse(a.failedAt))[0] ?? null;
}

function keyOf({ node, failedAt }: FailureRecord): string {
  return `${node} ${failedAt}`;
}

function baseMs({ backoff }: GroupConfig): number {
  return durationMs(backoff.base);
}
