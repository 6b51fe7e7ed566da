/** Whether a guardian is this process's parent. CommonJS, as all that a guardian loads before it is one. */

/** Set in an agent's environment to the pid of its guardian. Whatever the agent starts has another parent. */
const guardianVariable = 'PETREL_GUARDIAN';

function hasGuardian(): boolean {
  return process.send !== undefined && process.env[guardianVariable] === String(process.ppid);
}

export = { guardianVariable, hasGuardian };
