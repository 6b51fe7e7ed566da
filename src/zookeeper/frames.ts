/**
 * Cuts a ZooKeeper byte stream into frames. A frame consists of a four-byte length, followed by that many
 * bytes of content. Each socket needs its own reader.
 */

/**
 * Largest frame to accept. Servers send little more than their own size limit. This value allows for servers
 * whose limit was raised on purpose.
 */
const usualLimitBytes = 64 * 1024 * 1024;
const lengthBytes = 4;

export class FrameReader {
  readonly #maxFrameBytes: number;
  #chunks: Buffer[] = [];
  #bytes = 0;

  constructor(maxFrameBytes = usualLimitBytes) {
    this.#maxFrameBytes = maxFrameBytes;
  }

  /**
   * Returns the contents of all frames that `chunk` completes. @throws Error if a length is invalid. In that
   * case, the stream is out of sync and must be closed.
   */
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

  /** Returns the next frame, or undefined if the frame is incomplete. Throws the same errors as `push`. */
  next(): Buffer | undefined {
    const size = this.#frameSize();
    return size === undefined ? undefined : this.#take(lengthBytes + size).subarray(lengthBytes);
  }

  /**
   * Merges small chunks into larger ones as they arrive. A frame that arrives in many pieces therefore needs
   * neither many objects nor repeated copying.
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

  /** Returns the size of the next frame, or undefined if the frame has not arrived completely. */
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
