/** Converts arguments and results of the store port to and from the client library's form. */
import zookeeper from 'node-zookeeper-client';
import jute from 'node-zookeeper-client/lib/jute/index.js';
import type { Acl } from '../model/acl.js';
import {
  type CreateMode,
  type ExpectedVersion,
  type Operation,
  type OperationResult,
  type Stat,
  StoreError,
} from '../ports/store.js';
import { Failure } from './failure.js';

const { OP_CODES: op } = jute;

const modes: ReadonlyMap<CreateMode, number> = new Map([
  ['persistent', zookeeper.CreateMode.PERSISTENT],
  ['persistent-sequential', zookeeper.CreateMode.PERSISTENT_SEQUENTIAL],
  ['ephemeral', zookeeper.CreateMode.EPHEMERAL],
  ['ephemeral-sequential', zookeeper.CreateMode.EPHEMERAL_SEQUENTIAL],
]);

const anyVersion = -1;

export function bytes(data: Buffer): Buffer {
  if (Buffer.isBuffer(data)) return data;
  throw Failure.of('BAD_ARGUMENTS', 'the data must be a Buffer; for no data, an empty Buffer');
}

export function flags(mode: CreateMode): number {
  const value = modes.get(mode);
  if (value !== undefined) return value;
  throw Failure.of(
    'BAD_ARGUMENTS',
    `unknown create mode "${mode}": expected one of ${[...modes.keys()].join(', ')}`,
  );
}

export function versionNumber(version: ExpectedVersion): number {
  if (version === 'any') return anyVersion;
  if (Number.isInteger(version) && version !== anyVersion && version === (version | 0)) return version;
  throw Failure.of('BAD_ARGUMENTS', `${version} is not a znode version; "any" matches every version`);
}

export function toStat(stat: jute.Stat): Stat {
  return {
    czxid: stat.czxid.readBigUInt64BE(),
    mzxid: stat.mzxid.readBigUInt64BE(),
    pzxid: stat.pzxid.readBigUInt64BE(),
    ctimeMs: Number(stat.ctime.readBigInt64BE()),
    mtimeMs: Number(stat.mtime.readBigInt64BE()),
    version: stat.version,
    cversion: stat.cversion,
    aversion: stat.aversion,
    ephemeralOwner: stat.ephemeralOwner.readBigUInt64BE(),
    dataLength: stat.dataLength,
    numChildren: stat.numChildren,
  };
}

export function settleMulti(
  operations: readonly Operation[],
  response: jute.TransactionResponse,
  resolve: (results: OperationResult[]) => void,
  reject: (error: Error) => void,
): void {
  const { results } = response;
  // Find the failed result. Results before it have error 0, and results after it have RUNTIME_INCONSISTENCY.
  const failedOp = results.findIndex((result) => result.type === op.ERROR && result.err);
  const operation = operations[failedOp];
  if (operation) {
    const failure = Failure.answered(results[failedOp]?.err ?? 0);
    const { type, path } = operation;
    const where = `operation ${failedOp + 1}, ${type} ${path}`;
    reject(new StoreError(failure.storeCode, `${where}: ${failure.message}`, { path, failedOp, verb: type }));
    return;
  }
  const converted = operations.map((each, index) => toResult(each, results[index]));
  if (converted.every((result) => result !== undefined)) resolve(converted);
  else reject(undecodable('results that do not match the operations'));
}

function toResult(
  operation: Operation,
  result: jute.TransactionResult | undefined,
): OperationResult | undefined {
  const { type } = operation;
  if (type === 'create') return result?.path === undefined ? undefined : { type, path: result.path };
  if (type === 'set') return result?.stat === undefined ? undefined : { type, stat: toStat(result.stat) };
  return result?.type === (type === 'delete' ? op.DELETE : op.CHECK) ? { type } : undefined;
}

/**
 * Creates the Failure for an invalid reply. The server did answer, so the outcome is unknown only on this
 * side.
 */
export function undecodable(what: string): Failure {
  return Failure.of('CONNECTION_LOSS', `invalid response: ${what}`);
}

/** Converts an ACL to the client library's form. Throws if no server would accept the ACL. */
export function aclOnWire(acl: Acl): jute.AclEntry[] {
  return acl.map(
    ({ permissions, identity }) =>
      new zookeeper.ACL(permissions, new zookeeper.Id(identity.scheme, identity.id)),
  );
}

export function toAcl(records: readonly jute.AclRecord[]): Acl {
  return records.map(({ perms, id }) => ({ permissions: perms, identity: { scheme: id.scheme, id: id.id } }));
}
