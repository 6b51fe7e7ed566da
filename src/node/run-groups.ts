/**
 * Runs one node that is in several groups, in the foreground. The node has one process, one session, and an
 * agent for each group.
 */

import { TokenFile } from '../agent/leadership/token-file.js';
import { SessionFile } from '../agent/session/session-file.js';
import { checkGroups, rootAmong, settingsByRoot } from '../config/group-settings.js';
import { commonSettings } from '../config/node-settings.js';
import type { AgentSettings } from '../config/settings.js';
import { Listeners } from '../listeners.js';
import type { Logger } from '../log.js';
import { loadRules } from '../own-strategies/load.js';
import { systemClock } from '../ports/clock.js';
import { ChildGroups } from './child-groups.js';
import { type NodeContext, openNodeContext, reach } from './context.js';
import { openHttp, reloadHttp } from './http.js';
import { checkCommands, NodeGroup } from './node-group.js';
import { NodeGroups } from './node-groups.js';
import { Reload, type Rereading } from './reload.js';
import type { ServedGroup, ServedGroups } from './served-groups.js';
import { SessionQuota } from './session-quota.js';
import { leaveOnSignal } from './signals.js';
import { StatusOfGroups } from './status-of-groups.js';
import { hookWorkload, type NodeWorkload } from './workload.js';

/**
 * Runs until the node has left all its groups, like `runNode` for one group. Joins new groups and leaves
 * removed ones on SIGHUP, and when children of `groupsUnder` are created or deleted.
 *
 * Throws PetrelError INVALID for incompatible settings. Also throws whatever `SessionFile.open` or `openHttp`
 * throws. Errors in a single group are only logged.
 */
export async function runGroups(
  settings: AgentSettings,
  environment: NodeWorkload['environment'],
  log: Logger,
  reread: Rereading<AgentSettings>,
): Promise<void> {
  checkGroups(settings);
  const memory = SessionFile.open(settings.stateDir, null, settings.nodeId);
  const roots = new Set<string>();
  const { store, rules } = await prepared(settings, (path) => rootAmong(roots, path)).catch(
    (error: unknown) => {
      memory.close(false);
      throw error;
    },
  );
  const { codes } = hookWorkload(settings, environment);
  const context = openNodeContext({ settings, root: null, store, codes, memory, log });
  const { guardian, shared } = context;
  const status = new StatusOfGroups(systemClock, (joined, text) => guardian?.sendStatus(joined, text));
  const come = new Listeners<ServedGroup>(log, 'new groups');
  const gone = new Listeners<string>(log, 'groups that were left');
  const room = new SessionQuota(settings.nodeId);
  const groups = new NodeGroups({
    clock: systemClock,
    log,
    ineligibleReason: (root) => ineligibleReason(context, root) ?? room.take(root),
    onGroups: () => status.changed(groups),
    onGone: (root) => {
      room.giveBack(root);
      gone.notify(root);
      status.changed(groups);
    },
    open: async (own, ownLog) => {
      roots.add(own.root);
      const work = hookWorkload(own, environment);
      await checkCommands(own, work);
      const tokenStore = TokenFile.open(own.stateDir, own.root, own.nodeId);
      const membership = shared.membership(own.root);
      const made = { store, membership, tokenStore, rules, probes: null };
      const parts = { ...context, ...made, settings: own, work };
      const group = new NodeGroup({ ...parts, log: ownLog });
      group.agent.onStatus(() => status.changed(groups));
      come.notify(group);
      return group;
    },
  });
  const served: ServedGroups = {
    all: () => groups.all(),
    onCome: (listener) => void come.add(listener),
    onGone: (listener) => void gone.add(listener),
  };
  const http = await openHttp(settings, { groups: served, rules }, log).catch((error: unknown) => {
    shared.close();
    throw error;
  });
  const wanted = new WantedGroups(settings, context, log, (byRoot) => groups.use(byRoot));
  const reload = new Reload({
    first: settings,
    reread: async () => {
      const read = await reread();
      checkGroups(read.values);
      return read;
    },
    log,
    apply: (live) => {
      log.level = live.logLevel;
    },
    took: (values) => wanted.use(values),
    taken: ['groups', 'groupsUnder', 'onTakeover', 'onRelease', 'onFence', 'onPrepare', 'healthCheck'],
    done() {
      if (http !== null) reloadHttp(http, settings, log);
      guardian?.sendReloaded();
    },
  });
  const leave = () => {
    wanted.close();
    groups.stop();
  };
  const stopListening = leaveOnSignal({ stop: leave }, log, {
    guardian,
    signalled() {},
    reload: () => reload.begin(),
  });
  try {
    await groups.over;
    await wanted.over();
  } finally {
    status.close();
    shared.close();
    await http?.close();
    stopListening();
  }
}

async function prepared(settings: AgentSettings, rootOf: (path: string) => string) {
  const rules = await loadRules(settings);
  return { rules, store: reach(settings, rootOf) };
}

function ineligibleReason({ shared }: NodeContext, root: string): string | null {
  if (!shared.isUnproven(root)) return null;
  return 'processes of this group’s workload may still be running; the claim remains until the session ends';
}

/** The wanted groups. They are determined by the settings and the children of `groupsUnder`. */
class WantedGroups {
  readonly #context: NodeContext;
  readonly #log: Logger;
  readonly #use: (byRoot: ReadonlyMap<string, AgentSettings>) => void;
  #settings: AgentSettings;
  #found: readonly string[] = [];
  #children: ChildGroups | null = null;
  #closing: Promise<void> = Promise.resolve();

  constructor(
    settings: AgentSettings,
    context: NodeContext,
    log: Logger,
    use: (byRoot: ReadonlyMap<string, AgentSettings>) => void,
  ) {
    this.#settings = settings;
    this.#context = context;
    this.#log = log;
    this.#use = use;
    this.#watch(settings.groupsUnder);
    this.#reportStatus();
  }

  use(settings: AgentSettings): void {
    const before = this.#settings.groupsUnder;
    this.#settings = settings;
    if (before !== settings.groupsUnder) {
      this.close();
      this.#found = [];
      this.#watch(settings.groupsUnder);
    }
    this.#reportStatus();
  }

  /** Stops watching for groups. */
  close(): void {
    const children = this.#children;
    this.#children = null;
    if (children !== null) this.#closing = Promise.all([this.#closing, children.close()]).then(() => {});
  }

  /** Resolves when this object's share of the session has been released. */
  async over(): Promise<void> {
    await this.#closing;
  }

  #watch(path: string | null): void {
    if (path === null) return;
    const { openStore } = this.#context.shared.membership(path);
    this.#children = new ChildGroups({
      path,
      openStore,
      clock: systemClock,
      log: this.#log,
      found: (roots) => {
        this.#found = roots.filter((root) => this.#isRoot(root));
        this.#reportStatus();
      },
    });
  }

  #isRoot(root: string): boolean {
    if (commonSettings.shape.root.safeParse(root).success) return true;
    this.#log.warn(`${root} cannot be a group: its name is not valid in a root path`);
    return false;
  }

  #reportStatus(): void {
    this.#use(settingsByRoot(this.#settings, this.#found));
  }
}
