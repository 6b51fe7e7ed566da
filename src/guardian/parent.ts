/** Whether a guardian is this process's parent. */

/** Set in an agent's environment to the pid of its guardian. Whatever the agent starts has another parent.
 * `src/cli/guarded.cts` asks for it by the same name, before anything of this is loaded. */
export const guardianVariable = 'PETREL_GUARDIAN';

/** Set to the number of the file that is the slate, or to nothing where there is none. */
export const slateVariable = 'PETREL_GUARDIAN_SLATE';

export function hasGuardian(): boolean {
  return process.send !== undefined && process.env[guardianVariable] === String(process.ppid);
}
