import { describe, expect, it } from 'vitest';
import { compareSequences, parseSeatName, seatsInOrder } from '../../src/model/sequence.js';

/** Formats a sequence number as ZooKeeper does: `%010d` of a signed 32-bit number. */
function written(sequence: number): string {
  const digits = String(Math.abs(sequence));
  return sequence < 0 ? `-${digits.padStart(9, '0')}` : digits.padStart(10, '0');
}

/** Returns the sequence number `steps` after `start`, for a counter of 32 bits. */
function later(start: number, steps: number): number {
  return Number(BigInt.asIntN(32, BigInt(start) + BigInt(steps)));
}

const starts = [
  0,
  1,
  9,
  2 ** 31 - 3,
  2 ** 31 - 2,
  2 ** 31 - 1,
  -(2 ** 31),
  -(2 ** 31) + 1,
  -3,
  -1,
  123_456_789,
];

describe('sequences', () => {
  it('P24 a later one comes after an earlier one, wherever the counter wraps', () => {
    for (const start of starts) {
      for (const steps of [1, 2, 4, 1000, 2 ** 30, 2 ** 31 - 1]) {
        expect(compareSequences(start, later(start, steps)), `${start} + ${steps}`).toBeLessThan(0);
        expect(compareSequences(later(start, steps), start), `${start} + ${steps}`).toBeGreaterThan(0);
      }
      expect(compareSequences(start, start)).toBe(0);
    }
  });

  it('P24 five nodes that join across the wrap sit in the order of joining, and later ones change no elector', () => {
    for (const start of starts) {
      const joined = Array.from({ length: 8 }, (_, steps) => `n${8 - steps}-${written(later(start, steps))}`);
      for (let present = 1; present <= joined.length; present += 1) {
        const seats = joined.slice(0, present);
        const shuffled = [
          ...seats.filter((_, index) => index % 2 === 1),
          ...seats.filter((_, index) => index % 2 === 0),
        ];
        expect(seatsInOrder(shuffled).map(({ name }) => name)).toEqual(seats);
      }
    }
  });
});

describe('a seat', () => {
  const nodes = ['a', 'n1', 'db-1', 'db-0000000001', 'a.b_c-9', 'n-123456789'];

  it('names its node and its sequence, whatever hyphens and digits the node id has', () => {
    for (const node of nodes) {
      for (const sequence of starts) {
        const name = `${node}-${written(sequence)}`;
        expect(parseSeatName(name)).toEqual({ name, node, sequence });
      }
    }
  });

  it.each([
    ['no sequence', 'a1'],
    ['no node', '-0000000001'],
    ['too few digits', 'a1-000001'],
    ['nine digits without a sign', 'a1-000000001'],
    ['too many digits', 'a1-00000000001'],
    ['more than 32 bits', 'a1-9999999999'],
    ['a stray znode', 'lock'],
  ])('is not taken from a name with %s', (_, name) => {
    expect(parseSeatName(name)).toBeNull();
    expect(seatsInOrder(['a1-0000000002', name]).map((seat) => seat.name)).toEqual(['a1-0000000002']);
  });
});
