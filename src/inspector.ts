/**
 * Keeps the inspector of Node.js closed. SIGUSR1, which log rotation and other tools send, opens it by
 * default, and then any user of the machine can run code with this process's rights.
 */

/** When to close an inspector that a SIGUSR1 opened before the listener stood: it may open a moment later. */
const closeAfterMs: readonly number[] = [0, 100, 1_000];

/** `--inspect-port` opens none. */
const opening = /--inspect(-brk|-wait)?(=|\s|$)/;

/** Call first in every process. */
export function keepInspectorClosed(): void {
  process.on('SIGUSR1', () => {});
  closeInspector(closeAfterMs);
}

/** Closes the inspector at each of these times, unless an option asked for it. */
function closeInspector([afterMs, ...later]: readonly number[]): void {
  const options = [...process.execArgv, process.env.NODE_OPTIONS];
  const isWanted = options.some((option) => option !== undefined && opening.test(option));
  if (afterMs === undefined || !process.features.inspector || isWanted) return;
  const close = () => {
    process.getBuiltinModule('node:inspector').close();
    closeInspector(later);
  };
  setTimeout(close, afterMs).unref();
}
