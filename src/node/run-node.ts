/**
 * Runs one node of one group in the foreground. Reads its settings and runs an agent whose workload is the
 * configured hooks or one command.
 */

import { TokenFile } from '../agent/leadership/token-file.js';
import { SessionFile } from '../agent/session/session-file.js';
import type { SessionMemory } from '../agent/session/session-memory.js';
import { probeSettings } from '../config/probe-settings.js';
import type { AgentSettings } from '../config/settings.js';
import type { Logger } from '../log.js';
import { loadRules } from '../own-strategies/load.js';
import type { Prober } from '../probe/prober.js';
import { openNodeContext, reach } from './context.js';
import { openHttp, reloadHttp } from './http.js';
import { checkCommands, NodeGroup, statusText } from './node-group.js';
import { openProber } from './open-prober.js';
import { type NodeSettings, Reload, type Rereading } from './reload.js';
import { theOnly } from './served-groups.js';
import { leaveOnSignal } from './signals.js';
import { hookWorkload, type NodeWorkload } from './workload.js';

/**
 * Runs a node whose workload is its hooks, until the node has left. Throws whatever `SessionFile.open` or
 * `runNode` throws.
 */
export async function runAgent(
  settings: AgentSettings,
  environment: NodeWorkload['environment'],
  log: Logger,
  reread: Rereading,
): Promise<void> {
  const memory = SessionFile.open(settings.stateDir, settings.root, settings.nodeId);
  await runNode(settings, memory, log, hookWorkload(settings, environment), reread);
}

/**
 * Runs until the node has left. On SIGTERM or SIGINT, the node hands over and leaves. After a second signal,
 * it no longer waits for a successor. On SIGHUP, the node reloads its settings.
 *
 * Throws PetrelError INVALID if a command cannot be executed, or if the node cannot listen on the address for
 * probes. Also throws whatever `TokenFile.open`, `openHttp` or `Agent.run` throws.
 */
export async function runNode(
  settings: NodeSettings,
  sessionMemory: SessionMemory,
  log: Logger,
  work: NodeWorkload,
  reread: Rereading,
): Promise<void> {
  const { root } = settings;
  const { probes, ...made } = await prepared(settings, work, log).catch((error: unknown) => {
    sessionMemory.close(false);
    throw error;
  });
  const context = openNodeContext({
    settings,
    root,
    store: made.store,
    codes: work.codes,
    memory: sessionMemory,
    log,
  });
  const { guardian, shared } = context;
  const membership = shared.membership(root);
  const group = new NodeGroup({ ...context, ...made, settings, work, membership, probes, log });
  const { agent } = group;
  const http = await openHttp(settings, { groups: theOnly(group), rules: made.rules }, log).catch(
    async (error: unknown) => {
      await Promise.all([group.giveUp(), group.close(), probes?.close()]);
      shared.close();
      throw error;
    },
  );
  const reload = new Reload({
    first: settings,
    reread,
    log,
    apply(live) {
      log.level = live.logLevel;
      group.use(live);
    },
    done() {
      if (http !== null) reloadHttp(http, settings, log);
      guardian?.sendReloaded();
    },
  });
  agent.onStatus((status) => guardian?.sendStatus(status.joined, statusText(status, root)));
  const stopListening = leaveOnSignal(agent, log, {
    guardian,
    signalled: (signal) => work.signalled(signal),
    reload: () => reload.begin(),
  });
  try {
    await group.run();
  } finally {
    shared.close();
    await http?.close();
    stopListening();
    await Promise.all([group.close(), probes?.close()]);
  }
}

async function prepared(settings: NodeSettings, work: NodeWorkload, log: Logger) {
  await checkCommands(settings, work);
  const rules = await loadRules(settings);
  const store = reach(settings);
  const { stateDir, root, nodeId: node } = settings;
  const tokenStore = TokenFile.open(stateDir, root, node);
  const probes: Prober | null = await openProber(probeSettings(settings), { node, root, log });
  return { rules, store, tokenStore, probes };
}
