/** Answers one request of the client protocol from the database. */

import type { Client, Database, FormerWatches } from './database.js';
import { type ErrorCode, errorCodes, ZooKeeperError } from './errors.js';
import { type JuteReader, JuteWriter, MalformedRecord } from './jute.js';
import {
  answerMultiRead,
  type OperationOpcode,
  readMulti,
  readOperation,
  writeData,
  writeMultiOutcome,
  writeResult,
} from './operations.js';
import { type Opcode, writeAcl, writeStat, writeStrings } from './records.js';
import type { Notification, WatchKind } from './watches.js';

export interface Reply {
  readonly error: number;
  readonly body: Buffer;
  /** Notifications to send before the reply. */
  readonly notifications: readonly Notification[];
}

interface Context {
  readonly database: Database;
  readonly client: Client;
  readonly nowMs: number;
  readonly reader: JuteReader;
  readonly writer: JuteWriter;
}

/** Reads the request, writes the body of the reply, and returns the notifications that the request causes. */
type Handler = (context: Context) => readonly Notification[];

/**
 * Answers one request. Errors are answered too: a request that cannot be read is answered with
 * MARSHALLING_ERROR.
 */
export function answer(
  opcode: Opcode,
  reader: JuteReader,
  database: Database,
  client: Client,
  nowMs: number,
): Reply {
  const writer = new JuteWriter();
  try {
    const notifications = handlers[opcode]({ database, client, nowMs, reader, writer });
    return { error: 0, body: writer.bytes(), notifications };
  } catch (error) {
    return { error: errorCodes[codeOf(error)], body: Buffer.alloc(0), notifications: [] };
  }
}

function codeOf(error: unknown): ErrorCode {
  if (error instanceof ZooKeeperError) return error.code;
  if (error instanceof MalformedRecord) return 'MARSHALLING_ERROR';
  throw error;
}

const nobody: readonly Notification[] = [];

/** Handles a transaction of one operation. */
function single(opcode: OperationOpcode): Handler {
  return ({ database, client, nowMs, reader, writer }) => {
    const operation = readOperation(opcode, reader);
    const { outcome, notifications } = database.transact([operation], client, nowMs);
    if (!outcome.ok) throw new ZooKeeperError(outcome.error, operation.path);
    for (const result of outcome.results) writeResult(writer, opcode, result);
    return notifications;
  };
}

function reading(read: (context: Context) => void): Handler {
  return (context) => {
    read(context);
    return nobody;
  };
}

/** Refuses an operation that is part of the protocol but not supported by this server. */
const refused: Handler = () => {
  throw new ZooKeeperError('UNIMPLEMENTED', 'not in the development server');
};

const handlers: Record<Opcode, Handler> = {
  create: single('create'),
  create2: single('create2'),
  delete: single('delete'),
  setData: single('setData'),
  setACL: single('setACL'),
  check: single('check'),
  multi({ database, client, nowMs, reader, writer }) {
    const multi = readMulti(reader);
    const operations = multi.map(({ operation }) => operation);
    const { outcome, notifications } = database.transact(operations, client, nowMs);
    writeMultiOutcome(writer, multi, outcome);
    return notifications;
  },
  exists: reading(({ database, client, reader, writer }) => {
    writeStat(writer, database.exists(reader.string(), client, reader.bool()));
  }),
  getData: reading(({ database, client, reader, writer }) => {
    writeData(writer, database.getData(reader.string(), client, reader.bool()));
  }),
  getChildren: reading(({ database, client, reader, writer }) => {
    writeStrings(writer, database.getChildren(reader.string(), client, reader.bool()).children);
  }),
  getChildren2: reading(({ database, client, reader, writer }) => {
    const { children, stat } = database.getChildren(reader.string(), client, reader.bool());
    writeStat(writeStrings(writer, children), stat);
  }),
  getACL: reading(({ database, client, reader, writer }) => {
    const { acl, stat } = database.getAcl(reader.string(), client);
    writeStat(writeAcl(writer, acl), stat);
  }),
  getEphemerals: reading(({ database, client, reader, writer }) => {
    writeStrings(writer, database.ephemeralsOf(client, reader.string()));
  }),
  getAllChildrenNumber: reading(({ database, client, reader, writer }) => {
    writer.int(database.countDescendants(reader.string(), client));
  }),
  multiRead: reading(({ database, client, reader, writer }) => {
    answerMultiRead(reader, writer, database, client);
  }),
  // A single server is always up to date, so there is nothing to wait for.
  sync: reading(({ reader, writer }) => {
    writer.string(reader.string());
  }),
  ping: () => nobody,
  whoAmI: reading(({ database, client, writer }) => {
    writer.vector(database.identities(client), ({ scheme, id }) => {
      writer.string(scheme).string(scheme === 'digest' ? id.replace(/:.*/, '') : id);
    });
  }),
  setWatches: ({ database, client, reader }) =>
    database.restoreWatches({ ...readFormerWatches(reader), persistent: [], recursive: [] }, client),
  setWatches2({ database, client, reader }) {
    const former = readFormerWatches(reader);
    const persistent = readStrings(reader);
    return database.restoreWatches({ ...former, persistent, recursive: readStrings(reader) }, client);
  },
  addWatch: reading(({ database, client, reader }) => {
    const path = reader.string();
    const mode = (['persistent', 'recursive'] as const)[reader.int()];
    if (!mode) throw new ZooKeeperError('BAD_ARGUMENTS', path);
    database.addWatch(path, client, mode);
  }),
  checkWatches: reading(({ database, client, reader }) => {
    const path = reader.string();
    database.checkWatch(readWatchKind(reader), path, client);
  }),
  removeWatches: reading(({ database, client, reader }) => {
    const path = reader.string();
    database.removeWatch(readWatchKind(reader), path, client);
  }),
  closeSession: ({ database, client, nowMs }) =>
    database.endSession(client.sessionId, nowMs, 'closed') ?? nobody,
  createContainer: refused,
  createTTL: refused,
  reconfig: refused,
};

function readStrings(reader: JuteReader): string[] {
  return reader.vector(() => reader.string());
}

function readFormerWatches(reader: JuteReader): Omit<FormerWatches, 'persistent' | 'recursive'> {
  const seenZxid = reader.long();
  const data = readStrings(reader);
  const exist = readStrings(reader);
  return { seenZxid, data, exist, children: readStrings(reader) };
}

function readWatchKind(reader: JuteReader): WatchKind | 'any' {
  const kind = ([undefined, 'children', 'data', 'any'] as const)[reader.int()];
  if (!kind) throw new MalformedRecord('unknown kind of watch');
  return kind;
}
