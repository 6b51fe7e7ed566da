/**
 * Determines whether a guardian has started this process. Removes the guardian's variables from the
 * environment, because they do not apply to the processes that this process starts.
 */
import { guardianVariable, sharedLeaseVariable } from './variables.js';

const guardianPid = taken(guardianVariable);
/** File descriptor of the shared lease in this process. Empty or undefined if there is none. */
export const sharedLeaseNumber = taken(sharedLeaseVariable);

/**
 * Whether a guardian has started this process. Remains true after the guardian has died, because an agent
 * does not continue without its guardian.
 */
export function hasGuardian(): boolean {
  return process.send !== undefined && guardianPid !== undefined;
}

/**
 * Returns the guardian's pid. Returns null if the guardian has died, or if no guardian started this process.
 */
export function livingGuardian(): number | null {
  return hasGuardian() && guardianPid === String(process.ppid) ? process.ppid : null;
}

function taken(name: string): string | undefined {
  const value = process.env[name];
  delete process.env[name];
  return value;
}
