/**
 * Rules about network traffic, judged packet by packet. No session reads from a server that knows less than
 * another server has already reported to that session. A node reads the registrations only after config,
 * elected and current, in that order. It need not read one of these three again as long as it has a watch on
 * that znode that has not fired.
 */

import { JuteReader } from '../../src/embedded/jute.js';
import { authOpcode, opcodeName, opcodes, readConnectRequest, xids } from '../../src/embedded/records.js';
import type { GroupPaths } from '../../src/model/paths.js';
import type { Violate } from './judge.js';
import type { Tap } from './network.js';

/** Kinds of reads, in the order in which a round makes them. */
type Kind = 'config' | 'elected' | 'current' | 'nodes';

interface LastRead {
  /** Position of this read among the requests of its connection. */
  readonly place: number;
  /** Whether there is a watch on the znode that has not fired yet. */
  readonly isKnown: boolean;
}

interface Tapped {
  readonly machine: string;
  session: bigint;
  /** The newest change that the session knew of when it opened this connection. */
  newestBefore: bigint;
  hasShakenHands: boolean;
  isGranted: boolean;
  /** Violation to report when the session requests something that may be outdated. Null if there is none. */
  lag: string | null;
  requests: number;
  /** The last read of each kind. */
  readonly reads: Map<Kind, LastRead>;
  /** Reads of the group that have not been answered yet. */
  readonly unanswered: Set<number>;
  /** Number of the first read of the current round. */
  round: number;
  /**
   * The newest change that the server knew of when it answered the first read of a round. Null if no read has
   * been answered.
   */
  basis: bigint | null;
  /** The basis of each write, by the request number of the write. See `basis`. */
  readonly bases: Map<number, bigint>;
}

/** Defines when a session counts as connected. */
interface Touching {
  /** Duration of silence that counts as a break. */
  readonly breakMs: number;
  nowMs(): number;
}

export class Wiretap implements Tap {
  readonly #paths: GroupPaths;
  readonly #violate: Violate;
  readonly #connections = new Map<number, Tapped>();
  /** The newest change that each session knows of. */
  readonly #newest = new Map<bigint, bigint>();
  readonly #touching: Touching;
  /** Instants of the first reply since the last break and of the last reply, by session. */
  readonly #touch = new Map<bigint, { readonly sinceMs: number; readonly lastMs: number }>();

  constructor(paths: GroupPaths, violate: Violate, touching: Touching) {
    this.#touching = touching;
    this.#paths = paths;
    this.#violate = violate;
  }

  opened(connection: number, machine: string): void {
    const session = { session: 0n, newestBefore: 0n, lag: null, requests: 0 };
    const progress = { hasShakenHands: false, isGranted: false };
    const round = { round: 0, basis: null, bases: new Map<number, bigint>(), unanswered: new Set<number>() };
    this.#connections.set(connection, { ...session, ...progress, ...round, machine, reads: new Map() });
  }

  sent(connection: number, packet: Buffer): void {
    const tapped = this.#connections.get(connection);
    if (tapped === undefined) return;
    if (tapped.hasShakenHands) this.#request(tapped, packet);
    else {
      tapped.hasShakenHands = true;
      tapped.session = readConnectRequest(new JuteReader(packet)).sessionId;
      tapped.newestBefore = this.#newest.get(tapped.session) ?? 0n;
    }
  }

  granted(connection: number, packet: Buffer, known: bigint): void {
    const tapped = this.#connections.get(connection);
    if (tapped === undefined) return;
    if (tapped.isGranted) {
      const xid = packet.readInt32BE(0);
      tapped.unanswered.delete(xid);
      if (xid === tapped.round) tapped.basis = known;
      return;
    }
    tapped.isGranted = true;
    const reader = new JuteReader(packet);
    reader.int();
    reader.int();
    tapped.session = reader.long();
    if (tapped.session === 0n || known >= tapped.newestBefore) return;
    // The violation is not reported yet, because a guardian that only keeps or ends a dead agent's session
    // reads nothing.
    tapped.lag = `${tapped.machine} goes on with a server that knows of changes up to ${known}, and knew of ${tapped.newestBefore}`;
  }

  /**
   * Returns the newest change that was known for certain when this request was decided on. Null if it is
   * unknown.
   */
  basisOf(connection: number, request: number): bigint | null {
    return this.#connections.get(connection)?.bases.get(request) ?? null;
  }

  delivered(connection: number, packet: Buffer): void {
    const tapped = this.#connections.get(connection);
    if (tapped === undefined || packet.length < replyHeaderBytes) return;
    const xid = packet.readInt32BE(0);
    if (xid === xids.notification) this.#changed(tapped, packet);
    else if (tapped.isGranted) this.#touched(tapped.session);
    // Notifications and replies to pings do not show which changes their server knows.
    if (xid <= 0 || !tapped.isGranted) return;
    const zxid = packet.readBigInt64BE(4);
    if (zxid > (this.#newest.get(tapped.session) ?? 0n)) this.#newest.set(tapped.session, zxid);
  }

  #touched(session: bigint): void {
    const lastMs = this.#touching.nowMs();
    this.#touch.set(session, { sinceMs: Math.min(this.inTouchSinceMs(session), lastMs), lastMs });
  }

  /** Returns the instant since which the session has had replies without a break. Infinity during a break. */
  inTouchSinceMs(session: bigint): number {
    const { nowMs, breakMs } = this.#touching;
    const touch = this.#touch.get(session);
    return touch === undefined || nowMs() - touch.lastMs > breakMs ? Number.POSITIVE_INFINITY : touch.sinceMs;
  }

  #request(tapped: Tapped, packet: Buffer): void {
    tapped.requests += 1;
    if (tapped.lag !== null && !unread.has(packet.readInt32BE(4))) this.#violate(9, tapped.lag);
    const number = packet.readInt32BE(0);
    if (packet.readInt32BE(4) === opcodes.multi && tapped.basis !== null)
      tapped.bases.set(number, tapped.basis);
    const read = readOf(packet);
    if (read === null) return;
    const kind = this.#kindOf(read);
    if (kind === null && !read.path.startsWith(`${this.#paths.nodes}/`)) return;
    if (tapped.unanswered.size === 0) tapped.round = number;
    tapped.unanswered.add(number);
    if (kind === null) return;
    if (kind === 'nodes' && tapped.machine !== 'ops') this.#judgeOrder(tapped);
    const isKnown = read.watches || tapped.reads.get(kind)?.isKnown === true;
    tapped.reads.set(kind, { place: tapped.requests, isKnown });
  }

  #judgeOrder(tapped: Tapped): void {
    let since = tapped.reads.get('nodes')?.place ?? 0;
    for (const kind of ['config', 'elected', 'current'] as const) {
      const { place = 0, isKnown = false } = tapped.reads.get(kind) ?? {};
      if (place <= since && !isKnown)
        this.#violate(9, `${tapped.machine} reads nodes before it reads what the nodes are to be seen by`);
      since = Math.max(since, place);
    }
  }

  #changed(tapped: Tapped, packet: Buffer): void {
    const reader = new JuteReader(packet.subarray(replyHeaderBytes));
    reader.int();
    reader.int();
    const kind = this.#kindOf({ path: reader.string(), isOfChildren: false });
    const read = kind === null ? undefined : tapped.reads.get(kind);
    if (kind !== null && read !== undefined) tapped.reads.set(kind, { ...read, isKnown: false });
  }

  /**
   * Returns which znode of the first slot a request is about. Null for other znodes. Every group has a first
   * slot.
   */
  #kindOf({ path, isOfChildren }: Pick<Read, 'path' | 'isOfChildren'>): Kind | null {
    const { config, elected, current, nodes } = this.#paths;
    if (path === nodes) return isOfChildren ? 'nodes' : null;
    if (isOfChildren) return null;
    if (path === config) return 'config';
    if (path === elected) return 'elected';
    return path === current ? 'current' : null;
  }
}

interface Read {
  readonly path: string;
  readonly isOfChildren: boolean;
  readonly watches: boolean;
}

function readOf(packet: Buffer): Read | null {
  const reader = new JuteReader(packet);
  reader.int();
  const opcode = opcodeName(reader.int());
  if (opcode === 'getData' || opcode === 'exists')
    return { path: reader.string(), isOfChildren: false, watches: reader.bool() };
  if (opcode === 'getChildren' || opcode === 'getChildren2')
    return { path: reader.string(), isOfChildren: true, watches: reader.bool() };
  return null;
}

const replyHeaderBytes = 16;
/** Requests that read nothing. */
const unread: ReadonlySet<number> = new Set([opcodes.ping, opcodes.closeSession, authOpcode]);
