/**
 * Switchovers and failovers that operators request. A request names the term that it replaces, so it takes
 * effect only once.
 */

import { effectiveDecision } from '../core/effective-decision.js';
import type { Elsewhere } from '../core/elsewhere.js';
import { activeRequest, requestTarget, requestText, targetText } from '../core/requests.js';
import { PetrelError, type Remedy } from '../errors.js';
import type { SwitchoverRequest } from '../model/group-config.js';
import { toInstant } from '../model/names.js';
import { configOfSlot, slotOf } from '../model/slots.js';
import { elsewhereOf } from '../slots/one-slot.js';
import type { ChangeInput, Request } from './change.js';
import { judge, judgeMembers } from './judge.js';
import { viewOfSlot, viewsOfSlots } from './slot-view.js';
import { transitionOf, transitionText } from './transition.js';
import { underConfig } from './view.js';

export type Target = SwitchoverRequest['to'];

export interface SwitchoverOptions {
  readonly to: Target;
  /**
   * Returns the earliest instant for the switchover, in milliseconds since the epoch on the ensemble's clock.
   * Null means immediately.
   */
  readonly notBeforeMs: ((nowMs: number) => number) | null;
  /** The slot whose leader must change. Required if the group has several leaders. */
  readonly slot?: number | undefined;
}

/**
 * Requests a planned handover. If the target is not eligible, the request is refused. The error says why each
 * node is ineligible.
 */
export function switchover({ to, notBeforeMs, slot }: SwitchoverOptions): Request {
  return (group) => {
    const input = inSlot(group, slot);
    const { elected, config, nowMs, byHand } = input;
    mustBeQuiet(input);
    if (elected.node === null) {
      throw new PetrelError('REFUSED', 'the group has no leader that could hand over', {
        reasons: [elected.reason],
      });
    }
    const atMs = notBeforeMs?.(nowMs) ?? null;
    if (atMs !== null && atMs <= nowMs) {
      throw new PetrelError('INVALID', `${toInstant(atMs)} is in the past: it is now ${toInstant(nowMs)}`);
    }
    const request: SwitchoverRequest = {
      to,
      replacesTerm: elected.term,
      notBefore: atMs === null ? null : toInstant(atMs),
      force: false,
      ...named(input),
      ...byHand,
    };
    mustBeEligible(input, request, atMs ?? nowMs);
    const when = atMs === null ? '' : `, not before ${toInstant(atMs)}`;
    const title = `switchover requested: ${elected.node} → ${targetText(to)}${when}`;
    const what = `${title}${replacedText(group)}`;
    return { config: { ...config, switchover: request }, what, slot: slotOf(input.view) };
  };
}

export interface FailoverOptions {
  readonly to: string;
  /** Whether to proceed even if another request or transition is under way. */
  readonly evenUnderWay?: boolean;
  /** The slot whose leader must change. Required if the group has several leaders. */
  readonly slot?: number | undefined;
}

/** Forces a change of leader. The target need not be eligible, but it must be registered. */
export function failover({ to, evenUnderWay = false, slot }: FailoverOptions): Request {
  return (group) => {
    const input = inSlot(group, slot);
    const { view, elected, config, byHand } = input;
    if (!evenUnderWay) mustBeQuiet(input, [{ kind: 'yes', does: 'force the failover anyway' }]);
    if (elected.node === to) {
      throw new PetrelError('REFUSED', `${to} is already the elected leader`, { reasons: [elected.reason] });
    }
    const request: SwitchoverRequest = {
      to: { node: to },
      replacesTerm: elected.term,
      notBefore: null,
      force: true,
      ...named(input),
      ...byHand,
    };
    if (
      requestTarget(request, { members: view.members, elected, elsewhere: elsewhereIn(input) }, []) === null
    ) {
      throw new PetrelError('REFUSED', `${to} cannot take over`, { reasons: [unableText(input, to)] });
    }
    const from = elected.node ?? 'none';
    const what = `failover requested: ${from} → ${to}${replacedText(group)}`;
    return { config: { ...config, switchover: request }, what, slot: slotOf(view) };
  };
}

/** Cancels a request that the elector has not acted on. */
export const cancelSwitchover: Request = ({ view, config }) => {
  const request = waitingRequest(view, config);
  if (request === null) return { config: null, what: `no switchover is pending${missedText(view, config)}` };
  return { config: { ...config, switchover: null }, what: `${requestText(request)} cancelled` };
};

/** Returns the group's pending request, or null if there is none. The request may concern any slot. */
function waitingRequest(view: ChangeInput['view'], config: ChangeInput['config']): SwitchoverRequest | null {
  const requests = viewsOfSlots(view).map((each) =>
    activeRequest(configOfSlot(config, slotOf(each)), effectiveDecision(each)),
  );
  return requests.find((one) => one !== null) ?? null;
}

/**
 * Returns text about the pending request that a new request replaces. Nothing else reports that the replaced
 * request will not be carried out.
 */
function replacedText({ view, config }: ChangeInput): string {
  const request = waitingRequest(view, config);
  return request === null ? '' : `; this replaces the pending ${requestText(request).replace(/,$/, '')}`;
}

/**
 * Returns text about a switchover request that was not carried out in its term. The elector has recorded this
 * in the history, or will do so soon.
 */
function missedText(view: ChangeInput['view'], { switchover: request }: ChangeInput['config']): string {
  const elected = viewsOfSlots(view).find((each) => slotOf(each) === (request?.slot ?? 1));
  const isMissed = elected !== undefined && effectiveDecision(elected).missedRequest === true;
  return request !== null && isMissed
    ? `: ${requestText(request)} was missed`
    : '; a missed switchover is listed in petrel history';
}

/**
 * Returns the input for one slot. Throws PetrelError INVALID if the named slot does not exist, or if there
 * are several slots and none is named.
 */
function inSlot(input: ChangeInput, slot: number | undefined): ChangeInput {
  const slots = viewsOfSlots(input.view);
  if (slot === undefined && slots.length > 1) {
    const leaders = slots.map((each) => `${slotOf(each)}: ${effectiveDecision(each).node ?? 'none'}`);
    throw new PetrelError('INVALID', `the group has ${slots.length} leaders: ${leaders.join(', ')}`, {
      reasons: leaders,
      remedies: [{ kind: 'slot' }],
    });
  }
  const view = viewOfSlot(input.view, slot ?? 1);
  return { ...input, view, elected: effectiveDecision(view) };
}

/**
 * Returns the slot number to include in a request. A request for the first slot omits the number, as does any
 * request in a group with one leader.
 */
function named({ view }: ChangeInput): Pick<SwitchoverRequest, 'slot'> {
  return slotOf(view) === 1 ? {} : { slot: slotOf(view) };
}

function elsewhereIn({ view, config, nowMs }: ChangeInput): Elsewhere {
  return elsewhereOf({ snapshot: view, members: view.members, config, nowMs });
}

/**
 * Throws PetrelError CONFLICT if another transition or request is under way. Only one is allowed at a time.
 */
function mustBeQuiet({ view, config, elected, nowMs }: ChangeInput, remedies: readonly Remedy[] = []): void {
  const waiting = activeRequest(configOfSlot(config, slotOf(view)), elected);
  if (waiting !== null) {
    throw new PetrelError(
      'CONFLICT',
      `transition ${elected.term + 1}, requested by ${waiting.by}, is pending`,
      {
        reasons: [`${requestText(waiting)} is still pending`],
        remedies: [{ kind: 'cancel' }, ...remedies],
      },
    );
  }
  const transition = transitionOf(view, nowMs);
  if (transition === null) return;
  throw new PetrelError(
    'CONFLICT',
    `transition ${transition.term}, decided by ${elected.by}, is in progress`,
    {
      reasons: [`${transitionText(transition)}: ${elected.reason}`],
      remedies,
    },
  );
}

/** Checks that the elector would accept the target at the scheduled time. Throws if it would not. */
function mustBeEligible(input: ChangeInput, request: SwitchoverRequest, atMs: number): void {
  const { view, config, elected } = input;
  const { ranking } = judge(underConfig(view, { ...config, switchover: null }), atMs);
  const elsewhere = elsewhereIn(input);
  const target = requestTarget(request, { members: view.members, elected, elsewhere }, ranking);
  if (target !== null && target !== elected.node) return;
  if (isPresent(input, request.to)) {
    throw new PetrelError('REFUSED', `${elected.node} is already the leader`, { reasons: [elected.reason] });
  }
  throw new PetrelError('REFUSED', `${targetText(request.to)} cannot take over from ${elected.node}`, {
    reasons: whyIneligible(input, request.to, atMs),
  });
}

function isPresent({ elected }: ChangeInput, to: Target): boolean {
  if (to === 'best-other') return false;
  return 'node' in to ? to.node === elected.node : to.site === elected.site;
}

/** Returns lines that say why each node is ineligible. The requested nodes come first. */
function whyIneligible(input: ChangeInput, to: Target, atMs: number): string[] {
  const { view, config, elected } = input;
  const lines = judgeMembers(view, config, atMs).map(({ member, ineligibleReasons }) => {
    const asRequested = isRequested(to, member.node, member.value?.site);
    const present = member.node === elected.node ? ['is the leader'] : [];
    const reasons = [...present, ...ineligibleReasons.map(({ reason }) => reason)];
    const eligible = asRequested ? 'is eligible' : 'eligible, but not the requested node';
    return { asRequested, line: `${member.node}: ${reasons.length === 0 ? eligible : reasons.join(', ')}` };
  });
  const requested = lines.filter((entry) => entry.asRequested);
  const others = lines.filter((entry) => !entry.asRequested);
  return [
    ...(requested.length === 0 ? [missingText(to)] : []),
    ...[...requested, ...others].map(({ line }) => line),
  ];
}

/** Returns why the node cannot lead even after a forced failover. */
function unableText(input: ChangeInput, node: string): string {
  const { view } = input;
  const taken = elsewhereIn(input).busy.get(node);
  if (taken !== undefined) return `${node}: ${taken}, and no node can lead two slots`;
  const member = view.members.find((one) => one.node === node);
  const registered = view.members.map((one) => one.node).join(', ') || 'none';
  if (member === undefined) return `${node}: not registered; registered: ${registered}`;
  return member.value === null
    ? `${node}: its registration is malformed: ${member.problem}`
    : `${node}: shutting down`;
}

function isRequested(to: Target, node: string, site: string | undefined): boolean {
  if (to === 'best-other') return true;
  return 'node' in to ? to.node === node : to.site === site;
}

function missingText(to: Target): string {
  if (to === 'best-other') return 'no node is registered';
  return 'node' in to ? `${to.node} is not registered` : `no node of site ${to.site} is registered`;
}
