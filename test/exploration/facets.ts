/**
 * Selects the parts of a world that belong in the world's key, and writes each part as a facet. See `key.ts`.
 */

import type { Fence } from '../../src/core/elector-memory.js';
import type { Leadership } from '../../src/core/leadership.js';
import type { ElectorAction, ElectorMemory } from '../../src/core/round.js';
import { newElector } from '../../src/core/round.js';
import { durationMs } from '../../src/model/duration.js';
import type { GroupConfig } from '../../src/model/group-config.js';
import { fromInstant } from '../../src/model/names.js';
import type { Registration } from '../../src/model/registration.js';
import type { Claim, Member, Versioned } from '../../src/model/snapshot.js';
import type {
  ClaimContent,
  Elected,
  FailureRecord,
  HistoryHead,
  PreparedDecision,
  Successor,
} from '../../src/model/znodes.js';
import { epoch0Ms } from '../core/builders.js';
import { type Facet, FacetWriter, kinds, numberOf } from './key.js';
import type { Agent, Operation, Purpose, Request, Rest, Round, Setting, Tree, World } from './world.js';

/** Wraps a function so that it computes each object's facet only once. */
function once<T extends object>(write: (out: FacetWriter, value: T) => void): (value: T) => Facet {
  const known = new WeakMap<T, Facet>();
  return (value) => {
    let facet = known.get(value);
    if (facet === undefined) {
      const out = new FacetWriter();
      write(out, value);
      facet = out.done();
      known.set(value, facet);
    }
    return facet;
  };
}

/**
 * Makes compilation fail if a field of a type was forgotten. The key must include or exclude each field
 * explicitly.
 */
function nothingElse(_rest: Record<string, never>): void {}

/** Returns the parts of a request that later decisions depend on. */
function requestText(requested: Elected['requested']): string {
  if (requested === null) return '';
  return [...requested.overridden, requested.forced === true].join();
}

/** Returns the parts of a planned change that later decisions depend on. */
function handoverText(handover: Elected['handover']): string {
  return handover === undefined ? '' : [handover.requested, handover.previousBy !== undefined].join();
}

const nothing: Facet = new FacetWriter().plain(-1).done();

/** Returns the version of `elected`, given a text that identifies a decision. */
export function versionIn(written = ''): number {
  return Number(written.split('@')[0]);
}

/** Returns a number for one version of one node's registration. Nodes have versions of their own. */
function nodeVersionIn(node: string, version: number): number {
  return 10_000 * numberOf(node) + version;
}

function orNothing<T extends object>(facetOf: (value: T) => Facet, value: T | null): Facet {
  return value === null ? nothing : facetOf(value);
}

const stages = ['claimed', 'taking-over', 'taken-over', 'leading', 'releasing', 'released'];

export interface Facets {
  /** Returns the facets of a world's parts. Together, they make the world's key. */
  world(world: World): Facet[];
  registration(value: Registration): Facet;
  /** Returns the facets of everything that affects an elector's round. */
  round(agent: Agent, view: Tree): Facet[];
}

/**
 * Maximum number of consecutive failures of one node in a group with failback. Each failure doubles the
 * backoff.
 */
const mostFailures = 2;

export function facetsFor(setting: Setting, readsClock: boolean): Facets {
  const holdMs = 2 ** (mostFailures - 1) * durationMs(setting.config.backoff.max);
  const byFailback = setting.config.failback !== 'manual';
  const minLeadershipMs = durationMs(setting.config.minLeadership);
  const { base, max } = setting.config.backoff;
  const [baseMs, maxMs] = [durationMs(base), durationMs(max)];
  const { canFence, audits, publishes } = setting;
  const usesPrevious = setting.strategies.some(({ name }) => name === 'round-robin');

  const putConfig = once((out: FacetWriter, value: GroupConfig) => {
    const { switchover, ...rest } = value;
    const request = switchover === null ? '' : JSON.stringify({ ...switchover, replacesTerm: 0 });
    const clearedFailures = Object.keys(value.clearedFailures).length;
    out.plain(numberOf(JSON.stringify(rest)), numberOf(request), clearedFailures);
    out.maybe(kinds.term, switchover?.replacesTerm);
    const overrides = Object.values(value.sites).map(({ override }) => override?.until ?? null);
    for (const until of [...overrides, switchover?.notBefore ?? null]) {
      out.maybe(kinds.ensembleDue, until === null ? null : fromInstant(until) - epoch0Ms);
    }
  });
  const config = once((out: FacetWriter, { value, version }: Versioned<GroupConfig>) => {
    out.put(kinds.configVersion, version).add(orNothing(putConfig, value));
  });

  const putFailure = (out: FacetWriter, record: FailureRecord) => {
    const failedAt = fromInstant(record.failedAt) - epoch0Ms;
    if (byFailback && record.count > mostFailures)
      throw new Error('more failures than the key distinguishes');
    out.plain(numberOf(record.node), Math.min(record.count, 2), record.restarted ? 1 : 0);
    out.put(kinds.life, numberOf(record.incarnation));
    out.maybe(kinds.ensembleDue, record.until === null ? null : fromInstant(record.until) - epoch0Ms);
    out.put(kinds.ensembleDue, failedAt + baseMs).put(kinds.ensembleDue, failedAt + 2 * maxMs);
  };
  const electedValue = once((out: FacetWriter, value: Elected) => {
    const { node, term, previous, priorities, requested, handover, failures, ...others } = value;
    // The site is omitted because it follows from the node. The other omitted fields are only for display.
    const { site: _, strategy: _strategy, reason: _reason, cause: _cause, by: _by, ...rest } = others;
    // These fields are omitted because no explored group has site rules or several leaders.
    const { failedSite: _failedSite, slots: _slots, missedRequest = false, ...more } = rest;
    nothingElse(more);
    out
      .plain(numberOf(node ?? ''))
      .put(kinds.term, term)
      .plain(usesPrevious || handover !== undefined ? numberOf(previous?.node ?? '') : 0)
      .plain(numberOf(handoverText(handover)));
    out.plain(priorities?.[0] ?? -1, priorities?.[1] ?? -1, numberOf(requestText(requested)));
    out.plain(requested === null ? 0 : 1, missedRequest ? 1 : 0, failures.length);
    for (const record of failures) putFailure(out, record);
  });
  const elected = once((out: FacetWriter, { value, version }: Versioned<Elected>) => {
    out.put(kinds.electedVersion, version).add(orNothing(electedValue, value));
  });

  const prepared = once((out: FacetWriter, value: PreparedDecision) => {
    const { decision, electedVersion, configVersion, nodeVersion, seats } = value;
    out.put(kinds.electedVersion, electedVersion).put(kinds.configVersion, configVersion);
    out.put(kinds.nodeVersion, nodeVersionIn(decision.node, nodeVersion)).plain(seats.length);
    for (const seat of seats) out.put(kinds.seat, Number(seat));
    out.add(electedValue(decision));
  });
  // The reason is only for display, but an elector publishes each new one.
  const successorValue = once((out: FacetWriter, value: Successor) => {
    out.plain(numberOf(value.reason)).add(orNothing(prepared, value.prepared));
  });
  const successor = once((out: FacetWriter, { value, version }: Versioned<Successor>) => {
    out.put(kinds.successorVersion, version).add(orNothing(successorValue, value));
  });

  const claimContent = once((out: FacetWriter, { node, status, term }: ClaimContent) => {
    out.plain(numberOf(node), status === 'READY' ? 1 : 0).put(kinds.term, term);
  });
  const claim = once((out: FacetWriter, { value, version, token, owner }: Claim) => {
    out.put(kinds.token, Number(token)).put(kinds.session, Number(owner)).plain(version);
    out.add(orNothing(claimContent, value));
  });

  const headValue = once((out: FacetWriter, { term, fencingToken }: HistoryHead) => {
    out.put(kinds.term, term).maybe(kinds.sameToken, fencingToken === null ? null : Number(fencingToken));
  });
  const history = once((out: FacetWriter, { value, version }: Versioned<HistoryHead>) => {
    out.put(kinds.historyVersion, version).add(orNothing(headValue, value));
  });

  const registration = once((out: FacetWriter, value: Registration) => {
    const { incarnation, health, draining, priority, claimedUnder, lastFailure, lastTakeover, gaveUp } =
      value;
    out.put(kinds.life, numberOf(incarnation)).plain(health.ok ? 1 : 0, draining ? 1 : 0, priority);
    out.maybe(kinds.sameElectedVersion, canFence ? claimedUnder : null);
    out.maybe(kinds.sameElectedVersion, lastFailure?.electedVersion);
    out.maybe(kinds.sameToken, lastFailure?.token == null ? null : Number(lastFailure.token));
    out.maybe(kinds.sameToken, lastTakeover === null ? null : Number(lastTakeover.token));
    out.maybe(kinds.configVersion, gaveUp?.configVersion);
  });
  const member = once((out: FacetWriter, { node, owner, version, value }: Member) => {
    out.plain(numberOf(node), canFence ? version : 0).put(kinds.session, Number(owner));
    if (publishes) out.put(kinds.nodeVersion, nodeVersionIn(node, version));
    out.add(orNothing(registration, value));
  });

  const tree = once((out: FacetWriter, value: Tree) => {
    out.add(orNothing(config, value.config)).add(orNothing(elected, value.elected));
    out.add(orNothing(claim, value.current)).add(orNothing(history, value.history));
    if (publishes) out.add(orNothing(successor, value.successor ?? null));
    out.plain(value.members.length);
    for (const one of value.members) out.add(member(one));
    out.plain(value.seats.length);
    for (const seat of value.seats) {
      out.put(kinds.seat, seat.id).put(kinds.session, Number(seat.owner)).plain(numberOf(seat.node));
    }
  });

  const putFence = (out: FacetWriter, value: Fence | null) => {
    if (value === null) {
      out.plain(-1);
      return;
    }
    out.put(kinds.sameToken, Number(value.token)).plain(numberOf(value.node), value.claimVersion);
    out.put(kinds.electedVersion, value.electedVersion);
    out.plain(numberOf(value.electedNode?.node ?? ''), value.electedNode?.version ?? -1);
  };
  const seenOfMemory = (
    out: FacetWriter,
    // Alarms are omitted because they are for display. The time since READY matters only with failback. No
    // explored strategy compares scores, no group delays its first election, no group has site rules, and no
    // claim reports a lease loss. Failed fences are not counted here. The known successor only
    // saves a search.
    {
      lookedAtMs: _,
      alarmed: _alarmed,
      betterSince: _betterSince,
      firstLookMs: _firstLook,
      sites: _sites,
      leftTo: _leftTo,
      failedFences: _failedFences,
      successor: _successor,
      watched,
      progress,
      eligibleSinceMs,
      ready,
      fenced,
      ...others
    }: ElectorMemory,
  ) => {
    nothingElse(others);
    out.plain(watched === null ? 0 : 1);
    if (watched !== null) {
      const { condition: _condition, key: _key, firstMs: _first, session: _session, ...rest } = watched;
      const { sinceMs: _since, limitMs: _limit, ...more } = rest;
      nothingElse(more);
      const [kind = '', ...parts] = watched.key.split(' ');
      const token = Number(parts.at(-1));
      out.plain(numberOf(kind), numberOf(watched.condition.node ?? ''));
      out.maybe(kinds.sameElectedVersion, parts.length === 3 ? versionIn(parts[1]) : null);
      out.maybe(kinds.sameToken, Number.isNaN(token) ? null : token);
      out.maybe(kinds.session, watched.session);
      out.put(kinds.due, watched.sinceMs + watched.limitMs);
      out.put(kinds.due, watched.firstMs + 2 * watched.limitMs);
    }
    if (progress !== null) {
      const {
        decision: _decision,
        token: _token,
        owner: _owner,
        node: _node,
        seat: _seat,
        isOrphaned,
        ...rest
      } = progress;
      out.plain(isOrphaned ? 1 : 0);
      nothingElse(rest);
    }
    out
      .maybe(kinds.sameElectedVersion, progress === null ? null : versionIn(progress.decision))
      .maybe(kinds.sameToken, progress?.token);
    out.maybe(kinds.session, progress?.owner).plain(numberOf(progress?.node ?? ''));
    if (byFailback) {
      out.maybe(kinds.sameToken, ready?.token);
      if (ready !== null && minLeadershipMs > 0) out.put(kinds.due, ready.sinceMs + minLeadershipMs);
      out.plain(eligibleSinceMs.size);
      for (const [life, sinceMs] of eligibleSinceMs) {
        const [node = '', owner = ''] = life.split(' ');
        out
          .plain(numberOf(node))
          .put(kinds.session, Number(owner))
          .put(kinds.due, sinceMs + holdMs);
      }
    }
    putFence(out, fenced);
  };
  const memory = once((out: FacetWriter, value: ElectorMemory) => {
    if (value === newElector || value.lookedAtMs === null) {
      out.plain(0);
      return;
    }
    const forgets = value.watched !== null || value.progress !== null || value.fenced !== null || byFailback;
    const seen = new FacetWriter();
    seenOfMemory(seen, value);
    const { own } = seen.done();
    if (!forgets) {
      out.plain(1).append(own);
      return;
    }
    out
      .plain(2)
      .put(kinds.forgottenAt, value.lookedAtMs + 60_001)
      .plain(own.length / 2)
      .append(own);
  });

  const leadership = once(
    (out: FacetWriter, { token, term, stage, failure, claimedUnder, ...others }: Leadership) => {
      nothingElse(others);
      out
        .put(kinds.token, Number(token))
        .put(kinds.term, term)
        .plain(stages.indexOf(stage), failure === null ? 0 : 1);
      out.put(kinds.sameElectedVersion, claimedUnder);
    },
  );

  const putOperation = (out: FacetWriter, operation: Operation) => {
    if ('check' in operation) {
      const kind = { seat: 1, config: 2, elected: 3, member: 4, current: 5, successor: 6 }[operation.check];
      out.plain(kind);
      if (operation.check === 'seat') out.put(kinds.seat, operation.id);
      else if (operation.check === 'config') out.put(kinds.configVersion, operation.version);
      else if (operation.check === 'elected') out.put(kinds.electedVersion, operation.version);
      else if (operation.check === 'current') out.plain(operation.version);
      else if (operation.check === 'successor') out.put(kinds.successorVersion, operation.version);
      else if (publishes) out.put(kinds.nodeVersion, nodeVersionIn(operation.node, operation.version));
      else out.plain(numberOf(operation.node), operation.version);
      return;
    }
    if ('delete' in operation) {
      out.plain({ current: 11, member: 12, seat: 13 }[operation.delete]);
      if (operation.delete === 'seat') out.put(kinds.seat, operation.id);
      else out.plain(operation.version ?? -1);
      return;
    }
    if ('create' in operation) {
      out.plain({ current: 21, member: 22, seat: 23, tree: 24 }[operation.create]);
      if (operation.create === 'current') out.add(claimContent(operation.value));
      if (operation.create === 'member') out.add(registration(operation.value));
      return;
    }
    switch (operation.set) {
      case 'seat':
        out.plain(37).put(kinds.seat, operation.id);
        return;
      case 'elected':
        out.plain(31).put(kinds.electedVersion, operation.version).add(electedValue(operation.value));
        return;
      case 'successor':
        out.plain(36).maybe(kinds.successorVersion, operation.version);
        out.add(successorValue(operation.value));
        return;
      case 'history':
        out.plain(32).put(kinds.historyVersion, operation.version).add(headValue(operation.value));
        return;
      case 'config':
        out.plain(33).put(kinds.configVersion, operation.version).add(putConfig(operation.value));
        return;
      case 'current':
        out.plain(34, operation.version).add(claimContent(operation.value));
        return;
      case 'member':
        out.plain(35, canFence ? (operation.version ?? -1) : 0).add(registration(operation.value));
    }
  };
  const putPurpose = (out: FacetWriter, purpose: Purpose) => {
    out.plain(numberOf(purpose.for));
    if (purpose.for === 'claim' || purpose.for === 'decide-and-claim')
      out.put(kinds.electedVersion, purpose.electedVersion).add(tree(purpose.view));
    if (purpose.for === 'adopt') {
      out.put(kinds.electedVersion, purpose.electedVersion).put(kinds.token, Number(purpose.token));
      out.add(electedValue(purpose.elected));
    }
    if (purpose.for === 'ready') out.add(electedValue(purpose.elected));
    if (purpose.for === 'hand-over') out.add(electedValue(purpose.decision));
    if (purpose.for === 'give-away') out.maybe(kinds.sameElectedVersion, purpose.failedUnder);
  };
  const request = once((out: FacetWriter, { purpose, operations }: Request) => {
    putPurpose(out, purpose);
    out.plain(operations.length);
    for (const operation of operations) putOperation(out, operation);
  });

  const putAction = (out: FacetWriter, action: ElectorAction) => {
    out.plain(numberOf(action.do));
    switch (action.do) {
      case 'write-elected':
        out.add(electedValue(action.elected)).put(kinds.electedVersion, action.electedVersion);
        return;
      case 'record':
        out.put(kinds.historyVersion, action.headVersion).put(kinds.term, action.record.term);
        return;
      case 'give-up-seat':
        out.maybe(kinds.configVersion, action.configVersion);
        return;
      case 'publish-successor':
        out.maybe(kinds.successorVersion, action.version).add(successorValue(action.successor));
        out.put(kinds.electedVersion, action.electedVersion).put(kinds.configVersion, action.configVersion);
        return;
      case 'change-sites':
      case 'drop-request':
        out.put(kinds.configVersion, action.configVersion);
        return;
      case 'fence':
      case 'remove-fenced-claim':
        putFence(out, action.fence);
    }
  };
  const rest = once((out: FacetWriter, { actions, view }: Rest) => {
    out.plain(actions.length);
    if (actions.length === 0) return;
    for (const action of actions) putAction(out, action);
    out.add(tree(view));
  });
  const round = once((out: FacetWriter, value: Round) => {
    switch (value.at) {
      case 'asleep':
        out.plain(0);
        return;
      case 'reading':
        out.plain(1, value.done).add(tree(value.view));
        return;
      case 'read':
        out.plain(2).add(tree(value.view));
        return;
      case 'sent':
        out.plain(3).add(request(value.request)).add(orNothing(rest, value.rest));
        return;
      case 'answered':
        out.plain(4).maybe(kinds.token, value.answer?.token).maybe(kinds.seat, value.answer?.seat);
        out.add(request(value.request)).add(orNothing(rest, value.rest));
    }
  });

  const agent = once((out: FacetWriter, one: Agent) => {
    out.plain(numberOf(one.process)).put(kinds.session, Number(one.session)).maybe(kinds.token, one.work);
    const { hook, fencing, silent } = one;
    if (canFence) {
      out.maybe(kinds.sameToken, one.fencingToken).plain(fencing === null ? 0 : 1);
      if (fencing !== null) {
        putFence(out, fencing.fence);
        out.plain(fencing.hit ? 1 : 0).put(kinds.due, fencing.untilMs);
      }
    }
    if (one.process !== 'up') return;
    out.plain(one.frozen ? 1 : 0, one.stalls ? 1 : 0, one.cut ? 1 : 0, one.registered ? 1 : 0);
    out.plain(one.awake ? 1 : 0, one.leaseEnded ? 1 : 0, numberOf(one.lease), one.part);
    out.maybe(kinds.seat, one.seat).add(round(one.round)).add(registration(one.registration));
    out.add(orNothing(leadership, one.leadership)).put(kinds.session, Number(one.leadershipSession));
    out.plain(one.handOverRefused ? 1 : 0);
    // A view that the agent cannot claim by is as good as none.
    if (publishes) out.plain(one.notified ? 1 : 0).add(orNothing(tree, one.known));
    out.put(kinds.spentToken, Number(one.spentToken)).maybe(kinds.sameElectedVersion, one.failedUnder);
    out.plain(hook === null ? 0 : 1);
    if (hook !== null) out.plain(numberOf(hook.phase), numberOf(hook.state)).put(kinds.due, hook.untilMs);
    out.add(memory(one.memory)).maybe(kinds.due, one.wakeAtMs).maybe(kinds.due, one.drainUntilMs);
    if (readsClock) {
      const error = one.clock.epochMs - epoch0Ms - one.clock.atMs;
      out
        .plain(error)
        .put(kinds.due, one.clock.atMs + 1_001)
        .put(kinds.due, one.clock.atMs + 60_001);
    }
    if (audits) {
      out.put(kinds.due, one.auditAtMs).maybe(kinds.electedVersion, silent?.electedVersion);
      out.maybe(kinds.seat, silent?.seat);
      out.maybe(kinds.due, silent === null ? null : silent.sinceMs + 2 * setting.sessionTimeoutMs + unitMs);
    }
  });

  return {
    world(world) {
      const out = new FacetWriter();
      out.plain(world.faults, world.changes, world.moves, world.isClaimLost ? 1 : 0);
      out.plain(readsClock ? world.skewMs : 0, world.sessions.length);
      for (const { id, agent: index } of byAgent(world.sessions))
        out.plain(index).put(kinds.session, Number(id));
      out.plain(world.adrift.length).put(kinds.spentToken, Number(world.newestWork));
      out.put(kinds.term, world.newestTerm);
      const adrift = world.adrift.flatMap(({ session, request: sent }) => [
        new FacetWriter().put(kinds.session, Number(session)).done(),
        request(sent),
      ]);
      return [tree(world.tree), ...world.agents.map(agent), out.done(), ...adrift];
    },
    registration,
    round(one, view) {
      const who = new FacetWriter().plain(one.index).maybe(kinds.seat, one.seat);
      if (readsClock) who.plain(one.clock.epochMs - epoch0Ms, one.clock.atMs);
      return [who.done(), memory(one.memory), tree(view)];
    },
  };
}

/**
 * Sorts the sessions by agent, because the order across agents does not matter. The sessions of one agent
 * keep their order.
 */
function byAgent(sessions: World['sessions']): World['sessions'] {
  return sessions.toSorted((one, other) => one.agent - other.agent);
}

const unitMs = 10_000;
