/**
 * Keeps the inspector of Node.js closed. By default, SIGUSR1 opens it. Some tools, such as those for log
 * rotation, send this signal. With an open inspector, any user of the machine could run code with this
 * process's rights.
 */

/**
 * Delays before each attempt to close the inspector. A SIGUSR1 may have arrived before the listener was
 * installed, and the inspector may take a short time to open.
 */
const closeAfterMs: readonly number[] = [0, 100, 1_000];

/** Matches an option that opens an inspector. `--inspect-port` does not open one. */
const opening = /--inspect(-brk|-wait)?(=|\s|$)/;

/** Prevents the inspector from being opened. Every process must call this first. */
export function keepInspectorClosed(): void {
  process.on('SIGUSR1', () => {});
  closeInspector(closeAfterMs);
}

/** Closes the inspector after each of these delays. Does nothing if an option has requested the inspector. */
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
