/** Records of ZooKeeper's client protocol, for requests and responses. */

import type { Acl } from '../model/acl.js';
import type { JuteReader, JuteWriter } from './jute.js';
import type { Stat } from './tree.js';
import type { EventType } from './watches.js';

export const opcodes = {
  create: 1,
  delete: 2,
  exists: 3,
  getData: 4,
  setData: 5,
  getACL: 6,
  setACL: 7,
  getChildren: 8,
  sync: 9,
  ping: 11,
  getChildren2: 12,
  check: 13,
  multi: 14,
  create2: 15,
  reconfig: 16,
  checkWatches: 17,
  removeWatches: 18,
  createContainer: 19,
  createTTL: 21,
  multiRead: 22,
  setWatches: 101,
  getEphemerals: 103,
  getAllChildrenNumber: 104,
  setWatches2: 105,
  addWatch: 106,
  whoAmI: 107,
  closeSession: -11,
} as const;

/**
 * Type of an authentication request. Such a request concerns the connection, not the session. It is answered
 * before the session's requests.
 */
export const authOpcode = 100;

export type Opcode = keyof typeof opcodes;

const opcodeNames = new Map<number, Opcode>();
for (const name of Object.keys(opcodes)) if (isOpcode(name)) opcodeNames.set(opcodes[name], name);

function isOpcode(name: string): name is Opcode {
  return name in opcodes;
}

export function opcodeName(code: number): Opcode | undefined {
  return opcodeNames.get(code);
}

/** Reserved request numbers. They mark messages that do not answer a numbered request. */
export const xids = { notification: -1, ping: -2, auth: -4, setWatches: -8 } as const;

const eventCodes: Record<EventType, number> = { created: 1, deleted: 2, dataChanged: 3, childrenChanged: 4 };
const stateConnected = 3;

export interface ConnectRequest {
  readonly lastZxidSeen: bigint;
  readonly timeoutMs: number;
  readonly sessionId: bigint;
  readonly password: Buffer;
  /** Whether the client sent the read-only flag. Clients before 3.4 neither send nor expect the flag. */
  readonly hasReadOnlyFlag: boolean;
}

export function readConnectRequest(reader: JuteReader): ConnectRequest {
  reader.int(); // protocol version, always 0
  const lastZxidSeen = reader.long();
  const timeoutMs = reader.int();
  const sessionId = reader.long();
  const password = reader.buffer() ?? Buffer.alloc(0);
  return { lastZxidSeen, timeoutMs, sessionId, password, hasReadOnlyFlag: reader.remaining > 0 };
}

export interface GrantedSession {
  readonly id: bigint;
  readonly password: Buffer;
  readonly timeoutMs: number;
}

/** The response to a client whose session has ended. */
export const noSession: GrantedSession = { id: 0n, password: Buffer.alloc(16), timeoutMs: 0 };

export function writeConnectResponse(
  writer: JuteWriter,
  session: GrantedSession,
  readOnlyFlag: boolean,
): JuteWriter {
  writer.int(0).int(session.timeoutMs).long(session.id).buffer(session.password);
  return readOnlyFlag ? writer.bool(false) : writer;
}

export function writeReplyHeader(writer: JuteWriter, xid: number, zxid: bigint, error: number): JuteWriter {
  return writer.int(xid).long(zxid).int(error);
}

export function writeNotification(writer: JuteWriter, type: EventType, path: string): JuteWriter {
  return writeReplyHeader(writer, xids.notification, -1n, 0)
    .int(eventCodes[type])
    .int(stateConnected)
    .string(path);
}

export function readAcl(reader: JuteReader): Acl {
  return reader.vector(() => ({
    permissions: reader.int(),
    identity: { scheme: reader.string(), id: reader.string() },
  }));
}

export function writeAcl(writer: JuteWriter, acl: Acl): JuteWriter {
  return writer.vector(acl, ({ permissions, identity }) => {
    writer.int(permissions).string(identity.scheme).string(identity.id);
  });
}

export function writeStat(writer: JuteWriter, stat: Stat): JuteWriter {
  return writer
    .long(stat.czxid)
    .long(stat.mzxid)
    .long(BigInt(stat.ctimeMs))
    .long(BigInt(stat.mtimeMs))
    .int(stat.version)
    .int(stat.cversion)
    .int(stat.aversion)
    .long(stat.ephemeralOwner)
    .int(stat.dataLength)
    .int(stat.numChildren)
    .long(stat.pzxid);
}

export function writeStrings(writer: JuteWriter, strings: readonly string[]): JuteWriter {
  return writer.vector(strings, (text) => {
    writer.string(text);
  });
}

export interface MultiHeader {
  readonly type: number;
  readonly done: boolean;
  readonly error: number;
}

export function readMultiHeader(reader: JuteReader): MultiHeader {
  return { type: reader.int(), done: reader.bool(), error: reader.int() };
}

export function writeMultiHeader(writer: JuteWriter, header: MultiHeader): JuteWriter {
  return writer.int(header.type).bool(header.done).int(header.error);
}
