/**
 * The guardian as this process's parent. The two processes communicate over Node.js's channel between parent
 * and child.
 */
import type { Parent } from './channel.js';
import { type FromAgent, isToAgent } from './messages.js';
import { hasGuardian, livingGuardian, sharedLeaseNumber } from './parent.js';
import { SharedLease } from './shared-lease.js';

/** Returns the guardian. Returns null if no guardian started this process. */
export function guardianProcess(): Parent | null {
  if (!hasGuardian()) return null;
  return {
    sharedLease: sharedLeaseNumber ? new SharedLease(Number(sharedLeaseNumber)) : null,
    get isThere() {
      return process.connected;
    },
    send,
    kill: () => {
      const pid = livingGuardian();
      if (pid !== null) process.kill(pid, 'SIGKILL');
    },
    listen(received, gone) {
      const hear = (message: unknown) => {
        if (isToAgent(message)) received(message);
      };
      process.on('message', hear);
      process.once('disconnect', gone);
      if (!process.connected) setImmediate(gone);
      return () => {
        process.off('message', hear);
        process.off('disconnect', gone);
      };
    },
  };
}

/**
 * Notifies the guardian that this process is about to end because it has finished or cannot continue. Does
 * nothing if there is no guardian.
 */
export async function partFromGuardian(code: number): Promise<void> {
  if (!hasGuardian() || !process.connected) return;
  await new Promise<void>((resolve) => send({ type: 'ended', code }, resolve));
  if (process.connected) process.disconnect();
}

function send(message: FromAgent, sent: () => void = () => {}): void {
  if (process.connected) process.send?.(message, undefined, undefined, () => sent());
  else sent();
}
