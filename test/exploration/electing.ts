/**
 * Models a round of the elector, and the next elector's watchdog that checks the elector. Mirrors
 * `src/agent/elector/elector.ts` and `elector-watchdog.ts`.
 */

import type { ClockReading } from '../../src/core/ensemble-clock.js';
import { type ElectorAction, type ElectorRound, electorRound } from '../../src/core/round.js';
import { durationMs } from '../../src/model/duration.js';
import { withSites } from '../../src/model/group-config.js';
import type { Elected } from '../../src/model/znodes.js';
import { constraints } from '../../strategies/constraints/index.js';
import { epoch0Ms } from '../core/builders.js';
import type { Facets } from './facets.js';
import { Keyer } from './key.js';
import { asleep, lookAgain, membersOf, requestFor, snapshotOf } from './look.js';
import type { Agent, Operation, Request, Rest, Setting, Tree } from './world.js';

const electorWatchdogMs = 10_000;

export interface ElectingOptions {
  readonly setting: Setting;
  readonly facets: Facets;
  readonly readsClock: boolean;
  isDue(round: ElectorRound): boolean;
  sent(agent: Agent, request: Request, rest: Rest | null): Agent;
  /**
   * Returns the request that also makes the agent's claim. Null if the agent would not claim at once after it
   * has read `decided`.
   */
  claims(agent: Agent, request: Request, decided: Tree, nowMs: number): Request | null;
}

export class Electing {
  readonly #options: ElectingOptions;
  readonly #keyer = new Keyer();
  readonly #rounds = new Map<string, ElectorRound>();

  constructor(options: ElectingOptions) {
    this.#options = options;
  }

  elect(agent: Agent, view: Tree, nowMs: number): Agent {
    const place = view.seats.findIndex(({ id }) => id === agent.seat);
    if (place === 0 && agent.part === 2) {
      const round = this.#round(agent, view, nowMs);
      const wakeAtMs = round.recheckInMs === null ? null : nowMs + round.recheckInMs;
      const decided = { ...agent, memory: round.memory, wakeAtMs, clock: this.#clock(agent, nowMs) };
      return this.carryOn(decided, { actions: round.actions, view }, nowMs, false);
    }
    const audited = place === 1 && this.#options.setting.audits ? this.#audit(agent, view, nowMs) : agent;
    return audited.round.at === 'sent' ? audited : sleepOrLeave(audited, view, nowMs);
  }

  #clock(agent: Agent, nowMs: number): ClockReading {
    return this.#options.readsClock ? agent.clock : { epochMs: epoch0Ms + nowMs, atMs: nowMs };
  }

  #round(agent: Agent, view: Tree, nowMs: number): ElectorRound {
    const times = { nowMs, ensembleNowMs: nowMs, backMs: 2 ** 30, exact: true, mayRestart: true };
    this.#keyer.hash(this.#options.facets.round(agent, view), times);
    const key = `${nowMs} ${this.#keyer.low} ${this.#keyer.high}`;
    const known = this.#rounds.get(key);
    if (known !== undefined) return known;
    const round = electorRound({
      self: agent.node,
      snapshot: snapshotOf({ ...agent, part: 2 }, view),
      members: membersOf(view),
      config: view.config?.value ?? this.#options.setting.config,
      strategy:
        this.#options.setting.strategies[agent.index] ?? this.#options.setting.strategies[0] ?? missing(),
      memory: agent.memory,
      clock: this.#clock(agent, nowMs),
      nowMs,
      constraints,
      canFence: this.#options.setting.canFence,
      observedSinceMs: Number.NEGATIVE_INFINITY,
    });
    if (this.#rounds.size > 500_000) this.#rounds.clear();
    this.#rounds.set(key, round);
    return round;
  }

  /** Performs the remaining actions of an elector's round, up to the first one that sends a request. */
  carryOn(agent: Agent, { actions, view }: Rest, nowMs: number, acted: boolean): Agent {
    const [action, ...later] = actions;
    if (action === undefined) return acted ? lookAgain(agent) : sleepOrLeave(agent, view, nowMs);
    const rest = { actions: later, view };
    if (action.do === 'alarm') return this.carryOn(agent, rest, nowMs, acted);
    if (action.do === 'fence') {
      if (agent.fencingToken === action.fence.token) return this.carryOn(agent, rest, nowMs, acted);
      const { timeouts } = view.config?.value ?? this.#options.setting.config;
      const fencing = { fence: action.fence, untilMs: nowMs + durationMs(timeouts.fence), hit: false };
      return this.carryOn({ ...agent, fencing, fencingToken: action.fence.token }, rest, nowMs, acted);
    }
    const [next] = later;
    if (action.do === 'record' && next?.do === 'publish-successor') {
      // One transaction records the transition and publishes the successor.
      const { purpose, operations } = this.#requestFor(agent, action, view);
      const both = requestFor(purpose, ...operations, ...publishing(next));
      return this.#options.sent(agent, both, { actions: later.slice(1), view });
    }
    const request = this.#requestFor(agent, action, view);
    if (action.do !== 'write-elected' || view.elected === null)
      return this.#options.sent(agent, request, rest);
    const { elected: value, electedVersion } = action;
    const elected = { ...view.elected, value, problem: null, version: electedVersion + 1 };
    const both = this.#options.claims(agent, request, { ...view, elected }, nowMs);
    return this.#options.sent(agent, both ?? request, rest);
  }

  #requestFor(agent: Agent, action: Exclude<ElectorAction, { do: 'alarm' | 'fence' }>, view: Tree): Request {
    const seat = { check: 'seat', id: agent.seat ?? -1 } as const;
    switch (action.do) {
      case 'read-clock':
        return requestFor({ for: 'clock' });
      case 'write-elected': {
        const { record, headVersion, elected: value, electedVersion: version } = action;
        const head = record && { term: record.term, fencingToken: record.fencingToken };
        return requestFor(
          { for: 'elected' },
          seat,
          { check: 'config', version: action.configVersion },
          { set: 'elected', value, version },
          ...this.#notifying(value, view),
          ...(head === null || headVersion === null
            ? []
            : [{ set: 'history', value: head, version: headVersion } as const]),
        );
      }
      case 'record': {
        const { term, fencingToken } = action.record;
        const head = { set: 'history', value: { term, fencingToken }, version: action.headVersion } as const;
        return requestFor({ for: 'record' }, seat, head);
      }
      case 'publish-successor':
        return requestFor({ for: 'publish-successor' }, seat, ...publishing(action));
      case 'change-sites': {
        const value = withSites(view.config?.value ?? this.#options.setting.config, action.changes);
        return requestFor({ for: 'change-sites' }, seat, {
          set: 'config',
          value,
          version: action.configVersion,
        });
      }
      case 'drop-request': {
        const value = { ...(view.config?.value ?? this.#options.setting.config), switchover: null };
        return requestFor({ for: 'change-sites' }, seat, {
          set: 'config',
          value,
          version: action.configVersion,
        });
      }
      case 'pause':
        throw new Error('no group explored has a circuit breaker');
      case 'remove-fenced-claim': {
        const { fence } = action;
        const candidate = fence.electedNode;
        const owner = view.current?.owner;
        const seats = view.seats.filter((one) => one.node === fence.node && one.owner === owner);
        return requestFor(
          { for: 'remove-fenced', fence },
          seat,
          { check: 'elected', version: fence.electedVersion },
          ...(candidate === null ? [] : [{ check: 'member', ...candidate } as const]),
          ...seats.map(({ id }) => ({ delete: 'seat', id }) as const),
          { delete: 'current', version: fence.claimVersion },
        );
      }
      case 'give-up-seat': {
        const { configVersion, reason } = action;
        const gaveUp = configVersion === null ? agent.registration.gaveUp : { configVersion, reason };
        const value = { ...agent.registration, gaveUp };
        return requestFor(
          { for: 'give-up-seat' },
          { set: 'member', node: agent.node, value, version: null },
          { delete: 'seat', id: agent.seat ?? -1 },
          { create: 'seat', node: agent.node },
        );
      }
    }
  }

  /** Returns the writes that notify a newly elected node. They matter only if a successor is published. */
  #notifying({ node }: Elected, { elected, seats }: Tree): Operation[] {
    if (!this.#options.setting.publishes || node === null || node === elected?.value?.node) return [];
    return seats.filter((seat) => seat.node === node).map(({ id }) => ({ set: 'seat', id }));
  }

  /** Models the next elector's check that the elector still decides. */
  #audit(agent: Agent, view: Tree, nowMs: number): Agent {
    if (nowMs < agent.auditAtMs || view.elected === null) return agent;
    const round = this.#round(agent, view, nowMs);
    const below = view.seats[0]?.id ?? -1;
    const looked = {
      ...agent,
      memory: round.memory,
      auditAtMs: nowMs + electorWatchdogMs,
      wakeAtMs: nowMs + electorWatchdogMs,
    };
    const isDue = this.#options.isDue(round);
    const electedVersion = view.elected.version;
    if (!isDue) return { ...looked, silent: null };
    const { silent: before } = agent;
    const isSame = before?.seat === below && before.electedVersion === electedVersion;
    const silent = isSame ? before : { electedVersion, seat: below, sinceMs: nowMs };
    const patienceMs = 2 * this.#options.setting.sessionTimeoutMs + electorWatchdogMs;
    if (nowMs - silent.sinceMs < patienceMs) return { ...looked, silent };
    const request = requestFor(
      { for: 'unseat' },
      { check: 'seat', id: agent.seat ?? -1 },
      { check: 'elected', version: electedVersion },
      { delete: 'seat', id: below },
    );
    return this.#options.sent({ ...looked, silent: null }, request, null);
  }
}

function publishing({
  successor: value,
  version,
  electedVersion,
  configVersion,
}: Extract<ElectorAction, { do: 'publish-successor' }>): Operation[] {
  return [
    { check: 'config', version: configVersion },
    { check: 'elected', version: electedVersion },
    { set: 'successor', value, version },
    ...(value.prepared?.seats ?? []).map((name) => ({ set: 'seat', id: Number(name) }) as const),
  ];
}

/** Returns the agent after a round in which nothing is left to do. The agent sleeps, or leaves the group. */
function sleepOrLeave(agent: Agent, view: Tree, nowMs: number): Agent {
  const { drainUntilMs, leadership } = agent;
  const isLeaving = drainUntilMs !== null && leadership === null;
  const isFree = view.elected?.value?.node !== agent.node || nowMs >= (drainUntilMs ?? 0);
  if (isLeaving && (isFree || view.config?.value?.paused != null)) {
    return { ...agent, round: asleep, awake: false, process: 'left' };
  }
  return { ...agent, round: asleep };
}

function missing(): never {
  throw new Error('a setting without a strategy');
}
