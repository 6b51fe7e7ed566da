/** The result of a change to a group, as reported by commands with `-f json` and by the HTTP interface. */
import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod';
import type { Choice } from '../core/choice-input.js';
import { effectiveDecision } from '../core/effective-decision.js';
import { causeSchema } from '../model/znodes.js';
import type { Plan } from './change.js';
import { configDifferenceSchema, configDifferences } from './config-keys.js';
import { isPutOff, readableConfig } from './judge.js';
import { viewOfSlot } from './slot-view.js';
import type { GroupView } from './view.js';
import { type Outcome, outcomeSchema } from './wait.js';

export const changeResultSchema = z.object({
  /** Describes the action taken, or why none was needed. */
  what: z.string(),
  changed: z.boolean(),
  dryRun: z.boolean(),
  /**
   * Keys of the configuration that the change wrote. If the change was only planned, the keys that it would
   * write.
   */
  changes: z.array(configDifferenceSchema),
  /** Version of the configuration that contains the change. */
  configVersion: z.int().nullable(),
  /**
   * The elector's choice after the change. `node` is null if no node will be elected. The whole field is null
   * if the choice cannot be determined.
   */
  follows: z
    .object({ node: z.string().nullable(), changes: z.boolean(), cause: causeSchema, reason: z.string() })
    .nullable(),
  /** The slot that `follows` and `term` describe. */
  slot: z.int(),
  /** The term that the change leads to. Null if no transition is expected. */
  term: z.int().nullable(),
  /** Outcome of the change. Null if the command did not wait for it, or if there was nothing to wait for. */
  outcome: outcomeSchema.nullable(),
});
export type ChangeResult = z.infer<typeof changeResultSchema>;

export interface Made {
  readonly dryRun: boolean;
  /** Version of the configuration that contains the change. Null if nothing was written. */
  readonly version: number | null;
  readonly outcome: Outcome | null;
}

export function changeResult(plan: Plan, { dryRun, version, outcome }: Made): ChangeResult {
  const { config, what, before } = plan;
  const follows = config === null ? null : plan.follows;
  return {
    what,
    changed: version !== null,
    dryRun,
    changes: config === null ? [] : configDifferences(readableConfig(before), config),
    configVersion: version,
    follows: follows === null ? null : choiceResult(follows),
    slot: plan.slot,
    term: isTransitionExpected(plan) || asksForSwitchover(plan) ? termIn(before, plan.slot) + 1 : null,
    outcome,
  };
}

function termIn(view: GroupView, slot: number): number {
  return effectiveDecision(viewOfSlot(view, slot)).term;
}

/** Whether a transition is expected soon after the change. */
export function isTransitionExpected({ config, follows, after }: Plan): boolean {
  if (config === null || follows === null) return false;
  return follows.changes && !isPutOff(follows, config, after.rules);
}

/**
 * Whether the plan requests a switchover. Even if the switchover is scheduled for later, it will cause the
 * next term.
 */
function asksForSwitchover({ before, config }: Plan): boolean {
  return (
    config !== null &&
    config.switchover !== null &&
    !isDeepStrictEqual(config.switchover, before.config.value?.switchover)
  );
}

export function choiceResult({ node, changes, cause, reason }: Choice): ChangeResult['follows'] {
  return { node, changes, cause, reason };
}
