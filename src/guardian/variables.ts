/** Environment variables that a guardian sets for its agent. Importing this module has no side effects. */

/** Pid of the guardian. */
export const guardianVariable = 'PETREL_GUARDIAN';

/** File descriptor of the shared lease. Empty if there is none. */
export const sharedLeaseVariable = 'PETREL_GUARDIAN_SHARED_LEASE';
