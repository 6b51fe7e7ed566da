/**
 * Rules about the slots of a group with several leaders, as docs/guides/leaders.md describes them. In a group
 * with one leader, no slots may be visible.
 */
import { durationMs } from '../../src/model/duration.js';
import { historyHeadSchema, historyRecordSchema } from '../../src/model/znodes.js';
import type { Violate } from './judge.js';
import { inSlot, type Picture, readZnode, slotsIn } from './ledger.js';
import type { Rule, RuleContext, Step } from './rules.js';
import { hasCandidate } from './rules-of-claims.js';
import { priorityOf } from './rules-of-electing.js';
import { stepIn } from './slot-rule-context.js';
import { isGivenUp, isShunned, isTaken } from './slots-seen.js';

export function slotRules(context: RuleContext): Rule {
  const { violate, setup, promptMs } = context;
  if (setup.slots === 1) return plainZnodes(context);
  const slots = Array.from({ length: setup.slots }, (_, index) => index + 1);

  function electedOnce({ is, isByHand }: Step): void {
    if (isByHand) return;
    const elected = slotsIn(is).flatMap((state) => state.elected?.content.node ?? []);
    const twice = elected.find((node, index) => elected.indexOf(node) !== index);
    if (twice !== undefined) violate(9, `${twice} is elected in two slots`);
  }

  /** Whether an empty slot was filled by an election that no operator requested. */
  function isFilled({ was, is }: Step): boolean {
    const [before, after] = [was.elected?.content, is.elected?.content];
    if (before == null || after == null || was.elected === is.elected) return false;
    return (
      before.node === null && after.node !== null && after.requested === null && after.cause !== 'planned'
    );
  }

  /**
   * Checks that the lowest empty slot is filled. A node that still has the claim of a slot can fill only that
   * slot.
   */
  function lowestFirst({ was, is }: Step, complain: Violate): void {
    if (was.claim !== null && was.claim.content.node === is.elected?.content.node) return;
    const lower = is.others.find(({ slot, elected }) => {
      const wasFree = was.others.some((one) => one.slot === slot && one.elected?.content.node === null);
      return slot < is.slot && elected?.content.node === null && wasFree && !isGivenUp(inFirst(is, slot));
    });
    if (lower !== undefined)
      complain(9, `slot ${is.slot} is filled by ${is.elected?.content.node}, and slot ${lower.slot} is free`);
  }

  /** Checks a soft rule: an empty slot must go to another site if that site has an eligible node. */
  function spread({ was, is }: Step, complain: Violate): void {
    const node = is.elected?.content.node ?? '';
    const site = was.registrations.get(node)?.content.site;
    if (site === undefined || !isShunned(was, site)) return;
    const elsewhere = [...was.registrations].filter(([, { content }]) => !isShunned(was, content.site));
    if (hasCandidate({ ...was, registrations: new Map(elsewhere) }, '', context))
      complain(
        9,
        `slot ${is.slot} is filled by ${node}, whose site has another, and another site has an eligible node`,
      );
  }

  /** Checks that a better node replaces the worst of the leaders. */
  function worstFirst({ was, is }: Step, complain: Violate): void {
    const config = was.config?.content;
    const [from, to] = [was.elected?.content, is.elected?.content];
    if (config?.strategy !== 'site-priority' || config.siteRules.spread.over !== 'any-site') return;
    if (from?.site == null || to?.cause !== 'preference' || from.term === to.term) return;
    const priority = priorityOf(config, from.site);
    const worse = was.others.find(({ slot, elected, claim }) => {
      const { node = null, site = null, requested = null } = elected?.content ?? {};
      const isSame = is.others.some((one) => one.slot === slot && one.elected === elected);
      const leads = claim?.readySinceMs != null && claim.content.node === node;
      const registration = was.registrations.get(node ?? '');
      const isEligible = registration?.illSinceMs === null && registration.leavingSinceMs === null;
      const isSteady = isSame && leads && isEligible && requested === null && slot <= config.leaders;
      if (!isSteady || site === null || priorityOf(config, site) >= priority) return false;
      // The slot of the worse leader may be waiting for a better node other than the elected one.
      const isOther = (one: string) => one !== to.node && one !== from.node && !isTaken(was, one);
      const others = [...was.registrations].filter(([one]) => isOther(one));
      return !others.some(([, { content, illSinceMs }]) => {
        return illSinceMs === null && priorityOf(config, content.site) > priorityOf(config, site);
      });
    });
    if (worse !== undefined)
      complain(9, `${to.node} takes the place of ${from.node}, and ${worse.elected?.content.node} is worse`);
  }

  function decisions(step: Step): void {
    for (const slot of slots) {
      const own = stepIn(step, slot);
      if (own.was.elected === own.is.elected) continue;
      context.judged(own, (view, complain) => {
        if (isFilled(view)) {
          lowestFirst(view, complain);
          spread(view, complain);
        }
        worstFirst(view, complain);
      });
    }
  }

  /**
   * Checks that a node is soon elected in each configured slot if there is an eligible node. Checks, too,
   * that no node stays elected in a slot above the configured number.
   */
  function filled(step: Step): void {
    for (const slot of slots) {
      const { was, is } = stepIn(step, slot);
      const isNews = is.config !== was.config || is.elected !== was.elected;
      if (!isNews || is.config === null) continue;
      const { config, decisions: before } = is;
      if (slot > config.content.leaders) givenUp(slot, is);
      else if (is.elected?.content.node == null)
        context.soon(3 * promptMs, 9, () => {
          const now = inSlot(context.picture(), slot);
          const isSame = now.config === config && now.decisions === before;
          if (!isSame || config.content.paused !== null || context.electorForMs() < 2 * promptMs) return null;
          return hasCandidate(now, '', context)
            ? `no node is elected in slot ${slot}, though there is an eligible node`
            : null;
        });
    }
  }

  function givenUp(slot: number, { config, elected }: Picture): void {
    if (elected?.content.node == null) return;
    context.soon(2 * promptMs, 9, () => {
      const now = inSlot(context.picture(), slot);
      const isKept = now.config === config && now.elected?.content.node != null;
      return isKept && context.electorForMs() >= promptMs
        ? `${now.elected?.content.node} is still elected in slot ${slot}, which is given up`
        : null;
    });
  }

  /** Checks the number of slots in the first slot's decision. Every node relies on this number. */
  function recorded({ was, is }: Step): void {
    for (const { slot, elected, claim } of is.others) {
      const isHeld = elected?.content.node != null || claim !== null;
      const before = inSlot(was, slot);
      if (!isHeld || (before.elected === elected && before.claim === claim && was.elected === is.elected))
        continue;
      // This slot remains from the time before the rest of the tree was deleted.
      const isLeft = elected !== null && is.elected !== null && elected.id < is.elected.id;
      if (
        !isLeft &&
        is.elected !== null &&
        is.elected.content.term > 0 &&
        (is.elected.content.slots ?? 1) < slot
      )
        violate(9, `slot ${slot} is held, and elected says that there are ${is.elected.content.slots ?? 1}`);
    }
    if (is.config === null || (is.config === was.config && is.claims === was.claims)) return;
    const { config } = is;
    const withinMs = 3 * promptMs + durationMs(config.content.timeouts.release);
    context.soon(withinMs, 9, () => miscounted(config, withinMs));
  }

  function miscounted(config: NonNullable<Picture['config']>, withinMs: number): string | null {
    const now = context.picture();
    const { leaders, paused } = config.content;
    const sinceMs = context.world.nowMs - promptMs;
    const isHeld = now.others.some(
      ({ slot, elected, claim }) => slot > leaders && (elected?.content.node != null || claim !== null),
    );
    const isSettled = slotsIn(now).every(
      ({ elected, claim }) =>
        (elected?.changedMs ?? 0) < sinceMs && (claim === null || (claim.readySinceMs ?? sinceMs) < sinceMs),
    );
    const count = now.elected?.content.slots ?? 1;
    const isLate = now.config === config && paused === null && isSettled && !isHeld && now.elected !== null;
    if (!isLate || count === leaders || context.electorForMs() < withinMs) return null;
    return `the group is to have ${leaders} leaders, and elected says ${count}`;
  }

  return (step) => {
    electedOnce(step);
    decisions(step);
    filled(step);
    recorded(step);
  };
}

/** Returns the same picture with the number of another slot. */
function inFirst(picture: Picture, slot: number): Picture {
  return { ...picture, slot };
}

/** Checks that a group with one leader has no znodes or fields for slots. */
function plainZnodes({ paths, violate }: RuleContext): Rule {
  return ({ commit, write, is }) => {
    if (write === null) return;
    const truth = { database: commit.truth, session: write.session };
    const slotted = [`${paths.elected}-`, `${paths.current}-`];
    for (const { path } of commit.changes) {
      if (slotted.some((prefix) => path.startsWith(prefix))) violate(9, `${path} is of a slot that is not`);
      if (path === paths.history) {
        const head = historyHeadSchema.safeParse(JSON.parse(readZnode(truth, path)?.text || 'null'));
        if (head.data?.slots !== undefined) violate(9, 'the history names slots, and there is one leader');
      }
    }
    for (const { type, path, data } of write.operations.filter((one) => 'data' in one)) {
      if (type !== 'create' || !path.startsWith(paths.historyPrefix)) continue;
      const record = historyRecordSchema.safeParse(JSON.parse(data?.toString('utf8') ?? 'null'));
      if (record.data?.kind === 'transition' && record.data.slot !== undefined)
        violate(9, 'a record names a slot, and there is one leader');
    }
    if (is.elected?.content.slots !== undefined) violate(9, 'elected names slots, and there is one leader');
    for (const [node, { content }] of is.registrations) {
      if (content.claimedSlot !== undefined || content.lastFailure?.slot !== undefined)
        violate(9, `${node} names a slot, and there is one leader`);
    }
  };
}
