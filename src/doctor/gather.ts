/** Finds out what an examination is made of. What cannot be found out is a fact, too: nothing here throws for it. */
import { accessSync, constants, readdirSync, statSync } from 'node:fs';
import { accessOf, checkAgent, identityOf } from '../config/access-settings.js';
import { probeSettings } from '../config/probe-settings.js';
import type { DescribedSetting } from '../config/read-settings.js';
import type { AgentSettings, ClientSettings } from '../config/settings.js';
import { storeOptions } from '../config/store-options.js';
import { readTokenFile } from '../config/token.js';
import { type GroupPaths, groupPaths } from '../core/paths.js';
import { registrationSchema } from '../core/znodes.js';
import { errorMessage } from '../errors.js';
import { readAcls } from '../group/access.js';
import { readEnsembleClock } from '../group/time.js';
import { type GroupView, readGroup } from '../group/view.js';
import { checkHooks } from '../hooks/check-hooks.js';
import type { Logger } from '../log.js';
import type { Clock } from '../ports/clock.js';
import { isStoreError, type Store } from '../ports/store.js';
import { scoreCommands } from '../scores/source.js';
import { version } from '../version.js';
import { askServer } from '../zookeeper/four-letter-word.js';
import { dialWith, openStore, parseConnectionString, serverText } from '../zookeeper/index.js';
import type { ClockFacts, Facts, GroupFacts, NodeFacts, Problem, SecretFile, ServerFacts } from './facts.js';
import { reachByTcp } from './reach.js';
import { readSummary, readTiming } from './servers.js';

export interface GatherOptions {
  readonly settings: AgentSettings & ClientSettings;
  readonly described: readonly DescribedSetting[];
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

// -- The servers

async function gatherServers({ settings, clock }: GatherOptions): Promise<ServerFacts[]> {
  const { servers } = parseConnectionString(settings.zookeeper);
  return await Promise.all(
    servers.map(async (server): Promise<ServerFacts> => {
      const name = serverText(server);
      try {
        const { tls } = storeOptions(settings);
        const options = { dial: dialWith(tls), clock, timeoutMs: settings.connectTimeoutMs };
        const summary = readSummary(await askServer(server, 'srvr', options));
        const timing = await askServer(server, 'conf', options).then(readTiming, () => null);
        return { server: name, summary, timing };
      } catch (error) {
        return { server: name, summary: { problem: errorMessage(error) }, timing: null };
      }
    }),
  );
}

// -- The session, and what it shows

type Reached = Pick<Facts, 'session' | 'group'>;

async function gatherByStore({ settings, clock, log }: GatherOptions): Promise<Reached> {
  const { sessionTimeoutMs: askedMs, connectTimeoutMs: timeoutMs } = settings;
  let store: Store;
  try {
    store = openStore({
      ...storeOptions(settings),
      sessionTimeoutMs: askedMs,
      callTimeoutMs: timeoutMs,
      logger: log,
    });
  } catch (error) {
    return unreached(error);
  }
  try {
    await store.connected({ timeoutMs });
    const session = { askedMs, grantedMs: store.negotiatedTimeoutMs };
    const group = await gatherGroup(store, settings, clock).catch(problemOf);
    return { session, group };
  } catch (error) {
    return unreached(error);
  } finally {
    await store.close({ timeoutMs: 500 });
  }
}

function unreached(error: unknown): Reached {
  return { session: problemOf(error), group: { problem: 'the group cannot be looked at without a session' } };
}

function problemOf(error: unknown): Problem {
  return { problem: errorMessage(error) };
}

async function gatherGroup(
  store: Store,
  settings: GatherOptions['settings'],
  clock: Clock,
): Promise<GroupFacts> {
  const paths = groupPaths(settings.root);
  const access = accessOf(settings);
  const view = await readGroup(store, paths, { scores: true });
  const { current, problems } = view;
  return {
    root: settings.root,
    access,
    znodes: await readAcls(store, paths, access),
    members: await gatherMembers(store, view, settings),
    leader: current?.value?.status === 'READY' ? current.value.node : null,
    problems: problems.map(({ path, problem }) => `${path}: ${problem}`),
    clock: await compareClocks(store, paths, clock),
  };
}

async function gatherMembers(
  store: Store,
  { members, paths }: GroupView,
  { connectTimeoutMs }: GatherOptions['settings'],
): Promise<GroupFacts['members']> {
  const all = members.map(async ({ node, value, scores }) => {
    if (value === null) return [];
    const stat = await store.exists(paths.node(node));
    const { version: its, startedAt, probe } = registrationSchema.parse(value);
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

/** The ensemble's clock is read by a write, somewhere between its sending and its answer. */
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

// -- This machine

async function gatherNode({ settings, described }: GatherOptions): Promise<NodeFacts> {
  const { onTakeover, onRelease, onFence, onPrepare, healthCheck, scores } = settings;
  const hooks = { onTakeover, onRelease, onFence, onPrepare, healthCheck };
  return {
    version,
    settings: settingsProblem(settings),
    hooks: await checkHooks({ ...hooks, ...scoreCommands(scores) }),
    hasHooks: Object.values(hooks).some((command) => command !== null),
    secretFiles: secretFiles(settings, described),
    system: { seesProcesses: seesProcesses(), hasShell: hasShell() },
  };
}

/** What would end an agent at its start. */
function settingsProblem(settings: AgentSettings): string | null {
  try {
    if (!isPerson(settings)) checkAgent(settings);
    storeOptions(settings);
    probeSettings(settings);
    if (settings.httpTokenFile !== null) readTokenFile(settings.httpTokenFile);
    return null;
  } catch (error) {
    return errorMessage(error);
  }
}

/** An operator or observer looks with settings of their own, which need make no agent. */
function isPerson(settings: AgentSettings): boolean {
  const own = identityOf(settings)?.id;
  const access = accessOf(settings);
  const people = [...(access?.operators ?? []), ...(access?.observers ?? [])];
  return people.some(({ id }) => id === own);
}

function secretFiles(settings: AgentSettings, described: readonly DescribedSetting[]): SecretFile[] {
  const { authFile, httpTokenFile, probeSecretFile, tlsPassphraseFile, tlsKey, httpTlsKey } = settings;
  const named = { authFile, 'http.tokenFile': httpTokenFile, 'probe.secretFile': probeSecretFile };
  const more = { 'tls.passphraseFile': tlsPassphraseFile, 'tls.key': tlsKey, 'http.tls.key': httpTlsKey };
  const files = Object.entries({ ...named, ...more }).flatMap(([key, path]) =>
    path === null ? [] : [{ key, path }],
  );
  return [...files, ...secretsInSettings(described)].map(({ key, path }) => ({
    key,
    path,
    mode: modeOf(path),
  }));
}

/** A settings file that holds secrets itself, by the place that each was read from. */
function secretsInSettings(described: readonly DescribedSetting[]): { key: string; path: string }[] {
  return described.flatMap(({ key, isSecret, source }) => {
    const path = /^(.*):\d+:\d+$/s.exec(source)?.[1];
    return isSecret && path !== undefined ? [{ key, path }] : [];
  });
}

function modeOf(path: string): number | null {
  try {
    return statSync(path).mode;
  } catch {
    return null;
  }
}

/** Its parent's too: a /proc with hidepid shows a process itself alone, and others of its user. */
function seesProcesses(): boolean {
  try {
    return readdirSync('/proc').filter((name) => /^\d+$/.test(name)).length > 0;
  } catch {
    return false;
  }
}

function hasShell(): boolean {
  try {
    accessSync('/bin/sh', constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
