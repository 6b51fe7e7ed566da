/**
 * Determines a name for a node without a configured id. The name is the host name. If other nodes of the same
 * group run on this machine, the lowest free number is appended. A restarted node therefore gets the same
 * name, and what the group knows about the node remains valid.
 *
 * Not promised: that two machines with the same host name get different names. Set node ids in that case.
 */
import { hostname } from 'node:os';
import { SessionFile } from '../agent/session/session-file.js';
import { PetrelError } from '../errors.js';

export interface NamedMemory {
  readonly node: string;
  readonly memory: SessionFile;
}

const mostNodes = 1000;

/** Takes the first free name. Throws the same PetrelErrors as `SessionFile.open`. */
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
