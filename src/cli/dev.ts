/**
 * `petrel dev`: runs the development server and four agents in two sites on this machine. Operators use it to
 * try Petrel out, and to rehearse crashes in the middle of a change of leader.
 */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { builtInRules } from '../../strategies/index.js';
import { DevAgents } from '../dev/agents.js';
import { type CrashPoint, pointName } from '../dev/crash-points.js';
import type { Stage } from '../dev/group.js';
import { DevHooks, hookPhases } from '../dev/hooks.js';
import { type DevHttp, devHttp } from '../dev/http.js';
import { type Outcome, Rehearsal } from '../dev/rehearsal.js';
import { errorMessage, present } from '../errors.js';
import { readGroup } from '../group/view.js';
import type { LogLevel } from '../log.js';
import { type GroupConfig, groupConfigSchema } from '../model/group-config.js';
import { parseJson } from '../model/names.js';
import { groupPaths } from '../model/paths.js';
import { claimSchema } from '../model/znodes.js';
import { isStoreError, type Store } from '../ports/store.js';
import { type DevelopmentServer, startDevelopmentServer } from '../testing.js';
import { ensureTree } from '../tree/ensure-tree.js';
import { openStore, parseConnectionString } from '../zookeeper/index.js';
import { stdoutLost } from './outlet.js';

export interface DevOptions {
  /** First port to try for ZooKeeper. If it is in use, another port is used. */
  readonly port: number;
  /**
   * First port to try for the HTTP interface of the first agent. The other agents use the ports after it. 0
   * means any free ports.
   */
  readonly httpPort: number;
  readonly root: string;
  /**
   * The command that started this process: `petrel`, or `npm run --silent petrel --`. Hints for further
   * commands begin with it.
   */
  readonly invocation: string;
  /** The crash point to rehearse. Null if there is none. */
  readonly crash: CrashPoint | null;
  /** Whether to exit after the rehearsal. */
  readonly once: boolean;
  /** Log level of the agents. Null means their default. */
  readonly logLevel: LogLevel | null;
  print(line: string): void;
}

const sites = { a1: 'a', a2: 'a', b1: 'b', b2: 'b' };
const usualPort = 2181;
const sessionTimeoutMs = 4000;
const sessionTimeout = `${sessionTimeoutMs / 1000}s`;

/**
 * Initial configuration. Site a is preferred, so that a change of its priority has a visible effect. Site a
 * also gets the first leader, whatever the order in which the nodes start.
 */
const usualConfig = groupConfigSchema.parse({
  sites: { a: { priority: 100 }, b: { priority: 50 } },
  firstElection: { nodes: Object.keys(sites).length },
});
const configText = Buffer.from(JSON.stringify(usualConfig));

/**
 * Configuration for rehearsals. Timeouts are short, so that a rehearsal ends soon even if an expected step
 * does not happen.
 */
const rehearsalConfig: Partial<GroupConfig> = {
  timeouts: { claim: '6s', prepare: '5s', takeover: '10s', release: '10s', fence: '10s', grace: '1s' },
  backoff: { base: '5s', max: '1m' },
};

/**
 * Runs until SIGINT or SIGTERM. If `once` is true, runs until the rehearsal is over. Throws PetrelError if
 * the server cannot be started or the rehearsal fails.
 */
export async function runDev(options: DevOptions): Promise<void> {
  const { root, print, crash } = options;
  await using server = await startServer(options.port);
  const store = openStore({ servers: parseConnectionString(server.connectString), sessionTimeoutMs });
  const dir = mkdtempSync(join(tmpdir(), 'petrel-dev-'));
  const stop = stopRequest(options);
  try {
    using hooks = new DevHooks(join(dir, 'hooks'));
    const http = crash === null ? await devHttp(Object.keys(sites), options.httpPort, dir) : null;
    await using agents = devAgents(options, server, dir, { hooks, http });
    await store.connected();
    await prepareGroup(store, root);
    print(
      `Development ZooKeeper on ${server.connectString}; agents ${agents.nodes.join(', ')} in sites a and b`,
    );
    const stage = { server, store, paths: groupPaths(root), agents, hooks };
    if (crash === null) agents.startAll();
    else {
      using rehearsal = new Rehearsal(stage, { say: sayer(print), config: rehearsalConfig });
      const outcome = await Promise.race([rehearse(rehearsal, crash, print), stop]);
      if (outcome === undefined || options.once) return;
      await store.set(stage.paths.config, configText, 'any');
      for (const node of agents.startAll()) print(`restarted ${node}`);
    }
    const first = await Promise.race([nextLeader(store, root, null), stop]);
    if (first !== undefined) {
      for (const line of await whatToTry(first.node, { ...stage, http }, options)) print(line);
      await Promise.race([tellLeaders(first, stage, options), stop]);
    }
    await stop;
    print('stopping');
  } finally {
    await store.close({ timeoutMs: 500 });
    rmSync(dir, { recursive: true, force: true });
  }
}

async function startServer(port: number): Promise<DevelopmentServer> {
  try {
    return await startDevelopmentServer({ port });
  } catch (error) {
    if (port === 0 || !errorMessage(error).includes('in use')) throw error;
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
      ...(logLevel === null ? [] : ['--log-level', logLevel]),
      ...(crash === null ? echoes : rehearsed),
    ],
  });
}

type Print = DevOptions['print'];

async function rehearse(rehearsal: Rehearsal, crash: CrashPoint, print: Print): Promise<Outcome> {
  print(`\nCrash point ${pointName(crash)}`);
  const outcome = await rehearsal.play(crash);
  for (const line of summary(outcome)) print(line);
  return outcome;
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
 * Resolves on a signal, or when the output is closed. If `once` is true, only a signal resolves it, because
 * the outcome must set the exit code.
 */
function stopRequest({ once }: DevOptions): Promise<undefined> {
  return new Promise((resolve) => {
    const stop = () => resolve(undefined);
    if (!once) stdoutLost.addEventListener('abort', stop);
    process.once('SIGINT', stop);
    process.once('SIGTERM', stop);
  });
}

interface Leader {
  readonly node: string;
  /** Fencing token of the leadership. */
  readonly token: bigint;
}

/** Prints how to kill each later leader. Ends when the group can no longer be watched. */
async function tellLeaders(first: Leader, stage: Stage, { root, print }: DevOptions): Promise<void> {
  let leader = first;
  try {
    for (;;) {
      leader = await nextLeader(stage.store, root, leader.token);
      const lines = await waysToKill(leader.node, stage);
      for (const line of ['', `READY: ${leader.node} is the new leader. Its processes:`, '', ...lines, ''])
        print(line);
    }
  } catch (error) {
    print(
      `further leader changes are not shown, because the group can no longer be watched: ${errorMessage(error)}`,
    );
  }
}

/** Waits for a READY leader whose claim does not have the token `last`. */
async function nextLeader(store: Store, root: string, last: bigint | null): Promise<Leader> {
  const { current } = groupPaths(root);
  for (;;) {
    let changed = () => {};
    const change = new Promise<void>((resolve) => {
      changed = resolve;
    });
    const unlisten = store.onChange(changed);
    try {
      await store.exists(current, { watch: true });
      const { data, stat } = await store.getData(current);
      const claim = parseJson(claimSchema, data.toString('utf8')).value;
      if (claim?.status === 'READY' && stat.czxid !== last) return { node: claim.node, token: stat.czxid };
    } catch (error) {
      if (!isStoreError(error, 'NO_NODE')) throw error;
    }
    await change;
    unlisten();
  }
}

async function whatToTry(
  leader: string,
  { server: { port, connectString }, store, paths, agents, http }: Stage & { readonly http: DevHttp | null },
  { root, invocation }: DevOptions,
): Promise<string[]> {
  const at = port === usualPort ? '' : ` -z ${connectString}`;
  const where = root === '/cluster' ? at : `${at} -r ${root}`;
  const command = (text: string) => `  ${invocation} ${text}${where}`;
  return [
    '',
    `READY: ${leader} is the leader. In another terminal, try:`,
    '',
    command('list'),
    command('explain'),
    `${command('site priority a 0 --for 10m --reason "switch replacement"')}    # leadership moves to site b`,
    `${command('site reset a')}    # leadership returns to site a`,
    `${command('switchover --yes')}    # a planned handover to the next best node`,
    ...(await waysToKill(leader, { store, paths, agents })),
    command('history'),
    ...(http === null ? [] : httpToTry(http, agents.nodes)),
    '',
    'Press Ctrl-C to stop everything.',
  ];
}

async function waysToKill(
  leader: string,
  { store, paths, agents }: Pick<Stage, 'store' | 'paths' | 'agents'>,
): Promise<string[]> {
  const { members } = await readGroup({ store, paths, rules: builtInRules });
  const agent = members.find(({ node }) => node === leader)?.value?.pid ?? 'PID';
  const guardian = agents.isRunning(leader) ? agents.guardianPid(leader) : 'PID';
  return [
    `  kill -9 ${agent}    # kill the agent of ${leader}: another node is READY at once; the guardian restarts the agent`,
    `  kill -9 ${guardian}    # kill the guardian of ${leader}: another node is READY at once; ${leader} leaves the group`,
    `  kill -9 ${guardian} ${agent}    # kill both: the service stops at once; another node is READY within ${sessionTimeout}`,
  ];
}

function httpToTry(http: DevHttp, nodes: readonly string[]): string[] {
  const url = http.urlOf(present(nodes[0], 'a first node'));
  return [
    '',
    `HTTP: ${nodes.map((node) => `${node} ${http.urlOf(node)}`).join(', ')}`,
    '',
    `  ${url}/    # status page; changes require the token in ${http.tokenFile}`,
    `  curl -si ${url}/leader    # 200 while ${nodes[0]} leads, else 503`,
    `  curl -s ${url}/status`,
    `  curl -sN ${url}/events`,
    `  curl -si -X POST ${url}/switchover -H "Authorization: Bearer $(cat ${http.tokenFile})"`,
  ];
}
