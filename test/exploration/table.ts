/** Growing tables of numbers, for millions of states. */

/** A list of 32-bit numbers. */
export class Numbers {
  #values = new Uint32Array(1024);
  length = 0;

  push(value: number): void {
    if (this.length === this.#values.length) {
      const grown = new Uint32Array(this.length * 2);
      grown.set(this.#values);
      this.#values = grown;
    }
    this.#values[this.length] = value;
    this.length += 1;
  }

  at(index: number): number {
    return this.#values[index] ?? 0;
  }

  set(index: number, value: number): void {
    this.#values[index] = value;
  }
}

/**
 * Numbers 64-bit hashes in insertion order. If two of n states have the same hash by chance, the explorer
 * wrongly treats one of them as explored. The probability of that is about n² / 2⁶⁵, which is one in two
 * million for four million states.
 */
export class HashTable {
  #low = new Uint32Array(1 << 12);
  #high = new Uint32Array(1 << 12);
  #ids = new Int32Array(1 << 12).fill(-1);
  size = 0;

  /** Returns the number of a hash. Adds the hash if it is new. */
  idOf(low: number, high: number): number {
    if (this.size * 2 > this.#ids.length) this.#grow();
    const mask = this.#ids.length - 1;
    let place = low & mask;
    for (;;) {
      const id = this.#ids[place] ?? -1;
      if (id === -1) {
        this.#low[place] = low;
        this.#high[place] = high;
        this.#ids[place] = this.size;
        this.size += 1;
        return this.size - 1;
      }
      if (this.#low[place] === low && this.#high[place] === high) return id;
      place = (place + 1) & mask;
    }
  }

  #grow(): void {
    const [lows, highs, ids] = [this.#low, this.#high, this.#ids];
    const length = ids.length * 2;
    this.#low = new Uint32Array(length);
    this.#high = new Uint32Array(length);
    this.#ids = new Int32Array(length).fill(-1);
    const mask = length - 1;
    for (let from = 0; from < ids.length; from += 1) {
      const id = ids[from] ?? -1;
      if (id === -1) continue;
      const low = lows[from] ?? 0;
      let place = low & mask;
      while ((this.#ids[place] ?? -1) !== -1) place = (place + 1) & mask;
      this.#low[place] = low;
      this.#high[place] = highs[from] ?? 0;
      this.#ids[place] = id;
    }
  }
}
