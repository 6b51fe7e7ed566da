/**
 * A name for a node whose person gave it none: the host's, and with a number behind it for those that run
 * beside it on this machine, in the same group. The lowest number that is free, so that a node has its name
 * again after a restart, and with it what the group knows of it.
 *
 * Not promised: that two machines of one name are told apart; give their nodes ids.
 */
import { hostname } from 'node:os';
import { SessionFile } from '../agent/session/session-file.js';
import { PetrelError } from '../errors.js';

export interface NamedMemory {
  readonly node: string;
  readonly memory: SessionFile;
}

const mostNodes = 1000;

/** Throws PetrelError as `SessionFile.open` does. */
export function takeFreeName(stateDir: string, root: string): NamedMemory {
  for (let number = 1; ; number++) {
    const node = number === 1 ? hostname() : `${hostname()}-${number}`;
    try {
      return { node, memory: SessionFile.open(stateDir, root, node) };
    } catch (error) {
      const isTaken = error instanceof PetrelError && error.code === 'DUPLICATE_NODE';
      if (!isTaken || number === mostNodes) throw error;
    }
  }
}
