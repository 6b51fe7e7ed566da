/**
 * Cuts a ZooKeeper byte stream into its frames: four bytes of length, then as many bytes. One reader a
 * socket.
 */

/** No server sends more than its own limit and a little; this leaves room for one raised on purpose. */
const usualLimitBytes = 64 * 1024 * 1024;
const lengthBytes = 4;

export class FrameReader {
  readonly #maxFrameBytes: number;
  #chunks: Buffer[] = [];
  #bytes = 0;

  constructor(maxFrameBytes = usualLimitBytes) {
    this.#maxFrameBytes = maxFrameBytes;
  }

  /** The frames that `chunk` completes, without their lengths.
   * @throws Error when a length cannot be one: the stream has lost its step and must be given up. */
  push(chunk: Buffer): Buffer[] {
    this.add(chunk);
    const frames: Buffer[] = [];
    for (let frame = this.next(); frame; frame = this.next()) frames.push(frame);
    return frames;
  }

  add(chunk: Buffer): void {
    this.#bytes += chunk.length;
    this.#join(chunk);
  }

  /** The next frame, when it is here in full. Throws like `push`. */
  next(): Buffer | undefined {
    const size = this.#frameSize();
    return size === undefined ? undefined : this.#take(lengthBytes + size).subarray(lengthBytes);
  }

  /**
   * Chunks are joined to larger ones as they come, so that a frame in many pieces is neither many objects nor
   * copied again and again.
   */
  #join(chunk: Buffer): void {
    let last = chunk;
    for (
      let before = this.#chunks.at(-1);
      before && before.length <= last.length;
      before = this.#chunks.at(-1)
    ) {
      this.#chunks.pop();
      last = Buffer.concat([before, last]);
    }
    this.#chunks.push(last);
  }

  /** Size of the next frame, when it is here in full. */
  #frameSize(): number | undefined {
    if (this.#bytes < lengthBytes) return undefined;
    if ((this.#chunks[0]?.length ?? 0) < lengthBytes) this.#joinAll();
    const size = this.#chunks[0]?.readInt32BE(0) ?? 0;
    if (size < 0 || size > this.#maxFrameBytes) {
      throw new Error(`a frame with a length of ${size} bytes, expected 0 to ${this.#maxFrameBytes}`);
    }
    return this.#bytes < lengthBytes + size ? undefined : size;
  }

  #take(bytes: number): Buffer {
    const whole = this.#joinAll();
    this.#chunks = bytes === whole.length ? [] : [whole.subarray(bytes)];
    this.#bytes = whole.length - bytes;
    return whole.subarray(0, bytes);
  }

  #joinAll(): Buffer {
    const [first] = this.#chunks;
    const whole = this.#chunks.length === 1 && first ? first : Buffer.concat(this.#chunks);
    this.#chunks = [whole];
    return whole;
  }
}
