/** The information for operators about delays that only the elector can time. */

import { describe, expect, it } from 'vitest';
import { isPutOff, judge } from '../../src/group/judge.js';
import type { GroupView } from '../../src/group/view.js';
import { groupPaths } from '../../src/model/paths.js';
import { builtInRules } from '../../strategies/index.js';
import { Bench } from '../core/bench.js';

function viewOf(bench: Bench): GroupView {
  const rest = { rules: builtInRules, seats: [], problems: [], newestChangeMs: 0 };
  return { ...bench.snapshot, ...rest, members: bench.members, paths: groupPaths('/group') };
}

function compared(settings: ConstructorParameters<typeof Bench>[1] = {}): Bench {
  const bench = new Bench(['a1', 'b1'], { strategy: 'request', ...settings });
  bench.measure('a1', { requests: 100 });
  bench.lead();
  bench.measure('b1', { requests: 300 });
  return bench;
}

describe('a node that measures better', () => {
  it.each([
    ['auto', '1m', '1m'],
    ['auto', '90s', '90s'],
    ['after:10m', '1m', '10m'],
    ['after:10s', '1m', '1m'],
  ])('with failback %s and a hold of %s leads once it has been better for %s', (failback, hold, length) => {
    const bench = compared({ failback, stabilization: { window: hold } });
    const choice = judge(viewOf(bench), bench.epochMs);
    expect(choice).toMatchObject({ node: 'b1', changes: true, cause: 'preference' });
    expect(choice.reason).toBe(
      'better than a1: requests = 300; ' +
        `only after it has ranked higher for ${length} without interruption, as measured by the elector`,
    );
    expect(isPutOff(choice, bench.lastConfig, builtInRules)).toBe(true);
  });

  it('does not lead where failback is manual', () => {
    const bench = compared({ failback: 'manual' });
    expect(judge(viewOf(bench), bench.epochMs)).toMatchObject({
      node: 'a1',
      reason: 'requests = 100; b1 would be better (requests = 300), but failback is manual',
    });
  });

  it('leads at once where the leader is gone', () => {
    const bench = compared();
    expect(judge(viewOf(bench), bench.epochMs, { without: ['a1'] })).toMatchObject({
      node: 'b1',
      cause: 'failure',
      reason: 'instead of a1 (no longer registered): requests = 300',
    });
  });
});

describe('the first election', () => {
  const waits = { firstElection: { nodes: 3, within: '1m' } };

  it('is explained with what it waits for', () => {
    const bench = new Bench(['a1'], waits);
    expect(judge(viewOf(bench), bench.epochMs)).toMatchObject({
      node: 'a1',
      cause: 'first',
      reason: expect.stringMatching(
        /; the first election waits for 3 eligible nodes: 1 so far, at most 1m more$/,
      ),
    });
  });

  it('is explained with nothing else where it waits for nothing', () => {
    const bench = new Bench(['a1', 'b1', 'c1'], waits);
    expect(judge(viewOf(bench), bench.epochMs).reason).toBe(
      'site a has priority 100, the node has priority 100',
    );
    const nobody = new Bench([]);
    expect(judge(viewOf(nobody), nobody.epochMs).reason).toBe('no node is registered');
  });
});
