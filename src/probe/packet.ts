/**
 * One probe packet. Questions and answers have 112 bytes each, so an answer is never larger than its
 * question.
 *
 * | bytes   | content                                                                                       |
 * | ------- | --------------------------------------------------------------------------------------------- |
 * | 0–7     | `PTRL`, version 1, kind (1 question, 2 answer, 3 late answer), two zeros                      |
 * | 8–23    | the group: the start of the SHA-256 of its root path                                          |
 * | 24–39   | the sender: the start of the SHA-256 of its node id                                           |
 * | 40–55   | the receiver: the start of the SHA-256 of its node id                                         |
 * | 56–71   | the question's number, drawn at random; the answer repeats it                                 |
 * | 72–79   | client requests per second at the sender: a double, NaN if unknown                            |
 * | 80–111  | HMAC-SHA-256 of all previous bytes, with a key derived from the group's secret and root path  |
 *
 * If the group has no secret, the key is derived from an empty secret. Any process that knows the names can
 * then create valid packets. Nodes with a secret and nodes without one do not accept each other's packets.
 *
 * The MAC covers kind, sender, receiver and group, so a packet cannot be sent back, forwarded, or used in
 * another group. A question does not change the state of its receiver. An answer counts once, and only while
 * its question is waiting for an answer. Replayed packets therefore have no effect.
 */
import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

export const packetBytes = 112;
const macAt = 80;
const tagBytes = 16;
const kinds = ['question', 'answer', 'late'] as const;
const beginnings = { question: head(1), answer: head(2), late: head(3) };

export interface Packet {
  /**
   * Kind of the packet. `late` is an answer to a question that may have waited in a queue while its receiver
   * was not running. Such an answer measures nothing.
   */
  readonly kind: (typeof kinds)[number];
  readonly from: Tag;
  /** The number of the question. An answer repeats it. */
  readonly number: Tag;
  /** Client requests per second at the sender. Null if the sender does not know the rate. */
  readonly requestsPerSecond: number | null;
}

/** 16 bytes as hexadecimal digits: a digest of a name, or the number of a question. */
export type Tag = string;

/**
 * Returns a random number. At a hundred thousand guesses per second, guessing it would take about 10^26
 * years.
 */
export function newNumber(): Tag {
  return randomBytes(tagBytes).toString('hex');
}

export function tagOf(name: string): Tag {
  return createHash('sha256')
    .update(name)
    .digest('hex')
    .slice(0, 2 * tagBytes);
}

/** Writes and reads packets for one node of one group. */
export class PacketCoder {
  readonly #self: Buffer;
  readonly #group: Buffer;
  readonly #key: Buffer;

  constructor({
    node,
    root,
    secret,
  }: {
    readonly node: string;
    readonly root: string;
    readonly secret: string | null;
  }) {
    this.#self = Buffer.from(tagOf(node), 'hex');
    this.#group = Buffer.from(tagOf(root), 'hex');
    this.#key = createHmac('sha256', secret ?? '')
      .update(`petrel probe 1 ${root}`)
      .digest();
  }

  write(kind: Packet['kind'], to: Tag, number: Tag, requestsPerSecond: number | null): Buffer {
    const packet = Buffer.alloc(packetBytes);
    beginnings[kind].copy(packet);
    this.#group.copy(packet, 8);
    this.#self.copy(packet, 24);
    packet.write(to, 40, 'hex');
    packet.write(number, 56, 'hex');
    packet.writeDoubleBE(requestsPerSecond ?? Number.NaN, 72);
    this.#mac(packet).copy(packet, macAt);
    return packet;
  }

  /**
   * Parses a packet. Returns null for bytes that are not a packet for this node in this group. Only
   * `isGenuine` proves who the sender is.
   */
  read(bytes: Buffer): Packet | null {
    if (bytes.length !== packetBytes) return null;
    const kind = kinds.find((one) => beginnings[one].equals(bytes.subarray(0, 8)));
    if (kind === undefined || !this.#group.equals(bytes.subarray(8, 24))) return null;
    if (!this.#self.equals(bytes.subarray(40, 56))) return null;
    const rate = bytes.readDoubleBE(72);
    return {
      kind,
      from: bytes.toString('hex', 24, 40),
      number: bytes.toString('hex', 56, 72),
      requestsPerSecond: Number.isFinite(rate) && rate >= 0 ? rate : null,
    };
  }

  /** Whether a packet was made with the group's secret. */
  isGenuine(bytes: Buffer): boolean {
    return bytes.length === packetBytes && timingSafeEqual(this.#mac(bytes), bytes.subarray(macAt));
  }

  #mac(packet: Buffer): Buffer {
    return createHmac('sha256', this.#key).update(packet.subarray(0, macAt)).digest();
  }
}

function head(kind: number): Buffer {
  return Buffer.from([...Buffer.from('PTRL'), 1, kind, 0, 0]);
}
