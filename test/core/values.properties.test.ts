import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  durationInMs,
  durationMs,
  durationSchema,
  formatDuration,
  writeDuration,
} from '../../src/model/duration.js';
import { fromInstant, instantSchema, longSchema, nameSchema, toInstant } from '../../src/model/names.js';
import { groupPaths } from '../../src/model/paths.js';
import { compareSequences, parseSeatName, seatsInOrder } from '../../src/model/sequence.js';
import { checkPath } from '../../src/zookeeper/path.js';
import { anyJson, anyText, expectClear, holds, treacherousKeys } from '../support/properties.js';

const yearMs = 365 * 86_400_000;

describe('a duration', () => {
  const nearly = fc
    .tuple(
      fc.string({ unit: fc.constantFrom(...'0123456789.-+e '), maxLength: 20 }),
      fc.constantFrom('ms', 's', 'm', 'h', 'd', 'w', 'y', 'S', ' s', ''),
    )
    .map((parts) => parts.join(''));

  it('is read as whole milliseconds within its limits, or refused with what would be right', async () => {
    await holds(
      fc.property(fc.oneof(nearly, anyText), (text) => {
        const read = durationInMs({ minMs: 10 }).safeParse(text);
        if (read.success) {
          expect(Number.isInteger(read.data)).toBe(true);
          expect(read.data).toBeGreaterThanOrEqual(10);
          expect(read.data).toBeLessThanOrEqual(yearMs);
          expect(durationMs(text)).toBe(read.data);
        } else {
          expectClear(read.error.issues.map(({ message }) => message).join('; '));
        }
      }),
    );
  });

  it('is refused where it is no text, whatever it is', async () => {
    await holds(
      fc.property(fc.oneof(anyJson, fc.anything({ withBigInt: true, withDate: true })), (value) => {
        fc.pre(typeof value !== 'string');
        const read = durationSchema.safeParse(value);
        expect(read.success).toBe(false);
        expectClear(String(read.error?.issues[0]?.message));
      }),
    );
  });

  it('is written so that it reads back as it was', async () => {
    await holds(
      fc.property(fc.integer({ min: 0, max: yearMs }), (lengthMs) => {
        expect(durationMs(writeDuration(lengthMs))).toBe(lengthMs);
      }),
    );
  });

  it('is shown whatever a znode says that it took', async () => {
    await holds(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (lengthMs) => {
        expect(formatDuration(lengthMs)).toMatch(/^\d/);
      }),
    );
  });
});

describe('an instant', () => {
  it('reads back as it was written, for as long as years have four digits', async () => {
    await holds(
      fc.property(fc.integer({ min: Date.UTC(0), max: Date.UTC(9999, 11, 31) }), (epochMs) => {
        const instant = instantSchema.parse(toInstant(epochMs));
        expect(fromInstant(instant)).toBe(epochMs);
      }),
    );
  });

  it('is a point in time wherever the schema takes it', async () => {
    const digits = (length: number) =>
      fc.string({ unit: fc.constantFrom(...'0123456789'), minLength: length, maxLength: length });
    const nearly = fc
      .tuple(
        digits(4),
        digits(2),
        digits(2),
        digits(2),
        digits(2),
        digits(2),
        fc.constantFrom('', '.1', '.123456789123', '.'),
        fc.constantFrom('Z', '', '+01:00', 'z', 'Z '),
      )
      .map(([year, month, day, hour, minute, second, rest, zone]) => {
        return `${year}-${month}-${day}T${hour}:${minute}:${second}${rest}${zone}`;
      });
    const mild = fc
      .date({ min: new Date('0001-01-01'), max: new Date('9999-12-31'), noInvalidDate: true })
      .map((date) => date.toISOString());
    await holds(
      fc.property(fc.oneof(nearly, mild, anyText), (text) => {
        const read = instantSchema.safeParse(text);
        if (read.success) expect(Number.isFinite(fromInstant(read.data))).toBe(true);
        else expectClear(read.error.issues.map(({ message }) => message).join('; '));
      }),
    );
  });
});

describe('a 64-bit number in a text', () => {
  it('is a number wherever the schema takes it', async () => {
    await holds(
      fc.property(fc.oneof(fc.bigInt({ min: -(2n ** 66n), max: 2n ** 66n }).map(String), anyText), (text) => {
        const read = longSchema.safeParse(text);
        if (!read.success) return;
        expect(BigInt(read.data)).toBeGreaterThanOrEqual(-(2n ** 63n));
        expect(BigInt(read.data)).toBeLessThan(2n ** 64n);
      }),
    );
  });
});

const name = fc.stringMatching(/^[A-Za-z0-9]([A-Za-z0-9._-]{0,20}[A-Za-z0-9])?$/);

describe('a name', () => {
  it('makes a znode of its own, wherever the schema takes it', async () => {
    await holds(
      fc.property(fc.oneof(name, anyText, fc.constantFrom(...treacherousKeys)), (text) => {
        const read = nameSchema.safeParse(text);
        if (!read.success) return expectClear(read.error.issues.map(({ message }) => message).join('; '));
        const { node, seatPrefix } = groupPaths('/group');
        for (const path of [node(text), `${seatPrefix(text)}0000000000`]) {
          expect(() => checkPath(path)).not.toThrow();
          expect(path.split('/')).toHaveLength(4);
        }
      }),
    );
  });
});

describe('a seat', () => {
  const sequence = fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 });
  /** Formats a number as Java's `%010d` does. */
  const written = (value: number) =>
    value < 0 ? `-${String(-value).padStart(9, '0')}` : String(value).padStart(10, '0');

  it('is read back from the name that ZooKeeper made of it', async () => {
    await holds(
      fc.property(name, sequence, (node, value) => {
        const seat = `${node}-${written(value)}`;
        expect(parseSeatName(seat)).toEqual({ name: seat, node, sequence: value });
      }),
    );
  });

  it('is none where the name is malformed, and one that can be compared where it is not', async () => {
    const nearly = fc
      .tuple(anyText, fc.string({ unit: fc.constantFrom(...'0123456789-'), maxLength: 12 }))
      .map(([node, digits]) => `${node}-${digits}`);
    await holds(
      fc.property(fc.array(fc.oneof(nearly, anyText), { maxLength: 20 }), (names) => {
        const seats = seatsInOrder(names);
        expect(seats.length).toBeLessThanOrEqual(names.length);
        for (const seat of seats) {
          expect(names).toContain(seat.name);
          expect(Number.isInteger(seat.sequence)).toBe(true);
          expect(seat.name.startsWith(`${seat.node}-`)).toBe(true);
        }
      }),
    );
  });

  it('comes before another or after it, never both, however the counter has wrapped', async () => {
    await holds(
      fc.property(sequence, fc.integer({ min: 1, max: 2 ** 31 - 1 }), (first, later) => {
        const second = (first + later) | 0;
        expect(compareSequences(first, second)).toBeLessThan(0);
        expect(compareSequences(second, first)).toBeGreaterThan(0);
      }),
    );
  });
});
