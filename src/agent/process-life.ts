/** Whether another process of this machine lives. */

/** A process that exists and may not be signalled counts as alive; this process is not another one, so a number
 * that was handed out again to it says that the earlier bearer is gone. */
export function isOtherAlive(pid: number): boolean {
  if (pid === process.pid) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
