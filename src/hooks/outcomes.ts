import type { Logger } from '../log.js';
import { logContext } from '../model/log-context.js';
import { named } from '../model/named-slot.js';
import type { HookContext, HookResult } from '../ports/workload.js';

/** Outcome of a run for which nothing is configured. */
export const nothingRun: HookResult = {
  result: 'ok',
  exitCode: null,
  signal: null,
  durationMs: 0,
  command: null,
  error: null,
  outputTail: [],
  provenDead: true,
};

/** Returns the outcome of a run that never began. */
export function notRun(reason: string, result: 'aborted' | 'failed' = 'aborted'): HookResult {
  return { ...nothingRun, result, error: `not started: ${reason}` };
}

/** Returns the logger for messages about a run. */
export function logOf(log: Logger, context: HookContext | null): Logger {
  if (context === null) return log;
  const { phase, slot, slots, term, endedByTerm = term, reason } = context;
  return log.child({ phase, ...logContext(endedByTerm, reason, term, named(slot, slots)) });
}

/**
 * Returns the logger for messages about a leadership. Omits the reason for the prepared release, because it
 * does not apply until the release runs.
 */
export function leadershipLogOf(log: Logger, release: HookContext | null): Logger {
  if (release === null) return log;
  const { slot, slots, term } = release;
  return log.child({ ...named(slot, slots), term });
}

/** Logs the outcome in one line, at a level that matches its severity. */
export function logOutcome(log: Logger, name: string, outcome: HookResult): void {
  const { result, exitCode, signal, durationMs, command, error, provenDead } = outcome;
  const fields = { result, exitCode, signal, durationMs, command, provenDead };
  if (result === 'ok') log.info(fields, `${name} succeeded`);
  else log.warn(fields, error ?? `${name}: ${result}`);
}
