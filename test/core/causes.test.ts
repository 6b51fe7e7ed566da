/**
 * Faults T3 and P41 (docs/reports/faults.md): the history records a failed term's own cause, no matter which
 * node noticed the failure first.
 */
import { describe, expect, it } from 'vitest';
import { Bench } from './bench.js';
import { byHand, unhealthy } from './builders.js';

const sites = { a: { priority: 100 }, b: { priority: 50 } };
const timeouts = { takeover: '1500ms', grace: '300ms' };
const said = 'timed out after 1500 ms';

function takingOver(): Bench {
  const bench = new Bench(['a1', 'b1'], { sites, timeouts });
  bench.settle();
  bench.claim();
  bench.settle();
  return bench;
}

describe('P41 a takeover that hangs has the same cause in the history', () => {
  it('P41 when its node notices first', () => {
    const bench = takingOver();
    bench.advance(1_500);
    bench.fail(said);
    bench.settle();
    expect(bench.records).toMatchObject([
      { term: 1, node: 'a1', outcome: 'FAILED', error: { phase: 'takeover', reason: said } },
    ]);
  });

  it('P41 when the elector notices first, and its node only later', () => {
    const bench = takingOver();
    const under = bench.elected.version;
    bench.advance(2_100);
    expect(bench.node).toBe('b1');
    const late = { phase: 'takeover', reason: said, command: 'hang', exitCode: null, signal: 'SIGKILL' };
    const detail = { ...late, durationMs: 2_200, outputTail: [] };
    bench.updateRegistration('a1', { lastFailure: { electedVersion: under, token: '101', detail } });
    bench.current = null;
    bench.settle();
    expect(bench.node).toBe('b1');
    expect(bench.records).toMatchObject([
      {
        term: 1,
        node: 'a1',
        outcome: 'FAILED',
        error: { phase: 'takeover', reason: expect.stringContaining(said) },
      },
    ]);
    expect(bench.elected.value?.failures).toMatchObject([{ node: 'a1', count: 1 }]);
  });
});

describe('T3 a term that was ended before it was READY', () => {
  it('T3 by a change of priority says so, and is not blamed for what its node failed at before', () => {
    const bench = new Bench(['a1', 'b1'], { sites, backoff: { base: '5s', max: '5s' }, failback: 'auto' });
    bench.settle();
    bench.claim();
    bench.fail('onTakeover exited with code 9');
    bench.lead();
    expect(bench.node).toBe('b1');
    // The backoff of a1 ends, and a1 is elected again. The decision still records its failure.
    bench.advance(600_000);
    expect(bench).toMatchObject({ node: 'a1', term: 3 });
    expect(bench.elected.value?.failures).toMatchObject([{ node: 'a1', until: null }]);
    bench.configure({ sites: { a: { priority: 1 }, b: { priority: 50 } }, failback: 'auto' });
    bench.settle();
    expect(bench).toMatchObject({ node: 'b1', term: 4 });
    const last = bench.records.at(-1);
    expect(last).toMatchObject({ term: 3, node: 'a1', outcome: 'FAILED' });
    expect(last?.error?.reason).toMatch(/^replaced before it was READY: .*site b has priority 50/);
    expect(JSON.stringify(last)).not.toContain('exited with 9');
  });

  it('T3 says how a hook failed also where the group was paused, and the decision noted it first', () => {
    const bench = takingOver();
    bench.configure({ sites, timeouts, paused: byHand });
    bench.fail('onTakeover exited with code 9');
    bench.settle();
    expect(bench).toMatchObject({ node: 'a1', term: 1 });
    bench.configure({ sites, timeouts });
    bench.settle();
    expect(bench.node).toBe('b1');
    expect(bench.records).toMatchObject([
      {
        term: 1,
        node: 'a1',
        error: { phase: 'takeover', reason: 'onTakeover exited with code 9', exitCode: 1, durationMs: 5 },
      },
    ]);
  });
});

describe('T3 a node that is elected after there was none', () => {
  const counted = { transitions: 1, within: '1h' };
  /** Returns the cause of the decision after the only node has led and then was ineligible for some time. */
  function causeAfter(leave: (bench: Bench) => void, comeBack: (bench: Bench) => void): string | undefined {
    const bench = new Bench(['a1'], { circuitBreaker: counted });
    bench.lead();
    leave(bench);
    bench.settle();
    expect(bench).toMatchObject({ node: null, term: 2 });
    bench.current = null;
    comeBack(bench);
    bench.settle();
    expect(bench).toMatchObject({ node: 'a1', term: 3 });
    return bench.elected.value?.cause;
  }

  it('T3 is no failure if the leader was drained, or left and came back', () => {
    const drain = (bench: Bench) => bench.configure({ drained: { a1: byHand }, circuitBreaker: counted });
    expect(causeAfter(drain, (bench) => bench.configure({ circuitBreaker: counted }))).toBe('planned');
    const leave = (bench: Bench) => bench.updateRegistration('a1', { draining: true });
    const restart = (bench: Bench) => {
      bench.crash('a1');
      bench.join('a1');
    };
    expect(causeAfter(leave, restart)).toBe('planned');
  });

  it('T3 is a failure if the leader failed', () => {
    const fail = (bench: Bench) => bench.updateRegistration('a1', unhealthy);
    const recover = (bench: Bench) => bench.updateRegistration('a1', { health: { ok: true, reason: null } });
    expect(causeAfter(fail, recover)).toBe('failure');
  });
});
