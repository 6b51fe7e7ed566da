/**
 * Gathers the facts for the checks. If a fact cannot be determined, the problem is recorded in place of the
 * fact, and no error is thrown.
 */

import { builtInRules } from '../../strategies/index.js';
import { accessOf, hasAclSettings } from '../config/access-settings.js';
import type { DescribedSetting, UnreadableFile } from '../config/read-settings.js';
import type { AgentSettings, ClientSettings } from '../config/settings.js';
import { storeOptions, tlsOptions } from '../config/store-options.js';
import { effectiveDecision } from '../core/effective-decision.js';
import { isGivenUp } from '../core/elsewhere.js';
import { ensembleNowMs } from '../core/ensemble-clock.js';
import { pausedText } from '../core/operator-decision.js';
import { errorMessage } from '../errors.js';
import { readAcls } from '../group/access.js';
import { asPetrelError } from '../group/failure.js';
import { viewsOfSlots } from '../group/slot-view.js';
import { readEnsembleClock, readOrEstimateClock } from '../group/time.js';
import { type Transition, transitionOf, transitionText } from '../group/transition.js';
import { type GroupView, readGroup } from '../group/view.js';
import type { Logger } from '../log.js';
import { type GroupPaths, groupPaths } from '../model/paths.js';
import { slotOf } from '../model/slots.js';
import type { Clock } from '../ports/clock.js';
import { isStoreError, type Store } from '../ports/store.js';
import { askServer } from '../zookeeper/four-letter-word.js';
import { dialWith, openStore, parseConnectionString, serverText } from '../zookeeper/index.js';
import type { ClockFacts, Facts, GroupFacts, Problem, ServerFacts } from './facts.js';
import { gatherNode } from './gather-node.js';
import { reachByTcp } from './reach.js';
import { readSummary, readTiming } from './servers.js';

export interface GatherOptions {
  readonly settings: AgentSettings & ClientSettings;
  readonly described: readonly DescribedSetting[];
  /** Files that are named in settings but cannot be read. */
  readonly unreadable: readonly UnreadableFile[];
  readonly clock: Clock;
  readonly log: Logger;
}

export async function gatherFacts(options: GatherOptions): Promise<Facts> {
  const [servers, reached, node] = await Promise.all([
    gatherServers(options),
    gatherByStore(options),
    gatherNode(options),
  ]);
  return { servers, ...reached, node };
}

// -- Facts about the servers

async function gatherServers({ settings, clock }: GatherOptions): Promise<ServerFacts[]> {
  const { servers } = parseConnectionString(settings.zookeeper);
  return await Promise.all(
    servers.map(async (server): Promise<ServerFacts> => {
      const name = serverText(server);
      try {
        const dial = dialWith(tlsOptions(settings) ?? undefined);
        const options = { dial, clock, timeoutMs: settings.connectTimeoutMs };
        const summary = readSummary(await askServer(server, 'srvr', options));
        const timing = await askServer(server, 'conf', options).then(readTiming, () => null);
        return { server: name, summary, timing };
      } catch (error) {
        return { server: name, summary: { problem: errorMessage(error) }, timing: null };
      }
    }),
  );
}

// -- Facts about the session, and facts that are read through it

type Reached = Pick<Facts, 'session' | 'group'>;

async function gatherByStore({ settings, clock, log }: GatherOptions): Promise<Reached> {
  const { sessionTimeoutMs: requestedMs, connectTimeoutMs: timeoutMs } = settings;
  let store: Store;
  try {
    store = openStore({
      ...storeOptions(settings),
      sessionTimeoutMs: requestedMs,
      callTimeoutMs: timeoutMs,
      logger: log,
    });
  } catch (error) {
    return unreached(error);
  }
  try {
    await store.connected({ timeoutMs });
    const session = { requestedMs, grantedMs: store.negotiatedTimeoutMs };
    const group = await gatherGroup(store, settings, clock).catch(problemOfGroup);
    return { session, group };
  } catch (error) {
    return unreached(error);
  } finally {
    await store.close({ timeoutMs: 500 });
  }
}

function unreached(error: unknown): Reached {
  return {
    session: problemOf(error),
    group: { problem: 'the group was not checked: no session with ZooKeeper' },
  };
}

function problemOf(error: unknown): Problem {
  return { problem: errorMessage(error) };
}

function problemOfGroup(error: unknown): Problem {
  const { message, remedies } = asPetrelError(error);
  const kinds = remedies.map(({ kind }) => kind);
  const todo = kinds.includes('root')
    ? 'check the root path (--root). If the path is right, start an agent with permission to create the group'
    : kinds.includes('credentials')
      ? 'pass the credentials of the group’s agents (authFile); petrel acl show lists the rights'
      : 'see petrel list and the log of an agent';
  return { problem: message, todo };
}

async function gatherGroup(
  store: Store,
  settings: GatherOptions['settings'],
  clock: Clock,
): Promise<GroupFacts> {
  const paths = groupPaths(settings.root);
  const access = accessOf(settings);
  const view = await readGroup({ store, paths, rules: builtInRules }, { scores: true });
  const { problems } = view;
  const comparison = await compareClocks(store, paths, clock);
  return {
    root: settings.root,
    access,
    hasAclSettings: hasAclSettings(settings),
    znodes: await readAcls(store, paths, access),
    members: await gatherMembers(store, view, settings),
    ...(await gatherSlots(store, view, clock)),
    problems: problems.map(({ path, problem }) => `${path}: ${problem}`),
    clock: comparison,
    tokens: await tokensInForce(store, view, comparison !== null),
  };
}

/**
 * Returns the current tokens. If `isWritten` is true, the clock's znode has just been written, and its zxid
 * is the newest.
 */
async function tokensInForce(
  store: Store,
  view: GroupView,
  isWritten: boolean,
): Promise<GroupFacts['tokens']> {
  const epoch = view.config.value?.tokenEpoch ?? null;
  const counted = isWritten ? await store.exists(view.paths.clock) : null;
  return viewsOfSlots(view).flatMap((slot) => {
    const token = slot.current?.token ?? (counted === null ? null : counted.mzxid + 1n);
    return token === null ? [] : [{ epoch, slot: slotOf(slot), token }];
  });
}

async function gatherSlots(
  store: Store,
  view: GroupView,
  clock: Clock,
): Promise<Pick<GroupFacts, 'slots' | 'late'>> {
  const reading = await readOrEstimateClock(store, view, clock);
  const nowMs = ensembleNowMs(reading, clock.monotonicMs());
  const slots = viewsOfSlots(view).map((slot) => ({ slot, transition: transitionOf(slot, nowMs) }));
  const isLate = ({ elapsedMs, limitMs }: Transition) => elapsedMs > limitMs;
  return {
    slots: slots.map(({ slot, transition }) => ({
      leader: slot.current?.value?.status === 'READY' ? slot.current.value.node : null,
      reason: transition === null ? reasonOf(slot) : transitionText(transition),
      isChanging: transition === null ? isUnelected(slot) : !isLate(transition),
    })),
    late: slots.flatMap(({ transition }) => (transition !== null && isLate(transition) ? [transition] : [])),
  };
}

/** Whether the slot has never had a leader, or is being removed. */
function isUnelected(view: GroupView): boolean {
  const decision = effectiveDecision(view);
  return isGivenUp(decision) || (decision.node === null && decision.previous === null);
}

/**
 * Returns why the slot has its current leader, or why it has none. Valid only if no transition is under way.
 */
function reasonOf(view: GroupView): string {
  const { node, reason } = effectiveDecision(view);
  const paused = view.config.value?.paused ?? null;
  return node === null || paused === null ? reason : pausedText(paused);
}

async function gatherMembers(
  store: Store,
  { members, paths }: GroupView,
  { connectTimeoutMs }: GatherOptions['settings'],
): Promise<GroupFacts['members']> {
  const all = members.map(async ({ node, value, scores }) => {
    if (value === null) return [];
    const stat = await store.exists(paths.node(node));
    const { version: its, startedAt, probe } = value;
    return [
      {
        node,
        version: its,
        startedAtMs: Date.parse(startedAt),
        registeredAtMs: stat?.ctimeMs ?? Number.POSITIVE_INFINITY,
        probe,
        unreachable:
          probe === null || probe.protocol === 'udp' ? null : await reachByTcp(probe, connectTimeoutMs),
        reaches: probe === null || scores === undefined ? null : [...scores.roundTripsMs.keys()],
      },
    ];
  });
  return (await Promise.all(all)).flat();
}

/**
 * Compares this machine's clock with the ensemble's clock. The ensemble's time comes from a write. It was
 * current at some instant between sending the write and receiving the response.
 */
async function compareClocks(store: Store, paths: GroupPaths, clock: Clock): Promise<ClockFacts | null> {
  try {
    const sentAtMs = clock.wallMs();
    const { epochMs } = await readEnsembleClock(store, paths, clock);
    const answeredAtMs = clock.wallMs();
    return { aheadMs: (sentAtMs + answeredAtMs) / 2 - epochMs, withinMs: (answeredAtMs - sentAtMs) / 2 };
  } catch (error) {
    if (isStoreError(error)) return null;
    throw error;
  }
}
