/**
 * Finds a short trace of a violation. It removes one fault after the other, as long as the violation remains.
 */
import type { PlannedFault } from './faults.js';
import { type Outcome, simulate } from './simulation.js';

export async function shrink(failed: Outcome): Promise<Outcome> {
  let best = failed;
  for (let wasShrunk = true; wasShrunk; ) {
    wasShrunk = false;
    for (let index = best.faults.length - 1; index >= 0; index -= 1) {
      const faults = best.faults.filter((_, other) => other !== index);
      const found = await again(failed, faults);
      if (found === null) continue;
      best = found;
      wasShrunk = true;
    }
  }
  return await simulate(failed.seed, { faults: best.faults, keepsTrace: true });
}

/**
 * Simulates the run again with fewer faults. Returns null if there is no violation, or if another invariant
 * is violated.
 */
async function again(failed: Outcome, faults: readonly PlannedFault[]): Promise<Outcome | null> {
  const outcome = await simulate(failed.seed, { faults });
  return outcome.violation?.invariant === failed.violation?.invariant ? outcome : null;
}
