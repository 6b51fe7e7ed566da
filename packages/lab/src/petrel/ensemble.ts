/**
 * Simulates ZooKeeper as one server that never fails. It uses the state machine and the protocol of Petrel's
 * development server.
 */

import {
  answer,
  Database,
  groupPaths,
  JuteReader,
  JuteWriter,
  noSession,
  opcodeName,
  openAcl,
  readConnectRequest,
  treeContents,
  writeConnectResponse,
  writeNotification,
  writeReplyHeader,
  xids,
} from 'petrel/internals';
import type { Context, Node } from '../protocol.js';
import { End, type Packet } from './connection.js';
import { root } from './node.js';
import { wallMs } from './time.js';

type Notifications = ReturnType<typeof answer>['notifications'];

/** The server's end of one connection. */
interface Peer {
  /** Identifies the incarnation of the node that owns the connection. */
  readonly owner: string;
  readonly watcher: number;
  readonly end: End;
  sessionId: bigint;
  isOver: boolean;
}

const lengthBytes = 4;
const longestTimeoutMs = 2 ** 31 - 1;

export class Ensemble implements Node<Packet> {
  readonly #context: Context<Packet>;
  readonly #database = new Database({
    secret: 'laboratory',
    startedAtMs: wallMs(0),
    tickTimeMs: 1,
    minTimeoutMs: 1,
    maxTimeoutMs: longestTimeoutMs,
  });
  readonly #peers = new Map<string, Peer>();
  readonly #watchers = new Map<number, Peer>();
  /** Incarnations that the ensemble considers to have ended. */
  readonly #ended = new Set<string>();

  constructor(context: Context<Packet>) {
    this.#context = context;
    this.#found();
  }

  start(): void {}

  receive(packet: Packet, from: number): void {
    const peer = this.#peerOf(packet, from);
    for (const bytes of peer.end.arrived(packet)) {
      if (peer.isOver) return;
      if (bytes === null) this.#forget(peer);
      else if (peer.sessionId === 0n) this.#shakeHands(peer, bytes.subarray(lengthBytes));
      else this.#serve(peer, bytes.subarray(lengthBytes));
    }
  }

  /** Ends the sessions of an incarnation that has been silent for its session timeout. */
  suspect(node: number, incarnation: number): void {
    const owner = ownerOf(node, incarnation);
    this.#ended.add(owner);
    const sessions = new Set<bigint>();
    for (const peer of this.#peers.values()) {
      if (peer.owner !== owner) continue;
      sessions.add(peer.sessionId);
      if (!peer.isOver) this.#forget(peer);
    }
    for (const session of sessions) this.#deliver(this.#database.endSession(session, this.#nowMs()) ?? []);
  }

  /** Allows a node that was cut off to open a new session. */
  restored(node: number): void {
    for (const owner of this.#ended) if (owner.startsWith(`node ${node},`)) this.#ended.delete(owner);
  }

  /** Creates the group before any node joins it. */
  #found(): void {
    const founder = this.#database.openSession(longestTimeoutMs, this.#nowMs());
    const client = { sessionId: founder.id, watcher: 0, identities: [] };
    const operations = treeContents(groupPaths(root)).map(([path, content]) => {
      return { type: 'create' as const, path, data: Buffer.from(content), acl: openAcl, flags: 0 };
    });
    this.#database.transact(operations, client, this.#nowMs());
    this.#database.endSession(founder.id, this.#nowMs(), 'closed');
  }

  #nowMs(): number {
    return wallMs(this.#context.nowMs());
  }

  #peerOf({ incarnation, connection }: Packet, from: number): Peer {
    const owner = ownerOf(from, incarnation);
    const name = `${owner}, connection ${connection}`;
    const known = this.#peers.get(name);
    if (known !== undefined) return known;
    const { send } = this.#context;
    const end = new End({ incarnation, connection }, (packet, count) => send(from, packet, count));
    const peer = { owner, watcher: this.#peers.size + 1, end, sessionId: 0n, isOver: this.#ended.has(owner) };
    this.#peers.set(name, peer);
    this.#watchers.set(peer.watcher, peer);
    return peer;
  }

  #forget(peer: Peer): void {
    peer.isOver = true;
    this.#watchers.delete(peer.watcher);
    this.#database.disconnect(peer.watcher);
  }

  #close(peer: Peer): void {
    this.#forget(peer);
    peer.end.send(null);
  }

  #shakeHands(peer: Peer, bytes: Buffer): void {
    const { sessionId, password, timeoutMs, hasReadOnlyFlag } = readConnectRequest(new JuteReader(bytes));
    const granted =
      sessionId === 0n
        ? this.#database.openSession(timeoutMs, this.#nowMs())
        : this.#database.resumeSession(sessionId, password, timeoutMs, this.#nowMs());
    peer.sessionId = granted?.id ?? 0n;
    peer.end.send(writeConnectResponse(new JuteWriter(), granted ?? noSession, hasReadOnlyFlag).packet());
    if (granted === undefined) this.#close(peer);
  }

  #serve(peer: Peer, bytes: Buffer): void {
    const reader = new JuteReader(bytes);
    const xid = reader.int();
    const opcode = opcodeName(reader.int());
    if (opcode === undefined) throw new Error('the client sent an invalid request');
    const client = { sessionId: peer.sessionId, watcher: peer.watcher, identities: [] };
    const { error, body, notifications } = answer(opcode, reader, this.#database, client, this.#nowMs());
    this.#deliver(notifications);
    const header = writeReplyHeader(
      new JuteWriter(),
      opcode === 'ping' ? xids.ping : xid,
      this.#database.lastZxid,
      error,
    );
    peer.end.send(header.raw(body).packet());
    if (opcode === 'closeSession') this.#close(peer);
  }

  #deliver(notifications: Notifications): void {
    for (const { watcher, type, path } of notifications) {
      this.#watchers.get(watcher)?.end.send(writeNotification(new JuteWriter(), type, path).packet());
    }
  }
}

function ownerOf(node: number, incarnation: number): string {
  return `node ${node}, incarnation ${incarnation}`;
}
