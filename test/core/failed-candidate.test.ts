import { expect, it } from 'vitest';
import { newElector } from '../../src/core/elector-memory.js';
import { failedCandidate } from '../../src/core/failed-candidate.js';
import { Bench } from './bench.js';
import { claim, config, decided, failure, group, instant, members, versioned } from './builders.js';

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

it('no node has failed while none is elected, whatever the elector remembers of a takeover', () => {
  const seen = { seat: 'a1-0000000000', decision: '1@0', isOrphaned: false };
  const progress = { ...seen, node: 'a1', token: 77n, owner: 7n };
  const failed = (elected: ReturnType<typeof decided>) => {
    const snapshot = group({ elected: versioned(elected), current: claim('b1') });
    const observation = { snapshot, members: members('b1'), config: config(), nowMs: 0 };
    return failedCandidate(observation, elected, { ...newElector, progress });
  };
  expect(failed(decided({ node: 'a1' }))?.reason).toBe('its claim disappeared during the takeover');
  expect(failed(decided())).toBeNull();
});

it('a node that is tried again sets no timer for the backoff that this ends', () => {
  const bench = new Bench(['a1']);
  bench.nowMs = 10_000;
  bench.clock = { epochMs: bench.epochMs, atMs: bench.nowMs };
  const failures = [failure('a1', { failedAt: instant(0), until: instant(20_000) })];
  bench.elected = versioned(decided({ term: 1, failures, previous: { node: 'a1', site: 'a' } }));
  const { choice, recheckInMs } = bench.round();
  expect(choice).toMatchObject({ node: 'a1', cause: 'retry' });
  expect(recheckInMs).toBeNull();
});
