/**
 * Decodes records that servers send. The client library's decoder trusts every length that it reads, so a few
 * bytes can make it allocate gigabytes or loop forever. This decoder measures each record first, and decodes
 * the record only if it fits into the frame.
 */
import jute from 'node-zookeeper-client/lib/jute/index.js';

const { OP_CODES: op, protocol } = jute;
/** These empty records are used only for their specifications. */
const stat = new jute.data.Stat();
const created = new protocol.CreateResponse();
const changed = new protocol.SetDataResponse();
const failed = new protocol.ErrorResponse();

const intBytes = 4;
const longBytes = 8;
/** The latest time that a Date can represent, in milliseconds since the epoch. */
const farthestMs = 8_640_000_000_000_000n;

/**
 * Fills in `record` from the frame, and returns the offset after the record. Throws an Error that says what
 * does not fit.
 */
export function decode(record: jute.Record, frame: Buffer, offset: number): number {
  const measure = new Measure(frame, offset);
  if (record instanceof jute.TransactionResponse) measure.results();
  else measure.record(record);
  record.deserialize(frame, offset);
  return measure.offset;
}

class Measure {
  offset: number;
  readonly #frame: Buffer;

  constructor(frame: Buffer, offset: number) {
    this.#frame = frame;
    this.offset = offset;
  }

  record({ specification }: jute.Record): void {
    for (const { name, type } of specification) this.#attribute(name, type);
  }

  /**
   * Measures the results of a multi. Each result is preceded by a header, which contains a type, an end
   * marker and an error.
   */
  results(): void {
    for (;;) {
      const type = this.#int();
      this.#skip(1 + intBytes);
      if (this.#frame[this.offset - intBytes - 1] === 1) return;
      const result = resultOf(type);
      if (result !== null) this.record(result);
    }
  }

  #attribute(name: string, type: string): void {
    if (type === 'int') this.#skip(intBytes);
    else if (name === 'ctime' || name === 'mtime') this.#time();
    else if (type === 'long') this.#skip(longBytes);
    else if (type === 'data.Stat') this.record(stat);
    else if (type === 'buffer') this.#skip(Math.max(0, this.#length()));
    else if (type === 'ustring') this.#text();
    else if (type === 'vector<ustring>') this.#texts();
    else if (type === 'vector<data.ACL>') this.#acl();
    else throw new Error(`a value of type ${type}, which no response contains`);
  }

  #skip(bytes: number): void {
    const left = this.#frame.length - this.offset;
    if (bytes > left) {
      throw new Error(
        `expected ${bytes} more bytes, but the frame of ${this.#frame.length} bytes has only ${left} left`,
      );
    }
    this.offset += bytes;
  }

  #int(): number {
    this.#skip(intBytes);
    return this.#frame.readInt32BE(this.offset - intBytes);
  }

  /** Reads a length. A length of -1 means that the value is missing. */
  #length(): number {
    const length = this.#int();
    if (length < -1) throw new Error(`an invalid length of ${length}`);
    return length;
  }

  /** Measures a string. Strings are never missing from a reply. */
  #text(): void {
    const length = this.#length();
    if (length === -1) throw new Error('a string is missing');
    this.#skip(length);
  }

  #texts(): void {
    const count = this.#length();
    const left = this.#frame.length - this.offset;
    if (count * intBytes > left) throw new Error(`a list of ${count} strings in ${left} bytes`);
    for (let index = 0; index < count; index++) this.#text();
  }

  /** Measures an ACL. Each entry consists of permissions, a scheme and an id. */
  #acl(): void {
    const count = this.#length();
    if (count === -1) throw new Error('an ACL is missing');
    const left = this.#frame.length - this.offset;
    if (count * 3 * intBytes > left) throw new Error(`an ACL of ${count} entries in ${left} bytes`);
    for (let index = 0; index < count; index++) {
      this.#skip(intBytes);
      this.#text();
      this.#text();
    }
  }

  #time(): void {
    this.#skip(longBytes);
    const epochMs = this.#frame.readBigInt64BE(this.offset - longBytes);
    if (epochMs > farthestMs || epochMs < -farthestMs) throw new Error(`an invalid time of ${epochMs} ms`);
  }
}

/** Returns an empty record for a result of this type in a multi, or null if such a result has no content. */
function resultOf(type: number): jute.Record | null {
  if (type === op.CREATE) return created;
  if (type === op.SET_DATA) return changed;
  if (type === op.ERROR) return failed;
  if (type === op.DELETE || type === op.CHECK) return null;
  throw new Error(`a result of unknown type ${type}`);
}
