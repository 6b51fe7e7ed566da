/** Rules about decisions: which node makes them, for what reasons, and how they are recorded. */
import { isDeepStrictEqual } from 'node:util';
import { durationMs } from '../../src/model/duration.js';
import type { GroupConfig } from '../../src/model/group-config.js';
import { historyHeadSchema, historyRecordSchema, successorSchema } from '../../src/model/znodes.js';
import type { Violate } from './judge.js';
import { type Picture, presentSinceMs, readZnode } from './ledger.js';
import type { Rule, RuleContext, Step } from './rules.js';
import { refusals } from './rules-of-sites.js';
import { sticks } from './setup.js';
import { isCrowded, isGivenUp, isShunned, isTaken } from './slots-seen.js';

/** Factor that allows for clocks of different rates. */
const slack = 0.9;

export function electingRules(context: RuleContext): Rule {
  const { violate, setup, paths, promptMs, slot } = context;
  const recorded = new Set<string>();
  let unpruned = 0;
  /** The last elector that recorded something, and the records that it had to prune after that. */
  let recorder = { session: 0n, unpruned: 0 };
  /** Instant at which each node was last READY. */
  const readyMs = new Map<string, number>();
  let termMark = 0;
  /** The newest decision, which may have been deleted since. */
  let latest: Picture['elected'] = null;
  /** The current decision, if a node has restored it without changes. Otherwise null. */
  let restored: { readonly id: bigint; readonly decidedMs: number } | null = null;

  /**
   * Whether a leader that leaves puts the decision into force that the elector has published, and deletes
   * nothing but its own claim.
   */
  function isHandover({ was, write, is, commit }: Step): boolean {
    if (write === null || was.claim?.owner !== write.session || slot !== 1) return false;
    const has = (what: string, at: string) =>
      write.operations.some(({ type, path }) => type === what && path === at);
    if (!has('setData', paths.elected) || !has('delete', paths.current)) return false;
    const read = readZnode({ database: commit.truth, session: write.session }, paths.successor);
    const published = successorSchema.safeParse(JSON.parse(read?.text || 'null'));
    const decision = published.success ? published.data.prepared?.decision : undefined;
    return decision !== undefined && isDeepStrictEqual(decision, is.elected?.content);
  }

  /** Checks that only the node with the lowest seat decides. A leader that leaves carries that out. */
  function byElector(step: Step): void {
    const { was, write, is, isByHand } = step;
    if (write === null || isByHand || sticks(setup) || isHandover(step)) return;
    if (!write.operations.some(({ type, path }) => type === 'setData' && path === paths.elected)) return;
    const [lowest] = was.seats;
    if (lowest?.owner === write.session) return;
    violate(
      9,
      `elected, version ${is.elected?.version}, is written by another than the elector ${lowest?.name}`,
    );
  }

  /**
   * Returns the highest term that is still recorded, in the claim or in the history, after the tree was
   * deleted.
   */
  function knownTerm(was: Picture, commit: Step['commit']): number {
    return Math.max(was.claim?.content.term ?? 0, headTerm(commit) ?? 0);
  }

  function terms({ was, is, commit }: Step): void {
    const { elected } = is;
    if (elected === null || elected === was.elected) return;
    const isNew = was.elected === null || was.elected.id !== elected.id || elected.content.term === 0;
    const before = was.elected?.id === elected.id ? was.elected.content : null;
    if (before !== null && before.node !== elected.content.node && elected.content.term <= before.term)
      violate(
        3,
        `${elected.content.node} is elected instead of ${before.node} in the same term ${before.term}`,
      );
    if (isNew) {
      // A decision that is created again continues with the term of the deleted decision.
      const known = knownTerm(was, commit);
      termMark = elected.content.term < known ? known : 0;
    } else if (elected.content.term <= termMark && elected.content.term <= knownTerm(was, commit)) {
      violate(3, `term ${elected.content.term} comes after term ${termMark}`);
    } else termMark = 0;
  }

  function headTerm({ truth, transaction }: Step['commit']): number | null {
    const session = transaction.kind === 'write' ? transaction.session : 0n;
    const read = readZnode({ database: truth, session }, paths.history);
    const head = read === null ? null : historyHeadSchema.safeParse(JSON.parse(read.text || 'null'));
    if (head?.success !== true) return null;
    return slot === 1 ? head.data.term : (head.data.slots?.[slot]?.term ?? 0);
  }

  /** Checks that there was a reason to elect another node. */
  function moved(step: Step): void {
    // A handover checks the newest versions, so it must be right for the newest state.
    if (isHandover(step)) movedFor(step, violate);
    else context.judged(step, (view, complain) => movedFor(view, complain));
  }

  function movedFor({ was, is, nowMs }: Step, complain: Violate): void {
    const before = was.elected;
    const after = is.elected;
    if (before === null || after === null || before.id !== after.id || before === after) return;
    const [from, to] = [before.content.node, after.content.node];
    if (to !== null && (to !== from || after.content.cause === 'retry'))
      mustBeEligible(to, { was, is, nowMs }, complain);
    if (from === null || from === to || before.content.term === 0) return;
    // The decision before this one was outdated: a node that knew no newer one had restored it. This decision
    // names the current leader again.
    if ((was.claim?.content.term ?? 0) > before.content.term && was.claim?.content.node === to) return;
    if (is.config?.content.paused != null && after.content.cause !== 'planned')
      complain(9, `${to} is elected instead of ${from} while the group is paused`);
    if (mayBeReplaced(from, { was, is, nowMs })) return;
    if (to === null) complain(6, `no node is elected any more, though ${from} is as eligible as before`);
    else prefers({ from, to }, { was, is, nowMs }, complain);
  }

  type Change = Pick<Step, 'was' | 'is' | 'nowMs'>;

  /**
   * Returns the instant of a decision. A restored decision keeps its original instant, because it does not
   * reflect what operators have done in the meantime.
   */
  function decidedMs({ elected }: Picture): number {
    return restored?.id === elected?.id ? (restored?.decidedMs ?? 0) : (elected?.changedMs ?? 0);
  }

  function restore({ was, is }: Step): void {
    const { elected } = is;
    if (elected === null || elected === was.elected) return;
    const { term, node } = elected.content;
    const isSame = latest?.content.term === term && latest.content.node === node;
    if (isSame && latest?.id !== elected.id)
      restored = { id: elected.id, decidedMs: decidedMs({ ...is, elected: latest }) };
    else restored = null;
    latest = elected;
  }

  /**
   * Whether there is a reason to replace the elected node. The node's state may have changed since it was
   * elected, or operators may want to replace it.
   */
  function mayBeReplaced(from: string, { was, is }: Change): boolean {
    if (isGivenUp(is)) return true;
    const since = decidedMs(was);
    const registration = was.registrations.get(from);
    if (registration === undefined || registration.sinceMs > since) return true;
    if (registration.illSinceMs !== null || registration.leavingSinceMs !== null) return true;
    if (is.registrations.get(from)?.leavingSinceMs != null) return true;
    if (was.config === null || weightyMs(was.config) >= since) return true;
    const { switchover } = was.config.content;
    const isMeant = (switchover?.slot ?? 1) === slot;
    const isRequested = isMeant && switchover?.replacesTerm === was.elected?.content.term;
    if (isRequested && is.elected?.content.cause === 'planned') return true;
    if (Object.values(was.config.content.sites).some(({ override }) => override?.until != null)) return true;
    if (isCrowded(was, registration.content.site, true)) return true;
    if (was.others.some((other) => other.elected?.content.failures.some(({ node }) => node === from)))
      return true;
    const then = was.elected?.content.failures.find(({ node }) => node === from);
    const now = is.elected?.content.failures.find(({ node }) => node === from);
    // Compares instants instead of counts. The count starts over if the last failure was one of an earlier
    // incarnation.
    return then?.until != null || (now !== undefined && now.failedAt !== then?.failedAt);
  }

  /** Instant of the last change of each configuration. Changes that only affect preferences do not count. */
  const weighty = new WeakMap<object, number>();

  function weightyMs(config: NonNullable<Picture['config']>): number {
    return weighty.get(config) ?? config.changedMs;
  }

  function weigh({ was, is }: Step): void {
    if (was.config === null || is.config === null || was.config === is.config) return;
    if (was.config.id === is.config.id && isSoftVerdict(was.config.content, is.config.content))
      weighty.set(is.config, weightyMs(was.config));
  }

  /**
   * Checks that the newly elected node is better than the previous one and has been eligible for long enough.
   */
  function prefers(
    { from, to }: { from: string; to: string },
    { was, is, nowMs }: Change,
    complain: Violate,
  ): void {
    const config = was.config?.content;
    const better = was.registrations.get(to);
    const worse = was.registrations.get(from);
    if (config === undefined || better === undefined || worse === undefined) return;
    const why = `${to} is elected instead of ${from}, which is as eligible as before`;
    const delayMs = failbackDelayMs(config);
    const problem = whyNoBetter(was, worse.content.site, better.content.site);
    // An elector knows its own health before its registration shows that health.
    const illUntilMs = better.lastIllMs - (was.seats[0]?.owner === better.owner ? promptMs : 0);
    if (delayMs === null) complain(6, `${why}, but failback is manual`);
    else if (problem !== null) complain(6, `${why}, and ${problem}`);
    else if (was.elected?.content.requested != null) complain(9, `${why}, and a person requested ${from}`);
    else if (nowMs - Math.max(presentSinceMs(better, promptMs), illUntilMs) < delayMs * slack)
      complain(9, `${why}, and has not been eligible for long`);
    else {
      const since = readyMs.get(from) ?? Number.POSITIVE_INFINITY;
      const isReady = was.claim?.content.node === from && was.claim.readySinceMs !== null;
      if (since < (was.elected?.changedMs ?? 0)) complain(9, `${why}, and was not READY yet`);
      else if (isReady && nowMs - (was.claim?.readySinceMs ?? 0) < durationMs(config.minLeadership) * slack)
        complain(9, `${why}, before its minimum leadership is over`);
      else if (!isReady && since === Number.POSITIVE_INFINITY) complain(9, `${why}, and was not READY yet`);
      const failure = was.elected?.content.failures.find(({ node }) => node === to);
      const backoffMs = durationMs(config.backoff.max) * 2 ** ((failure?.count ?? 1) - 1);
      const failedMs = failure === undefined ? null : failedSinceMs.get(`${to} ${failure.failedAt}`);
      if (failedMs != null && nowMs - failedMs < backoffMs * slack)
        complain(9, `${why}, and has failed ${failure?.count} times`);
    }
    if (is.elected?.content.cause === 'planned') complain(9, `${why}, and nobody requested that`);
  }

  const failedSinceMs = new Map<string, number>();

  function mustBeEligible(to: string, { was, is }: Change, complain: Violate): void {
    const elected = is.elected?.content;
    const registration = was.registrations.get(to);
    const config = is.config?.content;
    if (elected === undefined || config === undefined || registration === undefined) return;
    // No node may lead two slots, even if operators request it.
    if (isTaken(was, to)) complain(9, `${to} is elected, though it has another slot`);
    if (isGivenUp(is)) complain(9, `${to} is elected in a slot that is given up`);
    // In a paused group, the elected node may be elected again whatever its state.
    const isFallback = was.elected?.content.term === 0 && was.claim?.content.node === to;
    if (config.paused !== null && (was.elected?.content.node === to || isFallback)) return;
    const overridden = elected.requested?.overridden ?? [];
    const not = (kind: string, why: string) => {
      if (!overridden.includes(kind)) complain(9, `${to} is elected, though ${why}`);
    };
    if (Object.hasOwn(config.drained, to)) not('drained', 'it is drained');
    const site = config.sites[registration.content.site];
    if (site?.drained != null) not('site-drained', 'its site is drained');
    if ((site?.override ?? site)?.priority === 0 && site?.override?.until == null)
      not('priority-zero', 'its priority is 0');
    for (const { kind, why } of refusals(config, registration.content.site)) not(kind, why);
    if (isCrowded(was, registration.content.site, was.elected?.content.node === to))
      not('spread', 'its site holds another slot');
    if (registration.illSinceMs !== null) not('unhealthy', 'it is unhealthy');
    if (registration.leavingSinceMs !== null) not('leaving', 'it leaves');
  }

  /**
   * Checks that each term and token has one record, and that a term is recorded before the next one begins.
   * Checks, too, that the history keeps no more records than configured.
   */
  function records(step: Step): void {
    const { write, commit, was, is, isByHand } = step;
    if (commit.changes.some(({ path, type }) => path === paths.history && type === 'created'))
      recorded.clear();
    let hasRecords = false;
    for (const operation of write?.operations ?? []) {
      if (operation.type !== 'create' || !operation.path.startsWith(paths.historyPrefix)) continue;
      unpruned += 1;
      const record = historyRecordSchema.safeParse(JSON.parse(operation.data?.toString('utf8') ?? 'null'));
      if (!record.success || record.data.kind !== 'transition') continue;
      if (!isByHand) hasRecords = true;
      if ((record.data.slot ?? 1) !== slot) continue;
      const { term, fencingToken } = record.data;
      const key = `term ${term}, token ${fencingToken}`;
      if (recorded.has(key)) violate(9, `${key} is recorded twice`);
      recorded.add(key);
    }
    if (hasRecords && slot === 1) pruned(step);
    const [before, after] = [was.elected, is.elected];
    const isNext =
      before !== null && after !== null && before.id === after.id && after.content.term > before.content.term;
    const isDue = isNext && before.content.term > 0 && !context.isUnderQuota;
    if (isDue && (headTerm(commit) ?? before.content.term) < before.content.term)
      violate(9, `term ${after.content.term} begins, and term ${before.content.term} is not recorded`);
  }

  function pruned({ commit, is, write }: Step): void {
    const truth = { database: commit.truth, session: write?.session ?? 0n };
    const stat = readZnode(truth, paths.history)?.stat;
    const keep = is.config?.content.historySize ?? 100;
    const session = write?.session ?? 0n;
    // An elector that has ended since may not have pruned anything.
    const left = session === recorder.session ? 0 : recorder.unpruned;
    if (stat !== undefined && context.isCalm && stat.numChildren > keep + left + unpruned + 1)
      violate(9, `the history holds ${stat.numChildren} records, and ${keep} are to be kept`);
    recorder = { session, unpruned: left + unpruned };
    unpruned = 0;
  }

  function remember({ is, nowMs }: Step): void {
    const { claim, elected } = is;
    if (claim?.content.status === 'READY') readyMs.set(claim.content.node, nowMs);
    for (const { node, failedAt } of elected?.content.failures ?? []) {
      const key = `${node} ${failedAt}`;
      if (!failedSinceMs.has(key)) failedSinceMs.set(key, nowMs);
    }
  }

  /** Checks that the history soon records that a node has become READY. */
  function readyRecorded({ was, is }: Step): void {
    const { claim } = is;
    if (claim === null || claim.readySinceMs === null || was.claim?.readySinceMs === claim.readySinceMs)
      return;
    context.soon(2 * promptMs, 9, () => {
      const now = context.picture();
      if (now.claim?.id !== claim.id || now.elected?.content.node !== claim.content.node) return null;
      const isRecorded = [...recorded].some((key) => key.endsWith(`token ${claim.id}`));
      return isRecorded
        ? null
        : `${claim.content.node} is READY under token ${claim.id}, and nobody records it`;
    });
  }

  return (step) => {
    readyRecorded(step);
    byElector(step);
    terms(step);
    weigh(step);
    moved(step);
    restore(step);
    records(step);
    remember(step);
  };
}

/** Returns why leadership must not move from one site to the other. Null if it may move. */
function whyNoBetter(picture: Picture, from: string, to: string): string | null {
  const config = picture.config?.content;
  if (config === undefined) return null;
  const [isBad, isWorse] = [isShunned(picture, from, true), isShunned(picture, to)];
  if (isBad !== isWorse) return isBad ? null : 'a soft rule speaks against it';
  if (config.strategy !== 'site-priority') return 'the strategy prefers nobody';
  return priorityOf(config, to) > priorityOf(config, from) ? null : 'is no better';
}

/** Whether the only change is a soft rule's verdict about sites. */
function isSoftVerdict(before: GroupConfig, after: GroupConfig): boolean {
  const without = ({ sites, ...rest }: GroupConfig) => {
    const others = Object.entries(sites).map(([site, { failed, ...settings }]) => {
      return [site, settings, failed?.byRule === false ? failed : null];
    });
    return JSON.stringify([rest, others]);
  };
  return after.siteRules.failed.strength === 'soft' && without(before) === without(after);
}

export function failbackDelayMs({ failback, failbackHold }: GroupConfig): number | null {
  if (failback === 'manual') return null;
  return durationMs(failback === 'auto' ? failbackHold : failback.slice('after:'.length));
}

export function priorityOf({ sites }: GroupConfig, name: string): number {
  const site = sites[name];
  return site?.override?.priority ?? site?.priority ?? 100;
}

export type { Picture };
