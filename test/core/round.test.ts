/** A round as a whole: what counts as due, what it throws, and when the next one comes. */
import { describe, expect, it } from 'vitest';
import { isPlainlyDue } from '../../src/core/round.js';
import { Unanswered } from '../../strategies/questions.js';
import { Bench } from './bench.js';
import { byHand, claim, decided, failure, instant, strategyOf, unhealthy, versioned } from './builders.js';

const sites = { a: { priority: 100 }, b: { priority: 50 } };

function led(nodes: readonly string[]): Bench {
  const bench = new Bench(nodes, { sites });
  bench.lead();
  return bench;
}

describe('a decision that every elector would make', () => {
  it('is not made in a round that only reads the clock', () => {
    const round = new Bench(['a1']).round();
    expect(round).toMatchObject({ actions: [{ do: 'read-clock' }], choice: null });
    expect(isPlainlyDue(round)).toBe(false);
  });

  it('includes an update that clears the failure of a leader elected by preference', () => {
    const bench = new Bench(['a1']);
    const preferred = decided({ node: 'a1', term: 1, cause: 'preference', failures: [failure('a1')] });
    Object.assign(bench, { elected: versioned(preferred), current: claim('a1'), history: null });
    bench.round().actions.forEach((action) => void bench.perform(action));
    const round = bench.round();
    expect(round).toMatchObject({
      actions: [{ do: 'write-elected', elected: { node: 'a1', term: 1, cause: 'preference', failures: [] } }],
      choice: { changes: false },
    });
    expect(isPlainlyDue(round)).toBe(true);
  });
});

describe('a strategy', () => {
  it('that has not answered yet is waited for: the caller gets the question', () => {
    const bench = led(['a1', 'b1']);
    const question = { strategy: 'own', options: {}, input: null };
    const rank = () => {
      throw new Unanswered(question);
    };
    bench.strategy = { name: 'own', rank };
    expect(() => bench.round()).toThrow(new Unanswered(question));
  });

  it('that fails while a node leads makes the elector hand over its role', () => {
    const bench = led(['a1', 'b1']);
    bench.strategy = { ...strategyOf(bench.lastConfig), rank: () => [] };
    expect(bench.round().actions).toEqual([
      {
        do: 'give-up-seat',
        reason: 'strategy site-priority broke its contract: it received a1, b1 but ranked nobody',
        configVersion: bench.config.version,
      },
    ]);
  });
});

describe('a node that was forced to lead, and fails', () => {
  it('is replaced in one decision, which names the reasons that were overridden', () => {
    const bench = led(['a1', 'b1']);
    bench.updateRegistration('b1', unhealthy);
    bench.configure({ sites, switchover: { to: { node: 'b1' }, replacesTerm: 1, force: true, ...byHand } });
    bench.settle();
    bench.fail();
    expect(bench.settle().map(({ do: verb }) => verb)).toEqual(['write-elected']);
    const backoff = `it is in backoff until ${instant(10_000)}: takeover failed: exit code 1`;
    expect(bench.reason).toBe(
      `instead of b1 (it is unhealthy: disk full, ${backoff}): site a has priority 100, the node has priority 100`,
    );
  });
});

describe('the next round', () => {
  it('comes within 30 s while a leader is stuck, from the moment it is late', () => {
    const bench = led(['a1', 'b1']);
    bench.updateRegistration('a1', unhealthy);
    bench.settle();
    expect(bench.advance(33_999)).toEqual([]);
    expect(bench.round().recheckInMs).toBe(1);
    bench.advance(1);
    expect(bench.alarms).toHaveLength(1);
    expect(bench.round().recheckInMs).toBe(30_000);
    bench.nowMs += 500;
    expect(bench.round().recheckInMs).toBe(30_000);
  });
});
