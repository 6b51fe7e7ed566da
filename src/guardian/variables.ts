/** Environment variables with which a guardian starts its agent. This module has no effects. */

/** Pid of the guardian. */
export const guardianVariable = 'PETREL_GUARDIAN';

/** File descriptor of the shared lease. Empty if there is none. */
export const sharedLeaseVariable = 'PETREL_GUARDIAN_SHARED_LEASE';
