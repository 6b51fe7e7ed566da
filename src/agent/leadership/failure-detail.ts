import type { FailureDetail } from '../../model/znodes.js';
import type { HookResult } from '../../ports/workload.js';

/** Returns what the group and the log report about a run of the workload. */
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
