/**
 * `petrel dev`: runs the development server and four agents in two sites on this machine. Operators use it to
 * try Petrel out, and to rehearse crashes in the middle of a change of leader.
 */

import { existsSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { builtInRules } from '../../strategies/index.js';
import { DevAgents } from '../dev/agents.js';
import { type CrashPoint, pointName } from '../dev/crash-points.js';
import type { Stage } from '../dev/group.js';
import { DevHooks, hookPhases } from '../dev/hooks.js';
import { type DevHttp, devHttp } from '../dev/http.js';
import { type Outcome, Rehearsal } from '../dev/rehearsal.js';
import { firstReady, onTransition } from '../dev/transitions.js';
import { errorMessage, isAddressInUse } from '../errors.js';
import { readGroup } from '../group/view.js';
import type { LogLevel } from '../log.js';
import { type GroupConfig, groupConfigSchema } from '../model/group-config.js';
import { groupPaths } from '../model/paths.js';
import type { Store } from '../ports/store.js';
import { type DevelopmentServer, startDevelopmentServer } from '../testing.js';
import { ensureTree } from '../tree/ensure-tree.js';
import { openStore, parseConnectionString } from '../zookeeper/index.js';
import { leftText, transitionText, whatToTry } from './dev-text.js';
import { hasKeyboard, onEnter } from './enter-key.js';
import { stdoutLost } from './outlet.js';

export interface DevOptions {
  /** Port for ZooKeeper. If this port is in use, a free port is used instead. */
  readonly port: number;
  /**
   * HTTP port of the first agent. The other agents use the ports after it. A port that is in use is replaced
   * by a free one. 0 means any free ports.
   */
  readonly httpPort: number;
  readonly root: string;
  /** The crash point to rehearse. Null if there is none. */
  readonly crash: CrashPoint | null;
  /** Whether to exit after the rehearsal. */
  readonly once: boolean;
  /** Log level of the agents. */
  readonly logLevel: LogLevel;
  print(line: string): void;
}

const sites = { a1: 'a', a2: 'a', b1: 'b', b2: 'b' };
const usualPort = 2181;
const sessionTimeoutMs = 4000;
const sessionTimeout = `${sessionTimeoutMs / 1000}s`;

/**
 * Initial configuration. Site `a` is preferred, so that a change to its priority has a visible effect. Site
 * `a` also gets the first leader, regardless of the order in which the nodes start.
 */
const usualConfig = groupConfigSchema.parse({
  sites: { a: { priority: 100 }, b: { priority: 50 } },
  firstElection: { nodes: Object.keys(sites).length },
});
const configText = Buffer.from(JSON.stringify(usualConfig));

/**
 * Configuration for rehearsals. The timeouts are short, so that a rehearsal ends soon even if an expected
 * step does not happen.
 */
const rehearsalConfig: Partial<GroupConfig> = {
  timeouts: { claim: '6s', prepare: '5s', takeover: '10s', release: '10s', fence: '10s', grace: '1s' },
  backoff: { base: '5s', max: '1m' },
};

/**
 * Runs until the process receives a signal or, if `once` is true, until the rehearsal is over. Throws
 * PetrelError if the server cannot be started or the rehearsal fails.
 */
export async function runDev(options: DevOptions): Promise<void> {
  const stop = stopRequest(options);
  await runGroup(options, stop);
  if (stop.aborted) options.print('Stopped.');
}

async function runGroup(options: DevOptions, stop: AbortSignal): Promise<void> {
  const { root, print, crash } = options;
  await using server = await startServer(options.port);
  const store = openStore({ servers: parseConnectionString(server.connectString), sessionTimeoutMs });
  const dir = mkdtempSync(join(tmpdir(), 'petrel-dev-'));
  try {
    using hooks = new DevHooks(join(dir, 'hooks'));
    const http = crash === null ? await devHttp(Object.keys(sites), options.httpPort, dir) : null;
    await using agents = devAgents(options, server, dir, { hooks, http });
    await store.connected();
    await prepareGroup(store, root);
    if (stop.aborted) return;
    print(
      `Development ZooKeeper on ${server.connectString}; agents ${agents.nodes.join(', ')} in sites a and b`,
    );
    const stage = { server, store, paths: groupPaths(root), agents, hooks };
    if (crash === null) {
      const ready = firstReady(stage);
      agents.startAll();
      await Promise.race([ready, aborted(stop)]);
    } else {
      using rehearsal = new Rehearsal(stage, { say: sayer(print), config: rehearsalConfig });
      await Promise.race([rehearse(rehearsal, crash, print), aborted(stop)]);
      if (stop.aborted || options.once) return;
      await store.set(stage.paths.config, configText, 'any');
      for (const node of agents.startAll()) print(`restarted ${node}`);
    }
    if (!stop.aborted) await showGroup({ ...stage, http }, options, stop);
  } finally {
    await store.close({ timeoutMs: 500 });
    rmSync(dir, { recursive: true, force: true });
  }
}

async function startServer(port: number): Promise<DevelopmentServer> {
  try {
    return await startDevelopmentServer({ port });
  } catch (error) {
    if (port === 0 || !isAddressInUse(error)) throw error;
    return await startDevelopmentServer({ port: 0 });
  }
}

async function prepareGroup(store: Store, root: string): Promise<void> {
  const paths = groupPaths(root);
  await ensureTree(store, paths);
  await store.set(paths.config, configText, 0);
}

function devAgents(
  { root, crash, logLevel }: DevOptions,
  server: DevelopmentServer,
  dir: string,
  { hooks, http }: { readonly hooks: DevHooks; readonly http: DevHttp | null },
): DevAgents {
  const [, program = ''] = process.argv;
  const echoes = [
    ...['--on-takeover', 'echo serving, term $PETREL_TERM, token $PETREL_FENCING_TOKEN'],
    ...['--on-release', 'echo stopped serving'],
  ];
  const rehearsed = hookPhases.flatMap((phase) => [`--on-${phase}`, hooks.command(phase)]);
  return new DevAgents({
    petrel: [process.execPath, ...process.execArgv, program],
    sites,
    flagsOf: (node) => http?.flagsOf(node) ?? ['--listen', 'off'],
    flags: [
      ...['--zookeeper', server.connectString, '--root', root],
      ...['--session-timeout', sessionTimeout, '--state-dir', join(dir, 'state')],
      ...['--log-level', logLevel],
      ...(crash === null ? echoes : rehearsed),
    ],
  });
}

type Print = DevOptions['print'];

async function rehearse(rehearsal: Rehearsal, crash: CrashPoint, print: Print): Promise<void> {
  print(`\nCrash point ${pointName(crash)}`);
  for (const line of summary(await rehearsal.rehearse(crash))) print(line);
}

/** Returns a function that prints an event with the time since the kill. */
function sayer(print: Print): (text: string, atMs: number | null) => void {
  return (text, atMs) => {
    const at = atMs === null ? '' : `+${(atMs / 1000).toFixed(3)} s`;
    print(`${at.padStart(11)}  ${text}`);
  };
}

function summary({ cast, leader, term, leaderlessMs }: Outcome): string[] {
  const who =
    leader === cast.candidate
      ? `${leader} leads, as elected`
      : leader === cast.leader
        ? `${leader} leads, as before the transition`
        : `${leader} leads instead of ${cast.candidate}`;
  const forS = `${(leaderlessMs / 1000).toFixed(3)} s`;
  return [
    '',
    `${who}, term ${term}; the group had no READY leader for ${forS} (session timeout: ${sessionTimeout})`,
  ];
}

/**
 * Returns an AbortSignal that aborts when a person or the system asks this command to stop. Closed output
 * also counts as a request to stop, unless `once` is true. With `once`, the outcome of the rehearsal must
 * still determine the exit code.
 *
 * The listeners are never removed. Further process signals therefore cannot end this process before it has
 * stopped the server and the agents.
 */
function stopRequest({ once, print }: DevOptions): AbortSignal {
  const controller = new AbortController();
  const stop = () => {
    if (controller.signal.aborted) return;
    print('\nStopping: the agents are leaving the group');
    controller.abort();
  };
  if (!once) stdoutLost.addEventListener('abort', stop);
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const) process.on(signal, stop);
  return controller.signal;
}

function aborted(signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(undefined);
    signal.addEventListener('abort', () => resolve(undefined));
  });
}

/**
 * Shows each transition until `stop` aborts. Shows the commands to try immediately, and again whenever Enter
 * is pressed.
 */
async function showGroup(
  stage: Stage & { readonly http: DevHttp | null },
  { root, print }: DevOptions,
  stop: AbortSignal,
): Promise<void> {
  const { server, store, paths, agents, http } = stage;
  const at = server.port === usualPort ? '' : ` -z ${server.connectString}`;
  const options = root === '/cluster' ? at : `${at} -r ${root}`;
  const isAtKeyboard = hasKeyboard();
  const closing = `Press ${isAtKeyboard ? 'Enter to see this again, ' : ''}Ctrl-C to stop everything.`;
  const show = async () => {
    const view = await readGroup({ store, paths, rules: builtInRules });
    if (stop.aborted) return;
    const tried = { options, agents, http, sessionTimeout, isAtKeyboard };
    const lines = whatToTry(view, { ...tried, invocation: invocation() });
    for (const line of [...lines, closing]) print(line);
  };
  await show();
  const showAgain = () =>
    void show().catch((error) => print(`cannot read the group: ${errorMessage(error)}`));
  const report = (text: string) => print(fitted(`[${timeNow()}] ${text}`));
  const unlisten = onTransition(stage, (record) => report(transitionText(record)));
  const forget = agents.onEnd((node) => {
    if (!stop.aborted) report(leftText(node));
  });
  const release = isAtKeyboard ? onEnter(showAgain) : () => {};
  await aborted(stop);
  unlisten();
  forget();
  release();
}

/** Returns the command that runs this program. In a clone of the repository, this is `./petrel`. */
function invocation(): string {
  const program = realpathSync(process.argv[1] ?? '');
  return existsSync(join(dirname(program), '../../../petrel')) ? './petrel' : 'petrel';
}

function timeNow(): string {
  return new Date().toTimeString().slice(0, 8);
}

/** Cuts a line to the width of the terminal. */
function fitted(line: string): string {
  const { columns } = process.stdout;
  return columns > 0 && line.length > columns ? `${line.slice(0, columns - 1)}…` : line;
}
