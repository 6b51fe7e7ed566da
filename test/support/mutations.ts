/** Almost valid bytes: a part of valid bytes is changed, cut, added or duplicated. */
import fc from 'fast-check';

export type Mutation = (bytes: Buffer) => Buffer;

/** Numbers that a length or a count should never be, mixed with some that are valid. */
const absurd = [
  -1,
  -2,
  -4,
  -8,
  -13,
  -17,
  -(2 ** 31),
  0,
  1,
  2,
  4,
  255,
  65_536,
  0xfffff,
  0x100000,
  2 ** 30,
  2 ** 31 - 1,
];

/** A position in the bytes, as a fraction of their length. */
const place = fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true });
const at = (bytes: Buffer, share: number, width = 1) =>
  Math.floor(share * Math.max(1, bytes.length - width + 1));

const change: fc.Arbitrary<Mutation> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.tuple(place, fc.constantFrom(...absurd)).map(([share, value]) => (bytes: Buffer) => {
      const copy = Buffer.from(bytes);
      if (copy.length >= 4) copy.writeInt32BE(value, at(copy, share, 4));
      return copy;
    }),
  },
  fc.tuple(place, fc.integer({ min: 0, max: 255 })).map(([share, value]) => (bytes: Buffer) => {
    const copy = Buffer.from(bytes);
    if (copy.length > 0) copy[at(copy, share)] = value;
    return copy;
  }),
  place.map((share) => (bytes: Buffer) => bytes.subarray(0, at(bytes, share))),
  fc
    .tuple(place, fc.uint8Array({ minLength: 1, maxLength: 40 }))
    .map(([share, malformed]) => (bytes: Buffer) => {
      const from = at(bytes, share);
      return Buffer.concat([bytes.subarray(0, from), malformed, bytes.subarray(from)]);
    }),
  fc.tuple(place, place).map(([share, length]) => (bytes: Buffer) => {
    const from = at(bytes, share);
    const to = from + Math.ceil(length * (bytes.length - from));
    return Buffer.concat([bytes.subarray(0, from), bytes.subarray(to)]);
  }),
  fc.constant((bytes: Buffer) => Buffer.concat([bytes, bytes])),
  fc.uint8Array({ maxLength: 60 }).map((malformed) => () => Buffer.from(malformed)),
);

/** One to three changes, applied one after the other. */
export const mutation: fc.Arbitrary<Mutation> = fc
  .array(change, { minLength: 1, maxLength: 3 })
  .map((changes) => (bytes) => changes.reduce((before, apply) => apply(before), bytes));

/** Fractions of the length at which to cut bytes into pieces. */
export const cuts = fc.array(place, { maxLength: 5 });

export function pieces(bytes: Buffer, shares: readonly number[]): Buffer[] {
  const ends = [...shares.map((share) => at(bytes, share)), bytes.length].toSorted((a, b) => a - b);
  return ends.map((end, index) => bytes.subarray(index === 0 ? 0 : ends[index - 1], end));
}
