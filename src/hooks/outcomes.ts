import type { DutyOutcome } from '../ports/duty.js';

/** Of a run for which nothing is configured. */
export const nothingRun: DutyOutcome = {
  result: 'ok',
  exitCode: null,
  signal: null,
  durationMs: 0,
  command: null,
  error: null,
  outputTail: [],
  provenDead: true,
};

/** Of a run that was ended before it began. */
export function notRun(reason: string, result: 'aborted' | 'failed' = 'aborted'): DutyOutcome {
  return { ...nothingRun, result, error: `was not started: ${reason}` };
}
