/** Opens an agent and its store. */
import type { Rules } from '../../strategies/registry.js';
import { Agent } from '../agent/agent.js';
import type { TokenStore } from '../agent/leadership/token-memory.js';
import type { WorkloadPlace } from '../agent/session/earlier-incarnation.js';
import { systemHost } from '../agent/session/process-life.js';
import type { SessionMemory, SessionTicket } from '../agent/session/session-memory.js';
import type { Membership } from '../agent/session/shared-session.js';
import type { Logger } from '../log.js';
import { systemClock } from '../ports/clock.js';
import type { Store } from '../ports/store.js';
import type { Workload } from '../ports/workload.js';
import type { Prober } from '../probe/prober.js';
import { version } from '../version.js';
import { openStore, type StoreOptions } from '../zookeeper/index.js';

export interface NodeOptions {
  readonly store: Omit<StoreOptions, 'session' | 'clock' | 'logger'>;
  readonly root: string;
  readonly node: string;
  readonly site: string;
  readonly priority: number;
  readonly tags: Readonly<Record<string, string>>;
  /** Strategies and constraints that this node knows. */
  readonly rules: Rules;
  /** Prober of this node. Null if the node does not probe. */
  readonly probe: Prober | null;
  /** Memory of the session. Null if the session is not remembered across restarts. */
  readonly sessionMemory: SessionMemory | null;
  /** Store for the fencing tokens that the node has seen. Null if the tokens are lost on a restart. */
  readonly tokenStore: TokenStore | null;
  /** Membership in a shared session. If it is present, it replaces `store` and `sessionMemory`. */
  readonly membership?: Membership;
  readonly workload: Workload;
  readonly workloadPlace: WorkloadPlace;
  readonly log: Logger;
}

export function openAgent(options: NodeOptions): Agent {
  const { store, log, membership, ...rest } = options;
  const openStore = storeOpener(store, log);
  return new Agent({ ...rest, openStore, ...membership, log, version, clock: systemClock, host: systemHost });
}

/** Returns a function that opens a new session, or attaches to an existing one. */
export function storeOpener(store: NodeOptions['store'], logger: Logger): (session?: SessionTicket) => Store {
  return (session) => openStore({ ...store, logger, ...(session === undefined ? {} : { session }) });
}
