/**
 * Computes the key of a world: a hash of the world's canonical form. Two worlds with the same key have the
 * same futures.
 *
 * Instants are relative to now. All past instants are equal, because code that reads one checks only whether
 * it has passed. Terms, tokens, versions and sessions are renumbered in order, because the core compares them
 * only with each other, never with a constant. Gaps between terms are kept up to a size of four, because the
 * core adds one to terms. The key omits everything that no decision depends on, such as texts for display and
 * the times of records.
 *
 * Not promised: two worlds with the same futures may have different keys. The explorer then explores these
 * futures twice.
 */
export const kinds = {
  plain: 0,
  term: 1,
  electedVersion: 2,
  token: 3,
  session: 4,
  /** An instant on the machines' clock, at which something ends. */
  due: 5,
  /** An instant on the ensemble's clock, at which something ends. */
  ensembleDue: 6,
  seat: 7,
  configVersion: 8,
  historyVersion: 9,
  life: 10,
  /**
   * An instant that is followed by a count. When the instant has passed, as many of the following numbers are
   * left out as the count says.
   */
  forgottenAt: 11,
  /** The highest spent token. The key records only whether a claim's token is greater. */
  spentToken: 12,
  /** A token that is only compared for equality, with a claim's token or with another token of this kind. */
  sameToken: 13,
  /** A version of `elected` that is only compared for equality with the version that was read. */
  sameElectedVersion: 14,
  /** A version of a node's registration. It is only compared for equality. */
  nodeVersion: 15,
  successorVersion: 16,
} as const;
const kindCount = Object.keys(kinds).length;
type Kind = (typeof kinds)[keyof typeof kinds];

/**
 * A part of a world. `own` has the numbers of this part, each preceded by its kind. `parts` has its
 * sub-parts.
 */
export interface Facet {
  readonly own: Int32Array;
  readonly parts: readonly Facet[];
}

const noParts: readonly Facet[] = [];
/** Free buffers for facets that are being written. Each of these facets needs a buffer. */
const buffers: number[][] = [];

export class FacetWriter {
  readonly #numbers = buffers.pop() ?? [];
  #length = 0;
  #parts: Facet[] | null = null;

  put(kind: Kind, value: number): this {
    this.#numbers[this.#length] = kind;
    this.#numbers[this.#length + 1] = value;
    this.#length += 2;
    return this;
  }

  /** Adds up to four plain numbers. A rest parameter would allocate an array for each call. */
  plain(a: number, b?: number, c?: number, d?: number): this {
    this.put(kinds.plain, a);
    if (b !== undefined) this.put(kinds.plain, b);
    if (c !== undefined) this.put(kinds.plain, c);
    if (d !== undefined) this.put(kinds.plain, d);
    return this;
  }

  /** Adds a number, or -1 if there is no value. */
  maybe(kind: Kind, value: number | bigint | null | undefined): this {
    if (value === null || value === undefined) return this.plain(-1);
    return this.put(kind, Number(value));
  }

  /** Adds a sub-part. The numbers of sub-parts come after all own numbers. */
  add(facet: Facet): this {
    if (this.#parts === null) this.#parts = [facet];
    else this.#parts.push(facet);
    return this;
  }

  /** Appends the own numbers of another facet to the own numbers of this facet. */
  append(own: Int32Array): this {
    for (const value of own) {
      this.#numbers[this.#length] = value;
      this.#length += 1;
    }
    return this;
  }

  /** Returns the facet. The writer must not be used after this call. */
  done(): Facet {
    const own = new Int32Array(this.#length);
    for (let index = 0; index < this.#length; index += 1) {
      const value = this.#numbers[index] ?? 0;
      own[index] = value;
      if (own[index] !== value) throw new RangeError(`a key cannot hold ${value}: it is no 32-bit integer`);
    }
    buffers.push(this.#numbers);
    return { own, parts: this.#parts ?? noParts };
  }
}

export function isSameFacet(a: Facet, b: Facet): boolean {
  if (a === b) return true;
  if (a.own.length !== b.own.length || a.parts.length !== b.parts.length) return false;
  if (!a.own.every((value, index) => value === b.own[index])) return false;
  return a.parts.every((part, index) => {
    const other = b.parts[index];
    return other !== undefined && isSameFacet(part, other);
  });
}

const named: readonly number[] = [kinds.session, kinds.seat, kinds.life, kinds.nodeVersion];
const longestTermGap = 4;

export interface KeyOptions {
  readonly nowMs: number;
  readonly ensembleNowMs: number;
  /**
   * Maximum time by which the ensemble's clock may still be set back. An instant that has passed may become
   * due again if it passed less than this time ago.
   */
  readonly backMs: number;
  /** Whether to keep versions and terms unchanged. This is needed if a decision's result contains them. */
  readonly exact: boolean;
  /** Whether versions and terms may start over. They are kept unchanged in this case. */
  readonly mayRestart: boolean;
}

/** Size of the buffer for a world's numbers. No world has nearly as many numbers. */
const mostNumbers = 8192;

/** Computes keys. Each thread uses the same instance for every key. */
export class Keyer {
  readonly #values = new Int32Array(mostNumbers);
  /** Positions of the numbers of each kind. */
  readonly #places = Array.from({ length: kindCount }, () => new Int32Array(mostNumbers));
  readonly #counts = new Int32Array(kindCount);
  #length = 0;
  low = 0;
  high = 0;

  /** Hashes all facets and stores the result in `low` and `high`. */
  hash(facets: readonly Facet[], options: KeyOptions): void {
    this.#length = 0;
    this.#counts.fill(0);
    for (const facet of facets) this.#append(facet, options);
    if (!options.exact) this.#renumber(options.mayRestart);
    this.#mix();
  }

  #append({ own, parts }: Facet, options: KeyOptions): void {
    const values = this.#values;
    let length = this.#length;
    if (length + own.length / 2 > mostNumbers)
      throw new RangeError(`a key of more than ${mostNumbers} numbers`);
    for (let index = 0; index < own.length; index += 2) {
      const kind = own[index] ?? 0;
      let value = own[index + 1] ?? 0;
      if (kind !== kinds.plain) {
        if (kind === kinds.due) value = Math.max(0, value - options.nowMs);
        else if (kind === kinds.ensembleDue) value = Math.max(-options.backMs, value - options.ensembleNowMs);
        else if (kind === kinds.forgottenAt) {
          const count = own[index + 3] ?? 0;
          index += 2;
          if (value <= options.nowMs) index += 2 * count;
          value = Math.max(0, value - options.nowMs);
        } else {
          const count = this.#counts[kind] ?? 0;
          const places = this.#places[kind];
          if (places !== undefined) places[count] = length;
          this.#counts[kind] = count + 1;
        }
      }
      values[length] = value;
      length += 1;
    }
    this.#length = length;
    for (const part of parts) this.#append(part, options);
  }

  #renumber(mayRestart: boolean): void {
    this.#rank(kinds.token, 1);
    this.#place(kinds.spentToken);
    this.#match(kinds.sameToken);
    if (!mayRestart) {
      this.#rank(kinds.electedVersion, 1);
      this.#match(kinds.sameElectedVersion);
      this.#rank(kinds.term, longestTermGap);
      this.#rank(kinds.configVersion, 1);
      this.#rank(kinds.historyVersion, 1);
      this.#rank(kinds.successorVersion, 1);
    }
    for (const kind of named) this.#name(kind);
  }

  readonly #seen: number[] = [];
  readonly #numbers: number[] = [];
  readonly #others: number[] = [];

  #rank(kind: number, longestGap: number): void {
    const places = this.#places[kind];
    if (places === undefined) return;
    const count = this.#counts[kind] ?? 0;
    const seen = this.#seen;
    const values = this.#values;
    seen.length = 0;
    for (let index = 0; index < count; index += 1) {
      const value = values[places[index] ?? 0] ?? 0;
      let at = seen.length;
      while (at > 0 && (seen[at - 1] ?? 0) > value) at -= 1;
      if (seen[at - 1] === value) continue;
      seen.push(0);
      seen.copyWithin(at + 1, at);
      seen[at] = value;
    }
    let number = 0;
    const numbers = this.#numbers;
    for (let at = 0; at < seen.length; at += 1) {
      number += at === 0 ? 0 : Math.min(longestGap, (seen[at] ?? 0) - (seen[at - 1] ?? 0));
      numbers[at] = number;
    }
    for (let index = 0; index < count; index += 1) {
      const place = places[index] ?? 0;
      values[place] = numbers[seen.indexOf(values[place] ?? 0)] ?? 0;
    }
  }

  /**
   * Replaces each number by its rank, which is the count of numbers in the last ranking that are not greater.
   */
  #place(kind: Kind): void {
    const places = this.#places[kind];
    if (places === undefined) return;
    const count = this.#counts[kind] ?? 0;
    for (let index = 0; index < count; index += 1) {
      const place = places[index] ?? 0;
      const value = this.#values[place] ?? 0;
      let below = 0;
      while (below < this.#seen.length && (this.#seen[below] ?? 0) <= value) below += 1;
      this.#values[place] = below;
    }
  }

  /**
   * Renames each number so that the key shows only which numbers are equal. A number is compared with the
   * numbers of the last ranking, and with those of its own kind.
   */
  #match(kind: Kind): void {
    const places = this.#places[kind];
    if (places === undefined) return;
    const count = this.#counts[kind] ?? 0;
    const others = this.#others;
    others.length = 0;
    for (let index = 0; index < count; index += 1) {
      const place = places[index] ?? 0;
      const value = this.#values[place] ?? 0;
      const at = this.#seen.indexOf(value);
      if (at !== -1) {
        this.#values[place] = this.#numbers[at] ?? 0;
        continue;
      }
      let name = others.indexOf(value);
      if (name === -1) name = others.push(value) - 1;
      this.#values[place] = -2 - name;
    }
  }

  #name(kind: number): void {
    const places = this.#places[kind];
    if (places === undefined) return;
    const count = this.#counts[kind] ?? 0;
    const seen = this.#seen;
    seen.length = 0;
    for (let index = 0; index < count; index += 1) {
      const place = places[index] ?? 0;
      const value = this.#values[place] ?? 0;
      let at = seen.indexOf(value);
      if (at === -1) at = seen.push(value) - 1;
      this.#values[place] = at;
    }
  }

  #mix(): void {
    let a = 0x9e3779b9 ^ this.#length;
    let b = 0x85ebca6b ^ this.#length;
    for (let index = 0; index < this.#length; index += 1) {
      const value = this.#values[index] ?? 0;
      a = Math.imul(a ^ value, 0xcc9e2d51);
      a = (a << 15) | (a >>> 17);
      a = (a + Math.imul(value, 0x1b873593)) | 0;
      b = Math.imul(b ^ (value + 0x7f4a7c15), 0x2c1b3c6d);
      b = (b << 13) | (b >>> 19);
      b = (Math.imul(b, 5) + 0xe6546b64) | 0;
    }
    this.low = finish(a);
    this.high = finish(b ^ a);
  }
}

function finish(hash: number): number {
  let h = hash ^ (hash >>> 16);
  h = Math.imul(h, 0x85ebca6b);
  h ^= h >>> 13;
  h = Math.imul(h, 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}

const numbersOfTexts = new Map<string, number>();

/** Returns a small number for a text. The number is always the same for the same text. */
export function numberOf(text: string): number {
  const known = numbersOfTexts.get(text);
  if (known !== undefined) return known;
  numbersOfTexts.set(text, numbersOfTexts.size);
  return numbersOfTexts.size - 1;
}
