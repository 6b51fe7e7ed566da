/** The Enter key of the terminal at which a command runs. */
import { readFileSync } from 'node:fs';

/**
 * Whether this process can read the keyboard. A background process is stopped if it tries to read the
 * keyboard.
 */
export function hasKeyboard(): boolean {
  return process.stdin.isTTY === true && isInForeground();
}

/** Calls `pressed` whenever Enter is pressed. Returns a function that stops reading the keyboard. */
export function onEnter(pressed: () => void): () => void {
  const { stdin } = process;
  const ignore = () => {};
  stdin.on('data', pressed);
  // Ignore errors, because a terminal that was closed can no longer be read.
  stdin.on('error', ignore);
  return () => {
    stdin.off('data', pressed);
    stdin.pause();
  };
}

function isInForeground(): boolean {
  try {
    const stat = readFileSync('/proc/self/stat', 'latin1');
    const [, , group, , , foreground] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return group === foreground;
  } catch {
    return false;
  }
}
