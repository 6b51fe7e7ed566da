/**
 * The parts of a node that do not depend on its groups: the session, the guardian, and the supervisors of the
 * hooks.
 */
import { systemHost } from '../agent/session/process-life.js';
import type { SessionMemory } from '../agent/session/session-memory.js';
import { SharedSession } from '../agent/session/shared-session.js';
import { checkAgent } from '../config/access-settings.js';
import { storeOptions, tlsNote } from '../config/store-options.js';
import { GuardianChannel } from '../guardian/channel.js';
import type { Hello } from '../guardian/messages.js';
import { guardianProcess } from '../guardian/parent-process.js';
import { sharedSupervisors } from '../hooks/supervisor-process.js';
import type { Supervisors } from '../hooks/supervisors.js';
import { isPretty, type Logger } from '../log.js';
import { systemClock } from '../ports/clock.js';
import { storeOpener } from './open-agent.js';
import type { NodeSettings } from './reload.js';

export interface NodeContextOptions {
  readonly settings: NodeSettings;
  /** Root of the node's group. Null if the node is in several groups. */
  readonly root: string | null;
  readonly store: ReturnType<typeof reach>;
  readonly codes: Pick<Hello, 'codeAtDeath' | 'codeOnSignal'>;
  readonly memory: SessionMemory;
  readonly log: Logger;
}

export interface NodeContext {
  /** Channel to the guardian. Null if no guardian started this process. */
  readonly guardian: GuardianChannel | null;
  readonly supervisors: Supervisors;
  readonly shared: SharedSession;
  /** Unique name of this incarnation of the agent. */
  readonly incarnation: string;
}

/**
 * Returns the options for the agent's sessions. `rootOf` has the same meaning as in `storeOptions`. Throws
 * PetrelError INVALID.
 */
export function reach(settings: NodeSettings, rootOf?: (path: string) => string) {
  checkAgent(settings);
  return { ...storeOptions(settings, rootOf), sessionTimeoutMs: settings.sessionTimeoutMs };
}

export function openNodeContext({
  settings,
  root,
  store,
  codes,
  memory,
  log,
}: NodeContextOptions): NodeContext {
  const { nodeId: node } = settings;
  const parent = guardianProcess();
  const logForm = isPretty(settings.logFormat) ? 'pretty' : 'json';
  const hello = { node, root, log: logForm, ...codes } as const;
  const guardian = parent === null ? null : new GuardianChannel(parent, hello);
  const own = sharedSupervisors();
  const auth = store.auth?.[0]?.credentials ?? null;
  const where = { servers: store.servers.servers, tls: tlsNote(store.tls, settings), auth };
  const shared = new SharedSession({
    openStore: storeOpener(store, log),
    node,
    isShared: root === null,
    memory: guardian?.memory(memory, where) ?? memory,
    clock: systemClock,
    log,
  });
  return {
    guardian,
    supervisors: guardian?.supervisors(own) ?? own,
    shared,
    incarnation: systemHost.newIncarnation(),
  };
}
