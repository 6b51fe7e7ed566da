import { fstatSync, writeSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import { Slate } from '../../src/guardian/slate.js';

const numberBytes = Float64Array.BYTES_PER_ELEMENT;
const leases = [1, 2, 3].map((n) => ({ tenure: 1, releaseAtMs: 1_000 * n, endsAtMs: 1_500 * n }));
const [first = null, second = null, third = null] = leases;

const slates: Slate[] = [];
afterEach(() => {
  for (const slate of slates.splice(0)) slate.close();
});

function newSlate(): Slate {
  const slate = Slate.create();
  if (slate === null) throw new Error('no memory to be shared');
  slates.push(slate);
  return slate;
}

/** As far as a write has come that is under way: the first numbers of the next record, over the one it takes the place of. */
function tear(
  slate: Slate,
  lease: { tenure: number; releaseAtMs: number; endsAtMs: number },
  written: number,
  n: number,
) {
  const { tenure, releaseAtMs, endsAtMs } = lease;
  const record = Float64Array.of(written, tenure, releaseAtMs, endsAtMs);
  writeSync(slate.fd, record, 0, n * numberBytes, (written % 2) * 5 * numberBytes);
}

describe('the slate', () => {
  it('holds the newest lease', () => {
    const slate = newSlate();
    expect(slate.read()).toBeNull();
    for (const lease of leases) {
      slate.write(lease);
      expect(slate.read()).toEqual(lease);
    }
    expect(fstatSync(slate.fd).nlink).toBe(0);
  });

  it.each([1, 2, 3, 4])(
    'of a lease that is being written, with %i of its numbers there, knows the one before',
    (n) => {
      const slate = newSlate();
      if (first === null || second === null || third === null) throw new Error('three leases');
      tear(slate, first, 1, n);
      expect(slate.read()).toBeNull();
      slate.write(first);
      slate.write(second);
      tear(slate, third, 3, n);
      expect(slate.read()).toEqual(second);
    },
  );
});
