import type { Logger } from 'pino';
import type { Stage } from '../../core/leadership.js';
import type { GroupConfig } from '../../model/group-config.js';
import type { LogContext } from '../../model/log-context.js';
import type { GroupPaths } from '../../model/paths.js';
import type { Registration } from '../../model/registration.js';
import type { GroupSnapshot } from '../../model/snapshot.js';
import type { Clock } from '../../ports/clock.js';
import type { Store } from '../../ports/store.js';
import type { Workload } from '../../ports/workload.js';
import type { Renewals } from '../session/renewal.js';
import type { TokenMemory } from './token-memory.js';

export interface LeadershipOptions {
  readonly node: string;
  readonly site: string;
  readonly incarnation: string;
  readonly paths: GroupPaths;
  readonly workload: Workload;
  readonly clock: Clock;
  readonly log: Logger;
  readonly renewals: Renewals;
  readonly tokens: TokenMemory;
  /** Requests another round. */
  wake(): void;
  /** Last readable configuration. Null if no readable configuration has been found so far. */
  config(): GroupConfig | null;
  /**
   * Changes these fields of this node's registration and returns the new registration. A caller that sends a
   * multi includes the registration in it. Otherwise, a later round writes the registration.
   */
  updateRegistration(change: Partial<Registration>): Registration;
  /** This node's current seat. */
  seat(): string | null;
  /** Called when the stage or the value of `leads` has changed. */
  onStage(stage: Stage | null, logContext: Partial<LogContext>): void;
}

export interface LeadershipRound {
  readonly store: Store;
  readonly snapshot: GroupSnapshot | null;
  readonly seat: string | null;
  readonly healthy: boolean;
  readonly draining: boolean;
  readonly drainOverdue: boolean;
}
