/**
 * The clients of a simulated server. The server handles each client's requests one after the other, and
 * notifies clients of changes.
 */
import type { Database } from '../../src/embedded/database.js';
import { errorCodes } from '../../src/embedded/errors.js';
import { JuteReader, JuteWriter } from '../../src/embedded/jute.js';
import {
  authOpcode,
  noSession,
  opcodeName,
  readConnectRequest,
  writeConnectResponse,
  writeNotification,
  writeReplyHeader,
  xids,
} from '../../src/embedded/records.js';
import { answer, type Reply } from '../../src/embedded/requests.js';
import type { Notification } from '../../src/embedded/watches.js';
import type { Identity } from '../../src/model/acl.js';
import { digestIdentity } from '../../src/zookeeper/digest.js';
import { isWrite, operationsOf, type Transaction } from './ensemble.js';
import { quotaReply } from './quota.js';
import type { Server } from './server.js';

/** The server's end of one connection. */
export interface Peer {
  readonly number: number;
  readonly send: (packet: Buffer) => void;
  readonly close: () => void;
  sessionId: bigint;
  /** Identities that the client has proven over this connection. */
  readonly identities: Identity[];
  /** Requests that are waiting for the reply to an earlier change. */
  waiting: Buffer[];
  isWaiting: boolean;
  /**
   * Whether the client's handshake had the flag of newer clients. If it had, the reply must have the flag,
   * too.
   */
  hasFlag: boolean;
}

interface Session {
  readonly id: bigint;
  readonly password: Buffer;
  readonly timeoutMs: number;
}

export interface ClientsOptions {
  readonly server: Server;
  readonly database: Database;
  /** Reports that a client was notified of a transaction's effect. */
  onNotify(session: bigint, what: Pick<Notification, 'type' | 'path'> & { transaction: Transaction }): void;
}

const handshakeXid = 0;

export class Clients {
  readonly #server: Server;
  readonly #database: Database;
  readonly #onNotify: ClientsOptions['onNotify'];
  readonly #peers = new Map<number, Peer>();

  constructor({ server, database, onNotify }: ClientsOptions) {
    this.#server = server;
    this.#database = database;
    this.#onNotify = onNotify;
  }

  /** Closes all connections. */
  hangUp(): void {
    const peers = [...this.#peers.values()];
    this.#peers.clear();
    for (const peer of peers) {
      this.#database.disconnect(peer.number);
      peer.close();
    }
  }

  /** Sends the reply to a client's change. */
  answered(asker: { readonly peer: number; readonly xid: number }, reply: Reply): void {
    const peer = this.#peers.get(asker.peer);
    if (peer === undefined) return;
    this.#reply(peer, asker.xid, reply);
    this.#goOn(peer);
  }

  /** Sends a client the session that it requested. */
  opened(number: number, session: Session): void {
    const peer = this.#peers.get(number);
    if (peer === undefined) return;
    this.#grant(peer, session);
    this.#goOn(peer);
  }

  /** Returns the client that sent the request, if its connection still exists. */
  peerOf(asker: { readonly peer: number } | null): Peer | undefined {
    return asker === null ? undefined : this.#peers.get(asker.peer);
  }

  ended(session: bigint): void {
    for (const one of [...this.#peers.values()]) if (one.sessionId === session) this.#drop(one);
  }

  accept(peer: Peer): void {
    this.#peers.set(peer.number, peer);
  }

  /** Removes a client that has closed its end of the connection. */
  gone(peer: Peer): void {
    if (!this.#peers.delete(peer.number)) return;
    this.#database.disconnect(peer.number);
  }

  received(peer: Peer, packet: Buffer): void {
    if (this.#peers.get(peer.number) !== peer) return;
    if (peer.sessionId !== 0n) this.#server.touch(peer.sessionId);
    if (peer.isWaiting) peer.waiting.push(packet);
    else if (peer.sessionId === 0n) this.#shakeHands(peer, packet);
    else this.#serve(peer, packet);
  }

  #shakeHands(peer: Peer, packet: Buffer): void {
    const request = readConnectRequest(new JuteReader(packet));
    const { lastZxidSeen, sessionId, password, hasReadOnlyFlag } = request;
    const timeoutMs = Math.min(request.timeoutMs, this.#server.maxSessionTimeoutMs);
    if (lastZxidSeen > this.#database.lastZxid) {
      this.#drop(peer);
      return;
    }
    peer.hasFlag = hasReadOnlyFlag;
    peer.isWaiting = true;
    if (sessionId === 0n) {
      const asker = { server: this.#server, peer: peer.number, xid: handshakeXid };
      this.#server.ask((leader) => leader.propose({ kind: 'open', timeoutMs, asker }));
      return;
    }
    for (const one of [...this.#peers.values()]) if (one.sessionId === sessionId) this.#drop(one);
    this.#server.ask((leader) => {
      const session = leader.takeUp({ sessionId, password, timeoutMs }, this.#server);
      leader.answerTo(this.#server, () => {
        if (this.#peers.get(peer.number) !== peer) return;
        this.#grant(peer, session ?? noSession);
        this.#goOn(peer);
      });
    });
  }

  #grant(peer: Peer, session: Session): void {
    peer.sessionId = session.id;
    peer.send(writeConnectResponse(new JuteWriter(), session, peer.hasFlag).packet());
    if (session.id === 0n) this.#drop(peer);
  }

  #serve(peer: Peer, packet: Buffer): void {
    const reader = new JuteReader(packet);
    const xid = reader.int();
    const type = reader.int();
    if (type === authOpcode) {
      this.#authenticate(peer, reader);
      return;
    }
    const opcode = opcodeName(type);
    if (opcode === undefined) throw new Error('the client sent a request that is none');
    const body = packet.subarray(8);
    const asker = { server: this.#server, peer: peer.number, xid };
    const { sessionId } = peer;
    const identities = [...peer.identities];
    if (isWrite(opcode)) {
      peer.isWaiting = true;
      const operations = operationsOf(opcode, body);
      this.#server.ask((leader) => {
        if (!leader.isTakenUpBy(sessionId, this.#server)) {
          // Another server has resumed the session, or a late handshake has made it look so. The client must
          // reconnect (ZOOKEEPER-710).
          leader.answerTo(this.#server, () => this.#peers.get(peer.number) === peer && this.#drop(peer));
          return;
        }
        const refused = leader.refusedByQuota(operations, sessionId);
        if (refused !== null) {
          const reply = quotaReply(opcode, operations.length, refused);
          leader.answerTo(this.#server, () => this.answered(asker, reply));
          return;
        }
        const { wallMs } = leader;
        const what = { opcode, body, operations, session: sessionId, identities };
        leader.propose({ kind: 'write', ...what, wallMs, asker });
      });
    } else if (opcode === 'closeSession') {
      peer.isWaiting = true;
      this.#server.ask((leader) => leader.propose({ kind: 'close', session: sessionId, asker }));
    } else if (opcode === 'sync') {
      peer.isWaiting = true;
      this.#server.ask((leader) =>
        leader.answerTo(this.#server, () => this.#finish(peer, xid, opcode, body)),
      );
    } else this.#finish(peer, xid, opcode, body, false);
  }

  #authenticate(peer: Peer, reader: JuteReader): void {
    reader.int();
    const scheme = reader.string();
    const credentials = reader.buffer()?.toString('utf8') ?? '';
    if (scheme === 'digest') peer.identities.push(digestIdentity(credentials));
    peer.send(writeReplyHeader(new JuteWriter(), xids.auth, 0n, 0).packet());
  }

  #finish(
    peer: Peer,
    xid: number,
    opcode: NonNullable<ReturnType<typeof opcodeName>>,
    body: Buffer,
    waited = true,
  ) {
    if (this.#peers.get(peer.number) !== peer) return;
    const { sessionId, number: watcher, identities } = peer;
    const client = { sessionId, watcher, identities };
    const reply = answer(opcode, new JuteReader(body), this.#database, client, 0);
    this.deliver(reply.notifications, null);
    this.#reply(peer, opcode === 'ping' ? xids.ping : xid, reply);
    if (waited) this.#goOn(peer);
  }

  /** Handles the requests that waited for the reply to a change. */
  #goOn(peer: Peer): void {
    peer.isWaiting = false;
    while (!peer.isWaiting) {
      const next = peer.waiting.shift();
      if (next === undefined || this.#peers.get(peer.number) !== peer) return;
      if (peer.sessionId === 0n) this.#shakeHands(peer, next);
      else this.#serve(peer, next);
    }
  }

  #reply(peer: Peer, xid: number, { error, body }: Reply): void {
    const reply = writeReplyHeader(new JuteWriter(), xid, this.#database.lastZxid, error);
    peer.send(reply.raw(body).packet());
    if (error === errorCodes.SESSION_EXPIRED) this.#drop(peer);
  }

  deliver(notifications: readonly Notification[], transaction: Transaction | null): void {
    for (const { watcher, type, path } of notifications) {
      const peer = this.#peers.get(watcher);
      if (peer === undefined) continue;
      if (transaction !== null) this.#onNotify(peer.sessionId, { transaction, type, path });
      peer.send(writeNotification(new JuteWriter(), type, path).packet());
    }
  }

  #drop(peer: Peer): void {
    this.gone(peer);
    peer.close();
  }
}
