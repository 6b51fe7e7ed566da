import type { FailureDetail } from '../../model/znodes.js';
import type { HookResult } from '../../ports/workload.js';

/** Returns the details of a run of the workload, as the group and the log show them. */
export function detailOf(phase: string, outcome: HookResult): FailureDetail {
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
