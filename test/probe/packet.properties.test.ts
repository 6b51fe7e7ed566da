/** The bytes that a node accepts as a packet, and those that it rejects. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { newNumber, PacketCoder, packetBytes, tagOf } from '../../src/probe/packet.js';
import { holds } from '../support/properties.js';

const root = '/billing';
const secret = 'a secret of the whole group';
const a = new PacketCoder({ node: 'a', root, secret });
const b = new PacketCoder({ node: 'b', root, secret });

const rates = fc.option(fc.double({ min: 0, max: 1e9, noNaN: true }));
const kinds = fc.constantFrom('question' as const, 'answer' as const, 'late' as const);

describe('a packet', () => {
  it('is read as it was written', async () => {
    await holds(
      fc.property(kinds, rates, (kind, requestsPerSecond) => {
        const number = newNumber();
        const bytes = a.write(kind, tagOf('b'), number, requestsPerSecond);
        expect(bytes).toHaveLength(packetBytes);
        expect(b.read(bytes)).toEqual({ kind, from: tagOf('a'), number, requestsPerSecond });
        expect(b.isGenuine(bytes)).toBe(true);
      }),
    );
  });

  it('is genuine no longer when one bit of it is another', async () => {
    const bits = fc.integer({ min: 0, max: 8 * packetBytes - 1 });
    await holds(
      fc.property(kinds, bits, (kind, bit) => {
        const bytes = a.write(kind, tagOf('b'), newNumber(), 7);
        bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) ^ (1 << (bit & 7));
        expect(b.isGenuine(bytes)).toBe(false);
      }),
    );
  });

  it('is none when it is anything else, and nothing throws', async () => {
    const malformed = fc.oneof(
      fc.uint8Array({ maxLength: 2 * packetBytes }),
      fc.uint8Array({ minLength: packetBytes, maxLength: packetBytes }),
      fc.uint8Array({ maxLength: packetBytes - 1 }).map((end) => {
        const bytes = a.write('question', tagOf('b'), newNumber(), null);
        bytes.set(end, packetBytes - end.length);
        return bytes;
      }),
      fc.integer({ min: 0, max: packetBytes - 1 }).map((length) => {
        return a.write('answer', tagOf('b'), newNumber(), 1).subarray(0, length);
      }),
    );
    await holds(
      fc.property(malformed, (bytes) => {
        const buffer = Buffer.from(bytes);
        const packet = b.read(buffer);
        if (packet?.requestsPerSecond != null) {
          expect(Number.isFinite(packet.requestsPerSecond)).toBe(true);
          expect(packet.requestsPerSecond).toBeGreaterThanOrEqual(0);
        }
        if (b.isGenuine(buffer)) expect(packet).not.toBeNull();
      }),
    );
  });

  it('is not for a node that sent it, for a third one, or for another group', () => {
    const bytes = a.write('question', tagOf('b'), newNumber(), null);
    expect(a.read(bytes)).toBeNull();
    expect(new PacketCoder({ node: 'c', root, secret }).read(bytes)).toBeNull();
    expect(new PacketCoder({ node: 'b', root: '/other', secret }).read(bytes)).toBeNull();
  });

  it('is not genuine with another secret, with none, or under another root', () => {
    const bytes = a.write('answer', tagOf('b'), newNumber(), null);
    for (const other of [
      { node: 'b', root, secret: 'a secret of another group' },
      { node: 'b', root, secret: null },
      { node: 'b', root: '/other', secret },
    ]) {
      expect(new PacketCoder(other).isGenuine(bytes)).toBe(false);
    }
  });

  it('holds no rate that is none', () => {
    for (const rate of [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, -1]) {
      const bytes = a.write('answer', tagOf('b'), newNumber(), rate);
      expect(b.read(bytes)?.requestsPerSecond).toBeNull();
    }
  });
});
