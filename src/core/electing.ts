/**
 * The elector's round: from a snapshot to what the elector should write, or do, next. The elector decides; it need
 * not lead. What it saw and since when is its memory: a value that goes in and comes out.
 *
 * Not promised: that the writes succeed. Each names the versions it was decided on, so one that comes too late
 * writes nothing, and the next round sees why.
 */
import type { ReadyStrategy } from '../../strategies/index.js';
import { type Choice, elect, previousLeader, StrategyFault } from './elect.js';
import { failureOf, obstacles } from './eligibility.js';
import { type Failed, readyNode, settleFailures, withFailure } from './failures.js';
import { type GroupConfig, sitePriority } from './group-config.js';
import { type ClockReading, endedOverrides, ensembleNowMs, needsReading, nextLimitInMs } from './limits.js';
import { endedBadly, reachedReady } from './records.js';
import { type Claim, claimOwner, type GroupSnapshot, type Member } from './snapshot.js';
import { overdueMs, type Watched, watch } from './watchdog.js';
import type { Elected, TransitionRecord } from './znodes.js';

export interface ElectorMemory {
  readonly watched: Watched | null;
  /** A claim in PROGRESS by the elected node, as last seen. */
  readonly progress: {
    readonly node: string;
    readonly electedVersion: number;
    readonly token: bigint;
  } | null;
  /** Since when each node has been fit, monotonic. */
  readonly fitSinceMs: ReadonlyMap<string, number>;
  /** Since when the leader with this token has been READY, monotonic. */
  readonly ready: { readonly token: bigint; readonly sinceMs: number } | null;
  /** Token of the claim that an alarm was raised for. */
  readonly alarmed: bigint | null;
  /** Token of the claim whose owner was fenced, with what was read before the fence. */
  readonly fenced: Fence | null;
}

export const newElector: ElectorMemory = {
  watched: null,
  progress: null,
  fitSinceMs: new Map(),
  ready: null,
  alarmed: null,
  fenced: null,
};

/** What a fence was decided on: removing the claim afterwards checks that none of it has moved. */
export interface Fence {
  readonly token: bigint;
  readonly node: string;
  readonly claimVersion: number;
  readonly electedVersion: number;
  /** The elected node's registration: a claim it made meanwhile has moved its version. */
  readonly electedNode: { readonly node: string; readonly version: number } | null;
}

export type ElectorAction =
  | { readonly do: 'read-clock' }
  | {
      readonly do: 'write-elected';
      readonly elected: Elected;
      readonly configVersion: number;
      readonly electedVersion: number;
      readonly record: TransitionRecord | null;
      readonly headVersion: number | null;
    }
  | { readonly do: 'record'; readonly record: TransitionRecord; readonly headVersion: number }
  | { readonly do: 'end-override'; readonly sites: readonly string[]; readonly configVersion: number }
  | { readonly do: 'alarm'; readonly message: string; readonly node: string | null }
  | { readonly do: 'fence'; readonly fence: Fence }
  | { readonly do: 'remove-fenced-claim'; readonly fence: Fence }
  | { readonly do: 'give-up-seat'; readonly reason: string; readonly configVersion: number };

export interface ElectorRound {
  readonly actions: readonly ElectorAction[];
  readonly memory: ElectorMemory;
  /** Look again after so long even if nothing wakes; null: no need. */
  readonly recheckInMs: number | null;
  /** What was chosen, for people; null when nothing could be decided. */
  readonly choice: Choice | null;
}

export interface ElectorSituation {
  readonly self: string;
  readonly snapshot: GroupSnapshot;
  /** Everyone registered. */
  readonly members: readonly Member[];
  /** The configuration to decide by: what was read, or, while that is unreadable, the last that was not. */
  readonly config: GroupConfig;
  readonly strategy: ReadyStrategy;
  readonly memory: ElectorMemory;
  readonly clock: ClockReading | null;
  /** Monotonic. */
  readonly nowMs: number;
  /** A fence hook is configured here. */
  readonly canFence: boolean;
}

/** One round. Never throws for what a strategy does. */
export function electorRound(situation: ElectorSituation): ElectorRound {
  const { snapshot, config, clock, nowMs } = situation;
  const idle = { memory: situation.memory, recheckInMs: null, choice: null };
  const known = snapshot.elected.value?.failures ?? [];
  if (clock === null || needsReading(clock, config, known, nowMs)) {
    return { ...idle, actions: [{ do: 'read-clock' }] };
  }
  const ended = snapshot.config.value === null ? [] : endedOverrides(config, ensembleNowMs(clock, nowMs));
  if (ended.length > 0) {
    const configVersion = snapshot.config.version;
    return { ...idle, actions: [{ do: 'end-override', sites: ended, configVersion }] };
  }
  return decide(situation, ensembleNowMs(clock, nowMs));
}

function decide(situation: ElectorSituation, epochMs: number): ElectorRound {
  const { snapshot, members, config, nowMs, strategy } = situation;
  const elected = electedOrRestored(snapshot);
  const seen = look(situation, elected);
  const failed = failedCandidate(situation, elected, seen.watched);
  const settled = settleFailures(elected.failures, members, snapshot.current, config, epochMs);
  const failures = failed === null ? settled : withFailure(settled, failed, config, epochMs);
  const fitSinceMs = fitSince(situation, failures, epochMs);
  const memory = { ...seen, fitSinceMs };
  let choice: Choice;
  try {
    choice = elect({
      config,
      strategy,
      elected,
      current: snapshot.current,
      members,
      failures,
      nowMs: epochMs,
      electedFailed: failed !== null || failedBefore(elected),
      fitForMs: (node) => nowMs - (fitSinceMs.get(node) ?? nowMs),
      readyForMs: seen.ready === null ? 0 : nowMs - seen.ready.sinceMs,
    });
  } catch (error) {
    if (!(error instanceof StrategyFault)) throw error;
    const configVersion = snapshot.config.version;
    const actions = [{ do: 'give-up-seat', reason: error.message, configVersion } as const];
    return { actions, memory, recheckInMs: null, choice: null };
  }
  const write = electedWrite(situation, elected, choice, failed, epochMs);
  const actions = write === null ? afterwards(situation, elected, memory) : [write];
  return {
    actions,
    memory: { ...memory, alarmed: alarmedAfter(actions, snapshot.current, memory) },
    recheckInMs: soonest([
      choice.recheckInMs,
      nextLimitInMs(config, choice.failures, epochMs),
      memory.watched === null ? null : -overdueMs(memory.watched, nowMs),
    ]),
    choice,
  };
}

/** What `elected` says; where it cannot be read, as much as is safe to assume: the term must not fall. */
export function electedOrRestored({ elected, current, history }: GroupSnapshot): Elected {
  if (elected.value !== null) return elected.value;
  const term = Math.max(current?.value?.term ?? 0, history?.value?.term ?? 0);
  const leader = current?.value ?? null;
  return {
    node: leader?.node ?? null,
    site: leader?.site ?? null,
    term,
    strategy: 'none',
    reason: `leader/elected could not be read (${elected.problem})`,
    cause: 'nobody',
    by: 'none',
    previous: leader === null ? null : { node: leader.node, site: leader.site },
    priorities: null,
    failures: [],
  };
}

/** The elected node's last failure still stands, unanswered: the version that records it names the node again only
 * with the exclusion lifted. */
function failedBefore(elected: Elected): boolean {
  return elected.node !== null && failureOf(elected.failures, elected.node)?.until != null;
}

function look(situation: ElectorSituation, elected: Elected): ElectorMemory {
  const { snapshot, config, memory, nowMs, members } = situation;
  const { current } = snapshot;
  const watched = watch(snapshot, elected, config, memory.watched, nowMs);
  const owner = current === null ? null : claimOwner(current, members);
  const takesOver = current !== null && watched?.condition.kind === 'taking-over' && owner !== null;
  const progress = takesOver
    ? { node: owner.node, electedVersion: snapshot.elected.version, token: current.token }
    : null;
  const leads = current !== null && current.value?.status === 'READY';
  const ready = leads
    ? { token: current.token, sinceMs: memory.ready?.token === current.token ? memory.ready.sinceMs : nowMs }
    : null;
  return { ...memory, watched, progress, ready };
}

/** The elected node, when it failed under the present version of `elected`: by its own word, because its claim
 * vanished in PROGRESS, or because it did not get on in time. */
function failedCandidate(
  { snapshot, members, memory, nowMs }: ElectorSituation,
  elected: Elected,
  watched: Watched | null,
): Failed | null {
  if (elected.node === null || snapshot.elected.value === null) return null;
  const { node } = elected;
  const { version } = snapshot.elected;
  const registration = members.find((member) => member.node === node)?.value ?? null;
  const incarnation = registration?.incarnation ?? 'unknown';
  const own = registration?.lastFailure;
  if (own != null && own.electedVersion === version) {
    return { node, incarnation, reason: `${own.detail.phase} failed: ${own.detail.reason}` };
  }
  const { progress } = memory;
  if (progress?.node === node && progress.electedVersion === version) {
    const { current } = snapshot;
    if (current === null || current.token !== progress.token) {
      return { node, incarnation, reason: 'its claim vanished while it was taking over' };
    }
  }
  if (watched === null || watched.condition.kind === 'holding' || overdueMs(watched, nowMs) < 0) return null;
  const what = watched.condition.kind === 'unclaimed' ? 'did not claim' : 'was not READY';
  return { node, incarnation, reason: `it ${what} within ${watched.limitMs} ms` };
}

function fitSince(
  { members, config, memory, nowMs }: ElectorSituation,
  failures: Elected['failures'],
  epochMs: number,
): ReadonlyMap<string, number> {
  const fit = members.filter((member) => obstacles(member, config, failures, epochMs).length === 0);
  return new Map(fit.map(({ node }) => [node, memory.fitSinceMs.get(node) ?? nowMs]));
}

function electedWrite(
  situation: ElectorSituation,
  elected: Elected,
  choice: Choice,
  failed: Failed | null,
  epochMs: number,
): Extract<ElectorAction, { do: 'write-elected' }> | null {
  const { snapshot, members, self } = situation;
  const recovered = readyNode(snapshot.current, members);
  const forgives = recovered !== null && failureOf(elected.failures, recovered) !== null;
  const unreadable = snapshot.elected.value === null;
  if (!choice.changes && failed === null && !forgives && !unreadable) return null;
  const member = members.find(({ node }) => node === choice.node)?.value ?? null;
  const next: Elected = choice.changes
    ? {
        node: choice.node,
        site: member?.site ?? null,
        term: elected.term + 1,
        strategy: situation.strategy.name,
        reason: choice.reason,
        cause: choice.cause,
        by: self,
        previous: previousLeader({ current: snapshot.current, members, elected }),
        priorities:
          member === null ? null : [sitePriority(situation.config, member.site, epochMs), member.priority],
        failures: [...choice.failures],
      }
    : { ...elected, failures: [...choice.failures] };
  const record = choice.changes ? endedBadly(situation, elected, failed) : null;
  return {
    do: 'write-elected',
    elected: next,
    configVersion: snapshot.config.version,
    electedVersion: snapshot.elected.version,
    record,
    headVersion: record === null ? null : (snapshot.history?.version ?? null),
  };
}

/** What is left to do when the decision stands. */
function afterwards(situation: ElectorSituation, elected: Elected, memory: ElectorMemory): ElectorAction[] {
  const { snapshot, nowMs } = situation;
  const { current, history } = snapshot;
  const { watched } = memory;
  if (current !== null && watched?.condition.kind === 'holding' && overdueMs(watched, nowMs) >= 0) {
    return heldTooLong(situation, elected, memory, watched, current);
  }
  const leads = current?.value?.status === 'READY' && current.value.term === elected.term && watched === null;
  if (!leads || history === null) return [];
  const record = reachedReady(situation, elected, current);
  return record === null ? [] : [{ do: 'record', record, headVersion: history.version }];
}

function heldTooLong(
  { snapshot, members, canFence }: ElectorSituation,
  elected: Elected,
  memory: ElectorMemory,
  watched: Watched,
  current: Claim,
): ElectorAction[] {
  const { node } = watched.condition;
  if (memory.fenced?.token === current.token) return [{ do: 'remove-fenced-claim', fence: memory.fenced }];
  const actions: ElectorAction[] = [];
  if (memory.alarmed !== current.token) {
    const heir = elected.node === null ? 'nobody is elected' : `${elected.node} waits`;
    const fencing = canFence && node !== null ? 'fencing it' : 'no onFence hook: it must be stopped by hand';
    const message = `${node ?? 'an unknown node'} still owns leader/current after ${watched.limitMs} ms (${heir}); ${fencing}`;
    actions.push({ do: 'alarm', message, node });
  }
  if (canFence && node !== null) {
    const heir = members.find((member) => member.node === elected.node) ?? null;
    const fence: Fence = {
      token: current.token,
      node,
      claimVersion: current.version,
      electedVersion: snapshot.elected.version,
      electedNode: heir === null ? null : { node: heir.node, version: heir.version },
    };
    actions.push({ do: 'fence', fence });
  }
  return actions;
}

function alarmedAfter(
  actions: readonly ElectorAction[],
  current: Claim | null,
  memory: ElectorMemory,
): bigint | null {
  return actions.some((action) => action.do === 'alarm') ? (current?.token ?? null) : memory.alarmed;
}

/** The shortest of the waits that are still to come; one that has passed was acted on in this round. */
function soonest(waits: readonly (number | null)[]): number | null {
  const ahead = waits.filter((wait) => wait !== null).filter((wait) => wait > 0);
  return ahead.length === 0 ? null : Math.min(...ahead);
}
