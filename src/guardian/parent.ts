/**
 * Determines whether a guardian has started this process. Removes the guardian's variables from the
 * environment, because the processes that this process starts have another parent.
 */
import { guardianVariable, sharedLeaseVariable } from './variables.js';

const guardianPid = taken(guardianVariable);
/** This process's file descriptor of the shared lease. Empty or undefined if there is none. */
export const sharedLeaseNumber = taken(sharedLeaseVariable);

/**
 * Whether a guardian has started this process. Also true after the guardian has died, because an agent does
 * not continue without its guardian.
 */
export function hasGuardian(): boolean {
  return process.send !== undefined && guardianPid !== undefined;
}

/** Returns the guardian's pid. Returns null if the guardian has died or did not start this process. */
export function livingGuardian(): number | null {
  return hasGuardian() && guardianPid === String(process.ppid) ? process.ppid : null;
}

function taken(name: string): string | undefined {
  const value = process.env[name];
  delete process.env[name];
  return value;
}
