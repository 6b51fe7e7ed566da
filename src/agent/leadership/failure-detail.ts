import type { FailureDetail } from '../../model/znodes.js';
import type { DutyOutcome } from '../../ports/duty.js';

/** What the group, and the log, are told of a run of the duty. */
export function detailOf(phase: string, outcome: DutyOutcome): FailureDetail {
  const { result, error, command, exitCode, signal, durationMs, outputTail } = outcome;
  return {
    phase,
    reason: error ?? result,
    command,
    exitCode,
    signal,
    durationMs,
    outputTail: [...outputTail],
  };
}
