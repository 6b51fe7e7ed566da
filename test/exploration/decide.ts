/**
 * Models what an agent does after a read, up to the next write that it sends. The core makes the decisions.
 * The code that carries them out mirrors `src/agent/agent.ts`, `leadership.ts`, `elector.ts` and
 * `elector-watchdog.ts`.
 */

import {
  handsOverBy,
  type Leadership,
  type LeadershipAction,
  type LeadershipInput,
  leadershipStep,
} from '../../src/core/leadership.js';
import { afterHandover } from '../../src/core/prepared-decision.js';
import { type ElectorRound, isPlainlyDue } from '../../src/core/round.js';
import { durationMs } from '../../src/model/duration.js';
import type { Registration } from '../../src/model/registration.js';
import type { Claim } from '../../src/model/snapshot.js';
import type { ClaimContent, Elected } from '../../src/model/znodes.js';
import { epoch0Ms } from '../core/builders.js';
import { Electing } from './electing.js';
import { type Facets, facetsFor } from './facets.js';
import { isSameFacet } from './key.js';
import { lookAgain, requestFor, snapshotOf } from './look.js';
import {
  type Agent,
  type Operation,
  type Purpose,
  type Request,
  type Rest,
  type Setting,
  site,
  type Tree,
} from './world.js';

const never = { releaseAtMs: Number.POSITIVE_INFINITY, endsAtMs: Number.POSITIVE_INFINITY };
const passed = { releaseAtMs: Number.NEGATIVE_INFINITY, endsAtMs: Number.POSITIVE_INFINITY };

/**
 * Functions that a sabotage replaces. The replaced functions break a rule of the code around the core, and
 * the exploration must find that.
 */
export interface Hands {
  /** Returns the request that is sent instead of the given one. */
  send(request: Request): Request;
  /** Returns the agent's state that the core gets instead of the given one. */
  hears(agent: Agent): Agent;
  /** Whether the next elector unseats a silent elector in this round. */
  isDue(round: ElectorRound): boolean;
}

export const goodHands: Hands = {
  send: (request) => request,
  hears: (agent) => agent,
  isDue: isPlainlyDue,
};

export class Decider {
  readonly #setting: Setting;
  readonly #hands: Hands;
  readonly #facets: Facets;
  readonly #electing: Electing;

  constructor(setting: Setting, hands: Hands, readsClock: boolean) {
    this.#setting = setting;
    this.#hands = hands;
    const facets = facetsFor(setting, readsClock);
    this.#facets = facets;
    this.#electing = new Electing({
      setting,
      facets,
      readsClock,
      isDue: hands.isDue,
      sent: (...call) => this.#sent(...call),
      claims: (...call) => this.#claims(...call),
    });
  }

  carryOn(agent: Agent, rest: Rest, nowMs: number): Agent {
    return this.#electing.carryOn(agent, rest, nowMs, true);
  }

  /** Returns the agent after it has completed its read and decided. */
  decide(before: Agent, view: Tree, nowMs: number): Agent {
    const agent = this.#hands.hears(before);
    const isSeated = view.seats.some(({ id }) => id === agent.seat);
    const self = view.members.find(({ node }) => node === agent.node);
    if (!isSeated || self?.value?.incarnation !== agent.registration.incarnation) {
      const stray = this.#leadership(
        { ...agent, registered: false, seat: null },
        isSeated ? view : { ...view, seats: [] },
        nowMs,
      ).agent;
      return stray.round.at === 'sent' ? stray : { ...lookAgain(stray), registered: false, seat: null };
    }
    const { agent: stepped, acted } = this.#leadership(agent, view, nowMs);
    if (stepped.round.at === 'sent') return stepped;
    if (acted) return lookAgain(stepped);
    const value = this.#published(stepped, view, nowMs);
    if (!this.isPublished(value, self.value)) {
      const { node } = stepped;
      return this.#sent(
        stepped,
        requestFor({ for: 'publish' }, { set: 'member', node, value, version: self.version }),
      );
    }
    return this.#electing.elect(stepped, view, nowMs);
  }

  /** Returns the registration to publish. It does not say yet that the node leaves while it hands over. */
  #published(agent: Agent, view: Tree, nowMs: number): Registration {
    const handsOver = handsOverBy(this.#input(agent, view, nowMs)) !== null;
    return handsOver ? { ...agent.registration, draining: false } : agent.registration;
  }

  isPublished(mine: Registration, there: Registration): boolean {
    if (mine === there) return true;
    return isSameFacet(this.#facets.registration(mine), this.#facets.registration(there));
  }

  /** Returns the agent after a leadership step without a read. A disconnected agent makes such steps. */
  outOfTouch(agent: Agent, nowMs: number): Agent {
    const { agent: stepped } = this.#leadership(agent, null, nowMs);
    return stepped;
  }

  #sent(agent: Agent, request: Request, rest: Rest | null = null): Agent {
    return { ...agent, round: { at: 'sent', request: this.#hands.send(request), rest } };
  }

  #leadership(agent: Agent, view: Tree | null, nowMs: number): { agent: Agent; acted: boolean } {
    const action = leadershipStep(this.#input(agent, view, nowMs));
    return action === null ? { agent, acted: false } : this.#perform(agent, action, view, nowMs);
  }

  #input(agent: Agent, view: Tree | null, nowMs: number): LeadershipInput {
    const { leadership, leadershipSession, session } = agent;
    return {
      self: agent.node,
      session,
      sessionOver: leadership !== null && leadershipSession !== session,
      snapshot: view === null ? null : snapshotOf(agent, view),
      config: view?.config?.value ?? this.#setting.config,
      leadership,
      spentToken: agent.spentToken,
      lease: agent.leaseEnded || (leadership !== null && agent.lease !== 'good') ? passed : never,
      nowMs,
      healthy: agent.registration.health.ok,
      draining: agent.drainUntilMs !== null,
      drainOverdue: agent.drainUntilMs !== null && nowMs >= agent.drainUntilMs,
      prepare: null,
      handOverRefused: agent.handOverRefused,
      failedUnder: agent.failedUnder,
    };
  }

  #perform(
    agent: Agent,
    action: LeadershipAction,
    view: Tree | null,
    nowMs: number,
  ): { agent: Agent; acted: boolean } {
    switch (action.do) {
      case 'prepare':
        return { agent, acted: false };
      case 'claim':
        if (view === null || agent.seat === null) return { agent, acted: false };
        return { agent: this.#claim(agent, action.elected, action.electedVersion, view, []), acted: true };
      case 'adopt': {
        const { claim, elected, electedVersion } = action;
        const { token, version } = claim;
        const purpose = { for: 'adopt', elected, electedVersion, token } as const;
        const request = requestFor(purpose, { check: 'current', version });
        return { agent: this.#sent(agent, request), acted: true };
      }
      case 'take-over':
        return { agent: this.#takeOver(agent, view, nowMs), acted: false };
      case 'write-ready': {
        const { elected, electedVersion, claimVersion } = action;
        const { node, registration: value, seat } = agent;
        if (seat === null) return { agent, acted: false };
        const request = requestFor(
          { for: 'ready', elected },
          { check: 'seat', id: seat },
          { check: 'elected', version: electedVersion },
          { set: 'current', value: content(agent, 'READY', elected, electedVersion), version: claimVersion },
          { set: 'member', node, value, version: null },
        );
        return { agent: this.#sent(agent, request), acted: true };
      }
      case 'release':
        return this.#release(agent, view, nowMs);
      case 'hand-over':
        return { agent: this.#handOver(agent, action, view), acted: true };
      case 'delete-claim':
        return this.#deleteClaim(agent, action, view);
      case 'forget-leadership':
        return { agent: end(agent), acted: true };
    }
  }

  /**
   * Returns the agent after it has claimed without a read, because it has been notified at its seat and is
   * the published successor. Returns null if it does not.
   */
  claimAhead(agent: Agent, nowMs: number): Agent | null {
    const { known, notified } = agent;
    if (!notified || known === null) return null;
    const input = this.#input(agent, known, nowMs);
    const snapshot = input.snapshot && afterHandover(input.snapshot, agent.node);
    const action = snapshot === null ? null : leadershipStep({ ...input, snapshot });
    if (snapshot?.assumedFrom === undefined || action?.do !== 'claim') return null;
    const view = { ...known, elected: snapshot.elected, current: null };
    const assumed = { check: 'successor', version: snapshot.assumedFrom } as const;
    return this.#claim(agent, action.elected, action.electedVersion, view, [assumed]);
  }

  #claim(
    agent: Agent,
    elected: Elected,
    electedVersion: number,
    view: Tree,
    assumed: readonly Operation[],
  ): Agent {
    const { node } = agent;
    const value = withClaim(agent.registration, electedVersion);
    const request = requestFor(
      { for: 'claim', elected, electedVersion, view },
      { check: 'seat', id: agent.seat ?? -1 },
      ...assumed,
      { check: 'elected', version: electedVersion },
      { create: 'current', value: content(agent, 'PROGRESS', elected, electedVersion) },
      { set: 'member', node, value, version: null },
    );
    return this.#sent({ ...agent, registration: value }, request);
  }

  /** Returns the decision together with the agent's claim. Null if the agent would not claim at once. */
  #claims(agent: Agent, request: Request, decided: Tree, nowMs: number): Request | null {
    const action = leadershipStep(this.#input(agent, decided, nowMs));
    if (action?.do !== 'claim') return null;
    const { elected, electedVersion } = action;
    const { node } = agent;
    return requestFor(
      { for: 'decide-and-claim', elected, electedVersion, view: decided },
      ...request.operations,
      { create: 'current', value: content(agent, 'PROGRESS', elected, electedVersion) },
      { set: 'member', node, value: withClaim(agent.registration, electedVersion), version: null },
    );
  }

  begin(agent: Agent, token: bigint, elected: Elected, claimedUnder: number): Agent {
    const leadership: Leadership = {
      token,
      term: elected.term,
      stage: 'claimed',
      failure: null,
      claimedUnder,
    };
    return { ...agent, leadership, leadershipSession: agent.session };
  }

  /** Returns the agent after its claim has been written. The takeover begins without another read. */
  claimed(before: Agent, token: bigint, purpose: ClaimPurpose, nowMs: number): Agent {
    const { elected, electedVersion, view } = purpose;
    const agent = { ...before, registration: withClaim(before.registration, electedVersion) };
    const begun = lookAgain(this.begin(agent, token, elected, electedVersion));
    const made: Claim = {
      value: content(agent, 'PROGRESS', elected, electedVersion),
      problem: null,
      version: 0,
      modifiedAtMs: epoch0Ms,
      createdAtMs: epoch0Ms,
      token,
      owner: agent.session,
    };
    return this.#leadership(begun, { ...view, current: made }, nowMs).agent;
  }

  #takeOver(agent: Agent, view: Tree | null, nowMs: number): Agent {
    if (agent.leadership === null) return agent;
    const { timeouts } = view?.config?.value ?? this.#setting.config;
    return {
      ...agent,
      leadership: { ...agent.leadership, stage: 'taking-over' },
      hook: { phase: 'takeover', untilMs: nowMs + durationMs(timeouts.takeover), state: 'runs' },
      work: agent.leadership.token,
    };
  }

  #release(agent: Agent, view: Tree | null, nowMs: number): { agent: Agent; acted: boolean } {
    const { leadership } = agent;
    if (leadership === null) return { agent, acted: false };
    if (leadership.stage === 'claimed') {
      return { agent: { ...agent, leadership: { ...leadership, stage: 'released' } }, acted: true };
    }
    const { timeouts } = view?.config?.value ?? this.#setting.config;
    return {
      agent: {
        ...agent,
        leadership: { ...leadership, stage: 'releasing' },
        hook: { phase: 'release', untilMs: nowMs + durationMs(timeouts.release), state: 'runs' },
      },
      acted: false,
    };
  }

  /**
   * Returns the agent after it has found the tree deleted. If its claim was deleted with the tree, the agent
   * begins the release.
   */
  checkClaim(agent: Agent, current: Claim | null, nowMs: number): Agent {
    const { leadership } = agent;
    const isOver = leadership === null || leadership.stage === 'releasing' || leadership.stage === 'released';
    if (isOver || current?.token === leadership.token) return agent;
    return this.#release(agent, null, nowMs).agent;
  }

  #handOver(
    agent: Agent,
    { prepared, successorVersion, claimVersion }: Extract<LeadershipAction, { do: 'hand-over' }>,
    view: Tree | null,
  ): Agent {
    const { seat, node, registration: value } = agent;
    const { decision, seats, configVersion, nodeVersion, electedVersion } = prepared;
    const request = requestFor(
      { for: 'hand-over', decision },
      { check: 'seat', id: seat ?? -1 },
      { check: 'config', version: configVersion },
      { check: 'successor', version: successorVersion },
      { check: 'member', node: decision.node, version: nodeVersion },
      { set: 'elected', value: decision, version: electedVersion },
      { delete: 'current', version: claimVersion },
      { set: 'member', node, value, version: null },
      ...seats.map((name) => ({ set: 'seat', id: Number(name) }) as const),
    );
    const spentToken = newer(view?.current?.token ?? 0n, agent.spentToken);
    return this.#sent({ ...agent, spentToken }, request);
  }

  #deleteClaim(
    agent: Agent,
    { claimVersion, failure }: Extract<LeadershipAction, { do: 'delete-claim' }>,
    view: Tree | null,
  ): { agent: Agent; acted: boolean } {
    const { seat, leadership, node } = agent;
    if (seat === null || view?.current == null || view.elected === null) return { agent, acted: false };
    const { token } = view.current;
    const { elected } = view;
    const under = elected.value?.node === node ? elected.version : (leadership?.claimedUnder ?? null);
    const failedUnder = failure === null ? null : under;
    const lastFailure =
      failure === null || under === null
        ? agent.registration.lastFailure
        : { electedVersion: under, token: String(token), detail: failure };
    const value = { ...agent.registration, lastFailure };
    const request = requestFor(
      { for: 'give-away', failedUnder },
      { check: 'seat', id: seat },
      { delete: 'current', version: claimVersion },
      { set: 'member', node, value, version: null },
    );
    const spent = {
      ...agent,
      registration: value,
      spentToken: newer(token, agent.spentToken),
      failedUnder: failedUnder ?? agent.failedUnder,
    };
    return { agent: this.#sent(spent, request), acted: true };
  }
}

type ClaimPurpose = Extract<Purpose, { for: 'claim' | 'decide-and-claim' }>;

function withClaim(registration: Registration, electedVersion: number): Registration {
  return { ...registration, claimedUnder: electedVersion, lastFailure: null };
}

function content(
  { node, registration }: Agent,
  status: ClaimContent['status'],
  { term }: Elected,
  electedVersion: number,
): ClaimContent {
  const { incarnation } = registration;
  return { node, site: site(node), incarnation, status, term, electedVersion, resumes: null };
}

function newer(a: bigint, b: bigint): bigint {
  if (a > b) return a;
  return b;
}

/** Returns the agent without its leadership. */
export function end(agent: Agent): Agent {
  const token = agent.leadership?.token ?? 0n;
  const spentToken = newer(token, agent.spentToken);
  return {
    ...agent,
    leadership: null,
    leadershipSession: 0n,
    leaseEnded: false,
    handOverRefused: false,
    hook: null,
    spentToken,
  };
}
