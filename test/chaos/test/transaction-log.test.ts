import { describe, expect, it } from 'vitest';
import { parseLog } from '../transaction-log.js';

const header = Buffer.concat([Buffer.from('ZKLG'), int(2), long(0n)]);

function int(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}

function long(value: bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64BE(value);
  return bytes;
}

function text(value: string): Buffer {
  return Buffer.concat([int(Buffer.byteLength(value)), Buffer.from(value)]);
}

const acls = Buffer.concat([int(1), int(31), text('world'), text('anyone')]);
const create = (path: string) => Buffer.concat([text(path), text('{}'), acls, Buffer.from([1]), int(3)]);
const set = (path: string) => Buffer.concat([text(path), text('new'), int(4)]);
const part = (type: number, body: Buffer) => Buffer.concat([int(type), int(body.length), body]);

function entry(zxid: bigint, type: number, body: Buffer): Buffer {
  const transaction = Buffer.concat([
    long(77n),
    int(1),
    long(zxid),
    long(1_700_000_000_000n),
    int(type),
    body,
  ]);
  return Buffer.concat([long(0n), int(transaction.length), transaction, Buffer.from('B')]);
}

describe('a transaction log', () => {
  it('shows what was created, set and deleted, by whom and when', () => {
    const log = [header, entry(5n, 1, create('/x')), entry(6n, 5, set('/x')), entry(7n, 2, text('/x'))];
    const common = { session: 77n, epochMs: 1_700_000_000_000 };
    expect(parseLog(Buffer.concat(log))).toEqual([
      { ...common, zxid: 5n, steps: [{ op: 'create', path: '/x', data: '{}', ephemeral: true }] },
      { ...common, zxid: 6n, steps: [{ op: 'set', path: '/x', data: 'new' }] },
      { ...common, zxid: 7n, steps: [{ op: 'delete', path: '/x' }] },
    ]);
  });

  it('shows the end of a session', () => {
    const [closed] = parseLog(Buffer.concat([header, entry(5n, -11, int(0))]));
    expect(closed?.steps).toEqual([{ op: 'close' }]);
  });

  it('shows all of a multi at once, and nothing of one that failed', () => {
    const parts = [part(5, set('/x')), part(13, Buffer.concat([text('/y'), int(0)])), part(2, text('/y'))];
    const done = entry(5n, 14, Buffer.concat([int(3), ...parts]));
    const failed = entry(6n, 14, Buffer.concat([int(2), part(5, set('/x')), part(-1, int(-101))]));
    expect(parseLog(Buffer.concat([header, done, failed]))).toMatchObject([
      {
        zxid: 5n,
        steps: [
          { op: 'set', path: '/x' },
          { op: 'delete', path: '/y' },
        ],
      },
    ]);
  });

  it('ends where it was written last', () => {
    const whole = entry(5n, 2, text('/x'));
    const log = Buffer.concat([header, whole, Buffer.alloc(64)]);
    expect(parseLog(log)).toHaveLength(1);
    expect(parseLog(Buffer.concat([header, whole, whole.subarray(0, 30)]))).toHaveLength(1);
    expect(parseLog(Buffer.alloc(0))).toEqual([]);
  });

  it('is refused when it is something else', () => {
    expect(() => parseLog(Buffer.alloc(64))).toThrow('not a transaction log');
  });
});
