import { expect, it } from 'vitest';
import { networkOf, RateLimit } from '../../src/http/rate-limit.js';

it('a client may do so much in a minute, and says nothing about another', () => {
  let nowMs = 5;
  const limit = new RateLimit(2, { monotonicMs: () => nowMs });
  expect([limit.count('10.0.0.1'), limit.count('10.0.0.1'), limit.count('10.0.0.1')]).toEqual([
    null,
    null,
    60,
  ]);
  nowMs += 59_000;
  expect(limit.count('10.0.0.1')).toBe(1);
  expect(limit.count('10.0.0.2')).toBeNull();
  nowMs += 1_000;
  expect(limit.count('10.0.0.1')).toBeNull();
});

it.each([
  ['192.0.2.1', '192.0.2.1'],
  ['::ffff:192.0.2.1', '::ffff:192.0.2.1'],
  ['::1', '0:0:0:0'],
  ['2001:db8::1', '2001:db8:0:0'],
  ['2001::1:2:3:4:5:6', '2001:0:1:2'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
  ['fe80::1%eth0', 'fe80:0:0:0'],
])('%s counts as %s', (ip, network) => {
  expect(networkOf(ip)).toBe(network);
});
