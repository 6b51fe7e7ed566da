/**
 * A quota of the ensemble (enforceQuota): a limit on the number of znodes under a path. As in ZooKeeper, each
 * operation of a multi is checked against the state before the multi.
 *
 * Not promised: ZooKeeper's order of errors. If an earlier operation of the multi fails as well, this model
 * reports the quota.
 */
import type { Database } from '../../src/embedded/database.js';
import { JuteWriter } from '../../src/embedded/jute.js';
import { writeMultiHeader } from '../../src/embedded/records.js';
import type { Reply } from '../../src/embedded/requests.js';
import type { Operation } from '../../src/embedded/tree.js';
import type { WriteOpcode } from './ensemble.js';

export interface Quota {
  readonly path: string;
  readonly mostZnodes: number;
}

/** Error codes of ZooKeeper. The development server has no quotas, so it does not know the first one. */
const quotaExceeded = -125;
const runtimeInconsistency = -2;
/** Type of a result that is an error, and of the end of a multi. */
const noType = -1;

/** Returns the number of znodes under a path. Null if the session has ended. */
export function countUnder(path: string, database: Database, session: bigint): number | null {
  try {
    return database.countDescendants(path, { sessionId: session, watcher: 0, identities: [] });
  } catch {
    return null;
  }
}

/** Returns the number of the first operation that the quota refuses. Null if it refuses none. */
export function refusedOperation(
  { path, mostZnodes }: Quota,
  operations: readonly Operation[],
  database: Database,
  session: bigint,
): number | null {
  const first = operations.findIndex((one) => one.type === 'create' && one.path.startsWith(`${path}/`));
  if (first === -1) return null;
  const count = countUnder(path, database, session);
  return count !== null && count >= mostZnodes ? first : null;
}

/** Returns the reply to a write of which the quota refuses one operation. */
export function quotaReply(opcode: WriteOpcode, operations: number, refused: number): Reply {
  const notifications: Reply['notifications'] = [];
  if (opcode !== 'multi') return { error: quotaExceeded, body: Buffer.alloc(0), notifications };
  const writer = new JuteWriter();
  for (let index = 0; index < operations; index += 1) {
    const error = index < refused ? 0 : index === refused ? quotaExceeded : runtimeInconsistency;
    writeMultiHeader(writer, { type: noType, done: false, error }).int(error);
  }
  writeMultiHeader(writer, { type: noType, done: true, error: -1 });
  return { error: 0, body: writer.bytes(), notifications };
}
