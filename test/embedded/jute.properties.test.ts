import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { JuteReader, JuteWriter, MalformedRecord } from '../../src/embedded/jute.js';
import {
  readAcl,
  readConnectRequest,
  readMultiHeader,
  writeAcl,
  writeConnectResponse,
  writeMultiHeader,
} from '../../src/embedded/records.js';
import { holds } from '../support/properties.js';

const int = fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 });
const long = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
const bytes = fc.uint8Array({ maxLength: 40 }).map((content) => Buffer.from(content));
const text = fc.string({ unit: 'grapheme' });

/** A value, a function that writes it, and a function that reads it. */
type Part = readonly [unknown, (writer: JuteWriter) => unknown, (reader: JuteReader) => unknown];

const part: fc.Arbitrary<Part> = fc.oneof(
  int.map((value): Part => [value, (writer) => writer.int(value), (reader) => reader.int()]),
  long.map((value): Part => [value, (writer) => writer.long(value), (reader) => reader.long()]),
  fc.boolean().map((value): Part => [value, (writer) => writer.bool(value), (reader) => reader.bool()]),
  fc
    .option(bytes)
    .map((value): Part => [value, (writer) => writer.buffer(value), (reader) => reader.buffer()]),
  text.map((value): Part => [value, (writer) => writer.string(value), (reader) => reader.string()]),
  fc
    .array(text, { maxLength: 5 })
    .map(
      (values): Part => [
        values,
        (writer) => writer.vector(values, (value) => void writer.string(value)),
        (reader) => reader.vector(() => reader.string()),
      ],
    ),
);

describe('a record', () => {
  it('is read back as it was written', async () => {
    await holds(
      fc.property(fc.array(part), (parts) => {
        const writer = new JuteWriter();
        for (const [, write] of parts) write(writer);
        const reader = new JuteReader(writer.bytes());
        expect(parts.map(([, , read]) => read(reader))).toEqual(parts.map(([value]) => value));
        expect(reader.remaining).toBe(0);
      }),
    );
  });

  it('of any bytes is read to its end, or malformed', async () => {
    const readers: ((reader: JuteReader) => unknown)[] = [
      readAcl,
      readConnectRequest,
      readMultiHeader,
      (reader) => reader.string(),
      (reader) => reader.vector(() => reader.vector(() => reader.buffer())),
    ];
    await holds(
      fc.property(fc.oneof(bytes, fc.array(int).map(asInts)), fc.constantFrom(...readers), (record, read) => {
        try {
          read(new JuteReader(record));
        } catch (error) {
          expect(error).toBeInstanceOf(MalformedRecord);
        }
      }),
    );
  });

  it('of a kind of its own is read back, too', async () => {
    const acl = fc.array(fc.record({ permissions: int, identity: fc.record({ scheme: text, id: text }) }));
    const header = fc.record({ type: int, done: fc.boolean(), error: int });
    await holds(
      fc.property(acl, header, long, (entries, multi, id) => {
        expect(readAcl(new JuteReader(writeAcl(new JuteWriter(), entries).bytes()))).toEqual(entries);
        expect(readMultiHeader(new JuteReader(writeMultiHeader(new JuteWriter(), multi).bytes()))).toEqual(
          multi,
        );
        const granted = { id, password: Buffer.alloc(16, 3), timeoutMs: 7 };
        const reader = new JuteReader(writeConnectResponse(new JuteWriter(), granted, true).bytes());
        expect([reader.int(), reader.int(), reader.long(), reader.buffer(), reader.bool()]).toEqual([
          ...[0, 7, id, granted.password, false],
        ]);
      }),
    );
  });
});

function asInts(values: readonly number[]): Buffer {
  const writer = new JuteWriter();
  for (const value of values) writer.int(value);
  return writer.bytes();
}
