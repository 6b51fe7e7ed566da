/** Cuts a ZooKeeper byte stream into its frames: four bytes of length, then as many bytes. One reader a socket. */

/** No server sends more than its own limit and a little; this leaves room for one raised on purpose. */
const maxFrameBytes = 64 * 1024 * 1024;
const lengthBytes = 4;

export class FrameReader {
  #chunks: Buffer[] = [];
  #bytes = 0;

  /** The frames that `chunk` completes, without their lengths.
   * @throws Error when a length cannot be one: the stream has lost its step and must be given up. */
  push(chunk: Buffer): Buffer[] {
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    const frames: Buffer[] = [];
    for (let size = this.#frameSize(); size !== undefined; size = this.#frameSize()) {
      frames.push(this.#take(lengthBytes + size).subarray(lengthBytes));
    }
    return frames;
  }

  /** Size of the next frame, when it is here in full. */
  #frameSize(): number | undefined {
    if (this.#bytes < lengthBytes) return undefined;
    if ((this.#chunks[0]?.length ?? 0) < lengthBytes) this.#join();
    const size = this.#chunks[0]?.readInt32BE(0) ?? 0;
    if (size < 0 || size > maxFrameBytes) {
      throw new Error(`a frame says that it is ${size} bytes long; 0 to ${maxFrameBytes} would be right`);
    }
    return this.#bytes < lengthBytes + size ? undefined : size;
  }

  #take(bytes: number): Buffer {
    const whole = this.#join();
    this.#chunks = bytes === whole.length ? [] : [whole.subarray(bytes)];
    this.#bytes = whole.length - bytes;
    return whole.subarray(0, bytes);
  }

  #join(): Buffer {
    const [first] = this.#chunks;
    const whole = this.#chunks.length === 1 && first ? first : Buffer.concat(this.#chunks);
    this.#chunks = [whole];
    return whole;
  }
}
