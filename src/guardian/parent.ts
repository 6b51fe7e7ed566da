/**
 * Whether a guardian has started this process. The guardian's variables are removed from the environment,
 * because what this process starts has another parent.
 */

/**
 * Set in an agent's environment to the pid of its guardian. `src/cli/guarded.ts` reads it by the same name,
 * before any of this is loaded.
 */
export const guardianVariable = 'PETREL_GUARDIAN';

/** Set to the file descriptor of the shared lease. Empty if there is none. */
export const sharedLeaseVariable = 'PETREL_GUARDIAN_SHARED_LEASE';

const guardianPid = taken(guardianVariable);
/** This process's file descriptor of the shared lease. Empty or undefined if there is none. */
export const sharedLeaseNumber = taken(sharedLeaseVariable);

/**
 * Whether a guardian has started this process. Also true after the guardian has died: what it started does
 * not continue without it.
 */
export function hasGuardian(): boolean {
  return process.send !== undefined && guardianPid !== undefined;
}

/** Returns the guardian's pid. Null if it has died. */
export function livingGuardian(): number | null {
  return hasGuardian() && guardianPid === String(process.ppid) ? process.ppid : null;
}

function taken(name: string): string | undefined {
  const value = process.env[name];
  delete process.env[name];
  return value;
}
