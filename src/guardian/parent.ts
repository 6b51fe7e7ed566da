/**
 * Whether a guardian has started this process. What the guardian has said of that in the environment is taken
 * out of it: what this process starts has another parent.
 */

/**
 * Set in an agent's environment to the pid of its guardian. `src/cli/guarded.ts` asks for it by the same
 * name, before anything of this is loaded.
 */
export const guardianVariable = 'PETREL_GUARDIAN';

/** Set to the number of the file that is the shared lease, or to nothing where there is none. */
export const sharedLeaseVariable = 'PETREL_GUARDIAN_SHARED_LEASE';

const guardianPid = taken(guardianVariable);
/** The shared lease's, for this process; nothing where there is none. */
export const sharedLeaseNumber = taken(sharedLeaseVariable);

/** Also when it has died since: what it started does not go on without it. */
export function hasGuardian(): boolean {
  return process.send !== undefined && guardianPid !== undefined;
}

/** Null when it has died. */
export function livingGuardian(): number | null {
  return hasGuardian() && guardianPid === String(process.ppid) ? process.ppid : null;
}

function taken(name: string): string | undefined {
  const value = process.env[name];
  delete process.env[name];
  return value;
}
