/**
 * Jute, ZooKeeper's serialization format: big-endian numbers, length-prefixed bytes and strings, and counted
 * vectors.
 */

/** Error for a record that ends too early or contains impossible lengths. */
export class MalformedRecord extends Error {
  override readonly name = 'MalformedRecord';
}

export class JuteReader {
  readonly #bytes: Buffer;
  #offset = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get remaining(): number {
    return this.#bytes.length - this.#offset;
  }

  /** Returns another reader for the remaining bytes. */
  fork(): JuteReader {
    return new JuteReader(this.#bytes.subarray(this.#offset));
  }

  int(): number {
    return this.#take(4).readInt32BE();
  }

  long(): bigint {
    return this.#take(8).readBigInt64BE();
  }

  bool(): boolean {
    return this.#take(1).readUInt8() !== 0;
  }

  buffer(): Buffer | null {
    const length = this.int();
    if (length === -1) return null;
    // Copy the bytes, so that keeping the value does not keep the whole packet in memory.
    return Buffer.from(this.#take(length));
  }

  string(): string {
    const bytes = this.buffer();
    if (bytes === null) throw new MalformedRecord('a string is missing');
    return bytes.toString('utf8');
  }

  vector<T>(readElement: () => T): T[] {
    const count = this.int();
    if (count > this.remaining) throw new MalformedRecord(`a vector of ${count} in ${this.remaining} bytes`);
    const elements: T[] = [];
    while (elements.length < count) elements.push(readElement());
    return elements;
  }

  #take(length: number): Buffer {
    if (length < 0 || length > this.remaining) {
      throw new MalformedRecord(`${length} bytes wanted, ${this.remaining} left`);
    }
    this.#offset += length;
    return this.#bytes.subarray(this.#offset - length, this.#offset);
  }
}

export class JuteWriter {
  readonly #parts: Buffer[] = [];

  int(value: number): this {
    const part = Buffer.alloc(4);
    part.writeInt32BE(value);
    return this.#add(part);
  }

  long(value: bigint): this {
    const part = Buffer.alloc(8);
    part.writeBigInt64BE(value);
    return this.#add(part);
  }

  bool(value: boolean): this {
    return this.#add(Buffer.from([value ? 1 : 0]));
  }

  buffer(value: Buffer | null): this {
    if (value === null) return this.int(-1);
    return this.int(value.length).#add(value);
  }

  string(value: string): this {
    return this.buffer(Buffer.from(value, 'utf8'));
  }

  vector<T>(elements: readonly T[], writeElement: (element: T) => void): this {
    this.int(elements.length);
    elements.forEach(writeElement);
    return this;
  }

  /** Appends bytes that are already serialized. */
  raw(records: Buffer): this {
    return this.#add(records);
  }

  bytes(): Buffer {
    return Buffer.concat(this.#parts);
  }

  /** Returns the record as a packet, preceded by its length. */
  packet(): Buffer {
    const body = this.bytes();
    return new JuteWriter().buffer(body).bytes();
  }

  #add(part: Buffer): this {
    this.#parts.push(part);
    return this;
  }
}
