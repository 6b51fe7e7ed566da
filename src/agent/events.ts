/** What happens in an agent that is worth counting, and whoever hears of it. */

import type { Stage } from '../core/leadership.js';
import type { LogContext } from '../core/log-context.js';
import type { Elected, TransitionRecord } from '../model/znodes.js';
import type { HookContext, HookResult } from '../ports/workload.js';

export type AgentEvent =
  /** A round has ended: the agent may know more of the group now, or has found that it cannot learn more. */
  | { readonly kind: 'round' }
  /** This node, the elector, has committed a decision, so long after it was woken. */
  | {
      readonly kind: 'elected';
      readonly slot: number;
      /** How many the group has. */
      readonly slots: number;
      readonly elected: Elected;
      readonly tookMs: number;
    }
  /** This node, the elector, has committed the record of a transition; of each there is one in the group. */
  | { readonly kind: 'recorded'; readonly record: TransitionRecord }
  /** This node, the elector, has recorded that a requested switchover was missed: its term ended first. */
  | { readonly kind: 'request-missed' }
  /** A run of the workload has ended, one that nobody asked for included. */
  | { readonly kind: 'ran'; readonly context: HookContext; readonly outcome: HookResult }
  /** This node's leadership has come to a stage, and which transition that is about; null: it is over. */
  | { readonly kind: 'stage'; readonly stage: Stage | null; readonly logContext: Partial<LogContext> }
  /**
   * A release that was due because the lease had not been renewed has ended, and the lease had this long to
   * go; negative: it had ended.
   */
  | { readonly kind: 'self-fenced'; readonly leaseLeftMs: number };
