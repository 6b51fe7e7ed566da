/** Events in an agent that are worth counting. */

import type { Stage } from '../core/leadership.js';
import type { LogContext } from '../core/log-context.js';
import type { Elected, TransitionRecord } from '../model/znodes.js';
import type { HookContext, HookResult } from '../ports/workload.js';

export type AgentEvent =
  /**
   * A round has ended. The agent may now know more about the group, or has found that it cannot learn more.
   */
  | { readonly kind: 'round' }
  /** This node, as the elector, has committed a decision `tookMs` after it was woken. */
  | {
      readonly kind: 'elected';
      readonly slot: number;
      /** Number of slots in the group. */
      readonly slots: number;
      readonly elected: Elected;
      readonly tookMs: number;
    }
  /**
   * This node, as the elector, has committed the record of a transition. The group has one for each
   * transition.
   */
  | { readonly kind: 'recorded'; readonly record: TransitionRecord }
  /** This node, as the elector, has recorded a missed switchover request: its term ended first. */
  | { readonly kind: 'request-missed' }
  /** A run of the workload has ended, whether it was requested or not. */
  | { readonly kind: 'ran'; readonly context: HookContext; readonly outcome: HookResult }
  /** This node's leadership has reached a stage. Null: it is over. The log context names the transition. */
  | { readonly kind: 'stage'; readonly stage: Stage | null; readonly logContext: Partial<LogContext> }
  /**
   * A release has ended that was due because the lease had not been renewed. `leaseLeftMs` is the remaining
   * lease, negative if the lease had already ended.
   */
  | { readonly kind: 'self-fenced'; readonly leaseLeftMs: number };
