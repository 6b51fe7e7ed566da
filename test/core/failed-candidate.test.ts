import { expect, it } from 'vitest';
import { Bench } from './bench.js';
import { instant } from './builders.js';

it('the failure of a candidate whose session has ended names no incarnation', () => {
  const bench = new Bench(['a1', 'b1'], { sites: { a: { priority: 200 } } });
  bench.settle();
  bench.claim();
  bench.settle();
  bench.crash('a1');
  bench.settle();
  expect(bench.node).toBe('b1');
  expect(bench.elected.value?.failures).toEqual([
    {
      node: 'a1',
      incarnation: 'unknown',
      count: 1,
      reason: 'its claim disappeared during the takeover',
      failedAt: instant(0),
      until: instant(10_000),
      restarted: false,
    },
  ]);
});
