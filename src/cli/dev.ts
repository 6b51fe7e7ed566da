/**
 * `petrel dev`: the development server and four agents in two sites on this machine, for trying Petrel out. The
 * agents are processes of their own, so that they can be killed, stopped and started like real ones.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureTree } from '../agent/tree.js';
import { groupConfigSchema } from '../core/group-config.js';
import { parseJson } from '../core/names.js';
import { groupPaths } from '../core/paths.js';
import { claimSchema } from '../core/znodes.js';
import { errorMessage } from '../errors.js';
import { isStoreError, type Store } from '../ports/store.js';
import { type DevelopmentServer, startDevelopmentServer } from '../testing.js';
import { openStore, parseConnectionString } from '../zookeeper/index.js';

export interface DevOptions {
  /** Port to try for ZooKeeper; another is taken when it is in use. */
  readonly port: number;
  readonly root: string;
  /** How this command was started, to be told how to start others: `petrel`, `npm run --silent petrel --`. */
  readonly invocation: string;
  print(line: string): void;
}

const agents = [
  { node: 'a1', site: 'a' },
  { node: 'a2', site: 'a' },
  { node: 'b1', site: 'b' },
  { node: 'b2', site: 'b' },
];
const usualPort = 2181;
const sessionTimeout = '4s';

/** Runs until SIGINT or SIGTERM. Throws PetrelError when the server cannot be started. */
export async function runDev(options: DevOptions): Promise<void> {
  const server = await startServer(options.port);
  const store = openStore({
    servers: parseConnectionString(server.connectString),
    sessionTimeoutMs: 4000,
  });
  const stateDir = mkdtempSync(join(tmpdir(), 'petrel-dev-'));
  const stop = stopRequest();
  const children: AgentProcess[] = [];
  try {
    await store.connected();
    await prepareGroup(store, options.root);
    children.push(...agents.map((agent) => startAgent(agent, server, options.root, stateDir)));
    options.print(
      `ZooKeeper for development on ${server.connectString}; agents ${agents.map(({ node }) => node).join(', ')} in sites a and b`,
    );
    const leader = await Promise.race([firstLeader(store, options.root), stop]);
    if (leader !== undefined)
      for (const line of whatToTry(leader, server, children, options)) options.print(line);
    await stop;
    options.print('stopping');
  } finally {
    await Promise.all(children.map(stopAgent));
    await store.close({ timeoutMs: 500 });
    await server.close();
    rmSync(stateDir, { recursive: true, force: true });
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

/** Site a is preferred, so that there is something to see when its priority changes. */
async function prepareGroup(store: Store, root: string): Promise<void> {
  const paths = groupPaths(root);
  await ensureTree(store, paths);
  const config = groupConfigSchema.parse({ sites: { a: { priority: 100 }, b: { priority: 50 } } });
  await store.set(paths.config, Buffer.from(JSON.stringify(config)), 0);
}

interface AgentProcess {
  readonly node: string;
  readonly child: ChildProcess;
}

function startAgent(
  { node, site }: (typeof agents)[number],
  server: DevelopmentServer,
  root: string,
  stateDir: string,
): AgentProcess {
  const [, program = ''] = process.argv;
  const args = [
    ...['--zookeeper', server.connectString, '--root', root, '--node-id', node, '--site', site],
    ...['--session-timeout', sessionTimeout, '--state-dir', stateDir],
    ...['--on-takeover', 'echo serving, term $PETREL_TERM, token $PETREL_FENCING_TOKEN'],
    ...['--on-release', 'echo serving no more'],
  ];
  const child = spawn(process.execPath, [...process.execArgv, program, 'agent', ...args], {
    // Its own group: ^C reaches this process, which then stops the agents one by one.
    detached: true,
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  return { node, child };
}

async function stopAgent({ child }: AgentProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  child.kill('SIGCONT');
  await ended;
}

function stopRequest(): Promise<undefined> {
  return new Promise((resolve) => {
    const stop = () => resolve(undefined);
    process.once('SIGINT', stop);
    process.once('SIGTERM', stop);
  });
}

/** Waits for a READY leader; the name of the node. */
async function firstLeader(store: Store, root: string): Promise<string> {
  const { current } = groupPaths(root);
  for (;;) {
    let changed = () => {};
    const change = new Promise<void>((resolve) => {
      changed = resolve;
    });
    const unlisten = store.onChange(changed);
    try {
      await store.exists(current, { watch: true });
      const { data } = await store.getData(current);
      const claim = parseJson(claimSchema, data.toString('utf8')).value;
      if (claim?.status === 'READY') return claim.node;
    } catch (error) {
      if (!isStoreError(error, 'NO_NODE')) throw error;
    }
    await change;
    unlisten();
  }
}

function whatToTry(
  leader: string,
  { port, connectString }: DevelopmentServer,
  children: readonly AgentProcess[],
  { root, invocation }: DevOptions,
): string[] {
  const at = port === usualPort ? '' : ` -z ${connectString}`;
  const where = root === '/cluster' ? at : `${at} -r ${root}`;
  const command = (text: string) => `  ${invocation} ${text}${where}`;
  const pids = children.map(({ node, child }) => `${node} ${child.pid}`).join(', ');
  return [
    '',
    `READY: ${leader} leads. In another terminal, try:`,
    '',
    command('list'),
    command('explain'),
    `${command('site priority a 0 --for 10m --reason "switch replacement"')}    # leadership moves to site b`,
    `${command('site reset a')}    # and back`,
    `${command('switchover --yes')}    # a planned handover to the next best node`,
    `  kill -9 PID    # the leader's agent: another is READY within the session timeout, ${sessionTimeout}; ${pids}`,
    command('history'),
    '',
    'Stop everything with ^C.',
  ];
}
