/**
 * Rules about what goes over the wire, judged packet by packet: no session reads from a server that knows less than
 * another has told it already, and an agent's round reads in the order config, elected, current, nodes.
 */
import type { GroupPaths } from '../../src/core/paths.js';
import { JuteReader } from '../../src/embedded/jute.js';
import { type Opcode, opcodeName, opcodes, readConnectRequest } from '../../src/embedded/records.js';
import type { Violate } from './judge.js';

/** In which a round's reads are sent. */
const order = ['config', 'elected', 'current', 'nodes'] as const;
type Read = (typeof order)[number];

interface Tapped {
  readonly machine: string;
  session: bigint;
  /** The newest change that the session had been told of when it asked for this connection. */
  toldBefore: bigint;
  hasAsked: boolean;
  isGranted: boolean;
  /** What to say of it once it asks for anything that it could be told wrong. */
  lag: string | null;
  requests: number;
  /** The number of the newest request for each. */
  readonly reads: Map<Read, number>;
  /** Which request began the round at hand. */
  round: number;
  /** The newest change that its answer told of. */
  basis: bigint | null;
  /** Of each write that was sent, by its number: the basis of the round that it was decided in. */
  readonly bases: Map<number, bigint>;
}

export class Wiretap {
  readonly #paths: GroupPaths;
  readonly #violate: Violate;
  readonly #connections = new Map<number, Tapped>();
  readonly #told = new Map<bigint, bigint>();

  constructor(paths: GroupPaths, violate: Violate) {
    this.#paths = paths;
    this.#violate = violate;
  }

  opened(connection: number, machine: string): void {
    const fresh = { session: 0n, toldBefore: 0n, hasAsked: false, isGranted: false, lag: null, requests: 0 };
    const round = { round: 0, basis: null, bases: new Map<number, bigint>() };
    this.#connections.set(connection, { ...fresh, ...round, machine, reads: new Map() });
  }

  /** Sent by the client. */
  asked(connection: number, packet: Buffer): void {
    const tapped = this.#connections.get(connection);
    if (tapped === undefined) return;
    if (tapped.hasAsked) this.#request(tapped, packet);
    else {
      tapped.hasAsked = true;
      tapped.session = readConnectRequest(new JuteReader(packet)).sessionId;
      tapped.toldBefore = this.#told.get(tapped.session) ?? 0n;
    }
  }

  /** Sent by a server that knows of all changes up to `known`. */
  granted(connection: number, packet: Buffer, known: bigint): void {
    const tapped = this.#connections.get(connection);
    if (tapped === undefined) return;
    if (tapped.isGranted) {
      if (packet.readInt32BE(0) === tapped.round) tapped.basis = known;
      return;
    }
    tapped.isGranted = true;
    const reader = new JuteReader(packet);
    reader.int();
    reader.int();
    tapped.session = reader.long();
    if (tapped.session === 0n || known >= tapped.toldBefore) return;
    // A guardian that only holds the session of an agent that has died, or ends it, reads nothing.
    tapped.lag = `${tapped.machine} goes on with a server that knows of changes up to ${known}, and was told of ${tapped.toldBefore}`;
  }

  /** What the round had been told, at least, in which it was decided to send this. */
  basisOf(connection: number, request: number): bigint | null {
    return this.#connections.get(connection)?.bases.get(request) ?? null;
  }

  /** Has arrived at the client. */
  told(connection: number, packet: Buffer): void {
    const tapped = this.#connections.get(connection);
    if (tapped === undefined || packet.length < replyHeaderBytes) return;
    const xid = packet.readInt32BE(0);
    // Answers to pings and events do not say what their server knows.
    if (xid <= 0 || !tapped.isGranted) return;
    const zxid = packet.readBigInt64BE(4);
    if (zxid > (this.#told.get(tapped.session) ?? 0n)) this.#told.set(tapped.session, zxid);
  }

  #request(tapped: Tapped, packet: Buffer): void {
    tapped.requests += 1;
    if (tapped.lag !== null && !unread.has(packet.readInt32BE(4))) this.#violate(9, tapped.lag);
    const number = packet.readInt32BE(0);
    if (packet.readInt32BE(4) === opcodes.multi && tapped.basis !== null)
      tapped.bases.set(number, tapped.basis);
    const read = this.#readOf(packet);
    if (read === null) return;
    if (read === 'config') tapped.round = number;
    tapped.reads.set(read, tapped.requests);
    if (read !== 'nodes' || tapped.machine === 'ops') return;
    const numbers = order.map((one) => tapped.reads.get(one) ?? 0);
    if (numbers.some((number, index) => number <= (numbers[index - 1] ?? 0)))
      this.#violate(9, `${tapped.machine} reads nodes before it reads what the nodes are to be seen by`);
  }

  #readOf(packet: Buffer): Read | null {
    const reader = new JuteReader(packet);
    reader.int();
    const opcode = opcodeName(reader.int());
    if (opcode === undefined || !reads.has(opcode)) return null;
    const path = reader.string();
    const { config, elected, current, nodes } = this.#paths;
    if (opcode === 'getData' && path === config) return 'config';
    // Of every slot.
    if (opcode === 'getData' && path.startsWith(elected)) return 'elected';
    if (opcode === 'getData' && path.startsWith(current)) return 'current';
    return opcode !== 'getData' && path === nodes ? 'nodes' : null;
  }
}

const replyHeaderBytes = 16;
/** Requests that read nothing. */
const unread: ReadonlySet<number> = new Set([opcodes.ping, opcodes.closeSession]);
const reads: ReadonlySet<Opcode> = new Set(['getData', 'getChildren', 'getChildren2']);
