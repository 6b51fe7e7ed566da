/**
 * Serves ZooKeeper's client protocol from a database. It handles handshakes, requests, watch notifications
 * and the end of sessions, for any number of connections.
 */

import type { Socket } from 'node:net';
import type { Logger } from 'pino';
import { errorMessage } from '../errors.js';
import { digestIdentity } from '../zookeeper/digest.js';
import { Connection, type ConnectionOwner } from './connection.js';
import type { Database } from './database.js';
import { errorCodes } from './errors.js';
import { answerFourLetterWord } from './four-letter-words.js';
import { type JuteReader, JuteWriter } from './jute.js';
import {
  authOpcode,
  noSession,
  type Opcode,
  opcodeName,
  readConnectRequest,
  writeConnectResponse,
  writeNotification,
  writeReplyHeader,
  xids,
} from './records.js';
import { answer } from './requests.js';
import type { Standstills } from './standstill.js';
import { Traffic } from './traffic.js';
import type { Notification } from './watches.js';

export interface ServiceOptions {
  readonly database: Database;
  /** Returns milliseconds since the epoch. The value never decreases. */
  readonly nowMs: () => number;
  readonly logger: Logger | undefined;
  readonly standstills: Standstills;
}

export class Service implements ConnectionOwner {
  readonly traffic = new Traffic();
  readonly #database: Database;
  readonly #nowMs: () => number;
  readonly #logger: Logger | undefined;
  readonly #standstills: Standstills;
  readonly #connections = new Map<number, Connection>();
  #connectionsEver = 0;
  #frozen = false;

  constructor(options: ServiceOptions) {
    this.#database = options.database;
    this.#nowMs = options.nowMs;
    this.#logger = options.logger;
    this.#standstills = options.standstills;
  }

  accept(socket: Socket): void {
    this.#connectionsEver += 1;
    const connection = new Connection(this.#connectionsEver, socket, this);
    this.#connections.set(connection.number, connection);
    if (this.#frozen) connection.setFrozen(true);
  }

  fourLetterWord(word: string): string | undefined {
    return answerFourLetterWord(word, {
      database: this.#database,
      connections: [...this.#connections.values()],
    });
  }

  packet(connection: Connection, reader: JuteReader): void {
    if (this.#standstills.defer(() => this.#late(connection, reader))) return;
    if (connection.sessionId === 0n) this.#shakeHands(connection, reader);
    else this.#serve(connection, reader);
  }

  /** Handles a packet that had to wait. Drops the packet if its client has disconnected. */
  #late(connection: Connection, reader: JuteReader): void {
    if (!connection.isOpen) return;
    try {
      this.packet(connection, reader);
    } catch (error) {
      this.problem(connection, error);
      connection.destroy();
    }
  }

  closed(connection: Connection): void {
    this.#connections.delete(connection.number);
    this.#database.disconnect(connection.number);
  }

  problem(connection: Connection, error: unknown): void {
    this.#logger?.warn(
      { remote: connection.remote, reason: errorMessage(error) },
      'ZooKeeper development server: a connection failed',
    );
  }

  /** Ends the sessions whose timeout has passed. */
  expireOverdue(): void {
    if (this.#frozen || this.#standstills.isPaused) return;
    for (const id of this.#database.overdueSessions(this.#nowMs())) this.endSession(id);
  }

  /** Ends a session as if it had expired. Returns false if there is no session with this id. */
  endSession(id: bigint): boolean {
    const notifications = this.#database.endSession(id, this.#nowMs());
    if (!notifications) return false;
    this.#logger?.info({ session: `0x${id.toString(16)}` }, 'ZooKeeper development server: session ended');
    const holder = this.#holderOf(id);
    this.#standstills.notify(holder, () => {
      this.#deliver(notifications);
      holder?.destroy();
    });
    return true;
  }

  dropConnections(): void {
    this.#standstills.reset();
    for (const connection of this.#connections.values()) connection.destroy();
  }

  setFrozen(frozen: boolean): void {
    this.#frozen = frozen;
    this.expireOverdue();
    for (const connection of this.#connections.values()) connection.setFrozen(frozen);
  }

  #shakeHands(connection: Connection, reader: JuteReader): void {
    const request = readConnectRequest(reader);
    // The client has seen later data than this server. It must find a server that is not behind.
    if (request.lastZxidSeen > this.#database.lastZxid) {
      connection.destroy();
      return;
    }
    const session = this.#grantSession(connection, request);
    const response = writeConnectResponse(new JuteWriter(), session ?? noSession, request.hasReadOnlyFlag);
    if (session) connection.handshakeDone(session.id);
    connection.send(response);
    if (!session) connection.end();
  }

  #grantSession(connection: Connection, request: ReturnType<typeof readConnectRequest>) {
    const { sessionId, password, timeoutMs } = request;
    if (sessionId === 0n) return this.#database.openSession(timeoutMs, this.#nowMs());
    // Close the previous connection before the password is checked, as ZooKeeper does.
    this.#holderOf(sessionId)?.destroy();
    const session = this.#database.resumeSession(sessionId, password, timeoutMs, this.#nowMs());
    if (!session)
      this.#logger?.info({ remote: connection.remote }, 'ZooKeeper development server: no such session');
    return session;
  }

  #serve(connection: Connection, reader: JuteReader): void {
    const xid = reader.int();
    const type = reader.int();
    const opcode = opcodeName(type);
    if (type === authOpcode) this.#authenticate(connection, reader);
    else if (opcode) this.#answer(connection, xid, opcode, reader);
    else {
      this.#reply(connection, xid, errorCodes.UNIMPLEMENTED);
      connection.end();
    }
  }

  #answer(connection: Connection, xid: number, opcode: Opcode, reader: JuteReader): void {
    this.traffic.request(connection.sessionId, opcode);
    this.#database.touchSession(connection.sessionId, this.#nowMs());
    const apply = () => this.#apply(connection, xid, opcode, reader);
    if (!this.#standstills.stopBefore(connection, opcode, reader, apply)) apply();
  }

  #apply(connection: Connection, xid: number, opcode: Opcode, reader: JuteReader): void {
    const { sessionId, number: watcher, identities } = connection;
    const client = { sessionId, watcher, identities };
    const reply = answer(opcode, reader, this.#database, client, this.#nowMs());
    this.#standstills.notify(connection, () => {
      this.#deliver(reply.notifications);
      this.#reply(connection, opcode === 'ping' ? xids.ping : xid, reply.error, reply.body);
      if (opcode === 'closeSession') connection.end();
    });
  }

  #reply(connection: Connection, xid: number, error: number, body?: Buffer): void {
    const reply = writeReplyHeader(new JuteWriter(), xid, this.#database.lastZxid, error);
    connection.send(body ? reply.raw(body) : reply);
  }

  #authenticate(connection: Connection, reader: JuteReader): void {
    reader.int(); // type, always 0
    const scheme = reader.string();
    const credentials = reader.buffer()?.toString('utf8') ?? '';
    const known = scheme === 'digest' || scheme === 'ip';
    if (scheme === 'digest') connection.identities.push(digestIdentity(credentials));
    const error = known ? 0 : errorCodes.AUTH_FAILED;
    connection.send(writeReplyHeader(new JuteWriter(), xids.auth, 0n, error));
    if (!known) connection.end();
  }

  #deliver(notifications: readonly Notification[]): void {
    for (const { watcher, type, path } of notifications) {
      const connection = this.#connections.get(watcher);
      if (!connection) continue;
      this.traffic.notification(connection.sessionId);
      connection.send(writeNotification(new JuteWriter(), type, path));
    }
  }

  #holderOf(sessionId: bigint): Connection | undefined {
    return [...this.#connections.values()].find((connection) => connection.sessionId === sessionId);
  }
}
