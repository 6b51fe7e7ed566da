import { fstatSync, openSync, writeSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import { SharedLease } from '../../src/guardian/shared-lease.js';

const numberBytes = Float64Array.BYTES_PER_ELEMENT;
const leases = [1, 2, 3].map((n) => ({ leadership: 1, releaseAtMs: 1_000 * n, endsAtMs: 1_500 * n }));
const [first = null, second = null, third = null] = leases;

const sharedLeases: SharedLease[] = [];
afterEach(() => {
  for (const sharedLease of sharedLeases.splice(0)) sharedLease.close();
});

function newSharedLease(): SharedLease {
  const sharedLease = SharedLease.create();
  if (sharedLease === null) throw new Error('no memory to be shared');
  sharedLeases.push(sharedLease);
  return sharedLease;
}

/**
 * Simulates an unfinished write: the first numbers of the next record overwrite those of the record that it
 * replaces.
 */
function tear(
  sharedLease: SharedLease,
  lease: { leadership: number; releaseAtMs: number; endsAtMs: number },
  written: number,
  n: number,
) {
  const { leadership, releaseAtMs, endsAtMs } = lease;
  const record = Float64Array.of(written, leadership, releaseAtMs, endsAtMs);
  writeSync(sharedLease.fd, record, 0, n * numberBytes, (written % 2) * 5 * numberBytes);
}

describe('the shared lease', () => {
  it('holds the newest lease', () => {
    const sharedLease = newSharedLease();
    expect(sharedLease.read()).toBeNull();
    for (const lease of leases) {
      expect(sharedLease.write(lease)).toBe(true);
      expect(sharedLease.read()).toEqual(lease);
    }
    expect(fstatSync(sharedLease.fd).nlink).toBe(0);
  });

  it.each([1, 2, 3, 4])(
    'of a lease that is being written, with %i of its numbers there, knows the one before',
    (n) => {
      const sharedLease = newSharedLease();
      if (first === null || second === null || third === null) throw new Error('three leases');
      tear(sharedLease, first, 1, n);
      expect(sharedLease.read()).toBeNull();
      sharedLease.write(first);
      sharedLease.write(second);
      tear(sharedLease, third, 3, n);
      expect(sharedLease.read()).toEqual(second);
    },
  );

  it('holds the newest lease of each group', () => {
    const sharedLease = newSharedLease();
    if (first === null || second === null || third === null) throw new Error('three leases');
    sharedLease.write(first, 0);
    sharedLease.write(second, 1);
    sharedLease.write(third, 2);
    sharedLease.write(first, 1);
    expect([0, 1, 2, 3].map((group) => sharedLease.read(group))).toEqual([first, first, third, null]);
  });

  it('knows the newest lease of each group after it was closed', () => {
    const sharedLease = newSharedLease();
    if (first === null || second === null) throw new Error('three leases');
    sharedLease.write(first, 0);
    sharedLease.write(second, 1);
    const { fd } = sharedLease;
    sharedLease.close();
    sharedLease.close();
    expect(() => fstatSync(fd)).toThrow('EBADF');
    expect([0, 1, 2].map((group) => sharedLease.read(group))).toEqual([first, second, null]);
  });

  it('says that a lease could not be written for lack of memory', () => {
    const full = new SharedLease(openSync('/dev/full', 'r+'));
    sharedLeases.push(full);
    expect(first !== null && full.write(first)).toBe(false);
  });
});
