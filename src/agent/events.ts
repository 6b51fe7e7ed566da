/** Agent events that the metrics count. */

import type { Stage } from '../core/leadership.js';
import type { LogContext } from '../model/log-context.js';
import type { Elected, TransitionRecord } from '../model/znodes.js';
import type { HookContext, HookResult } from '../ports/workload.js';

export type AgentEvent =
  /**
   * A round has ended. The agent may now know more about the group, or it may have failed to read the group.
   */
  | { readonly kind: 'round' }
  /** This node, as the elector, has committed a decision, `tookMs` after the node was woken. */
  | {
      readonly kind: 'elected';
      readonly slot: number;
      /** Number of slots in the group. */
      readonly slots: number;
      readonly elected: Elected;
      readonly tookMs: number;
    }
  /**
   * This node, as the elector, has committed the record of a transition. Only one node in the group records
   * each transition.
   */
  | { readonly kind: 'recorded'; readonly record: TransitionRecord }
  /**
   * This node, as the elector, has dropped a missed switchover request. A request is missed if the term that
   * it was to replace has ended, or if its scheduled time passed too long ago.
   */
  | { readonly kind: 'request-missed' }
  /** A run of the workload has ended, whether or not the agent requested that run. */
  | { readonly kind: 'ran'; readonly context: HookContext; readonly outcome: HookResult }
  /**
   * This node's leadership has reached `stage`. If `stage` is null, the leadership has ended. The log context
   * names the transition.
   */
  | { readonly kind: 'stage'; readonly stage: Stage | null; readonly logContext: Partial<LogContext> }
  /**
   * A release has ended. It ran because the lease was not renewed. `leaseLeftMs` is the time that was left on
   * the lease, and is negative if the lease had already ended.
   */
  | { readonly kind: 'self-fenced'; readonly leaseLeftMs: number };
