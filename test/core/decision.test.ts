import { describe, expect, it } from 'vitest';
import { emptyCircuitBreakerRecord } from '../../src/core/circuit-breaker.js';
import { remainsElectedText } from '../../src/core/decision.js';
import { nowhereElse } from '../../src/core/elsewhere.js';
import type { ElectorAction } from '../../src/core/round.js';
import { Bench } from './bench.js';
import { byHand, failure, instant, unhealthy, unreadable } from './builders.js';

const hour = 3_600_000;
const sites = { a: { priority: 100 }, b: { priority: 50 }, c: { priority: 10 } };
const verbs = (actions: readonly ElectorAction[]) => actions.map(({ do: verb }) => verb);

/** Returns a group of `nodes` whose first node is READY. */
function led(nodes: readonly string[], settings: ConstructorParameters<typeof Bench>[1] = {}): Bench {
  const bench = new Bench(nodes, { sites, ...settings });
  bench.lead();
  return bench;
}

describe('under a circuit breaker, a decision', () => {
  const read = { path: '/db/circuit-breaker', root: '/db', record: emptyCircuitBreakerRecord, version: 3 };
  const failover = { at: instant(0), root: '/db', term: 2 };

  /** Returns a group whose circuit breaker allows one automatic failover in ten minutes. */
  function limited(): Bench {
    const bench = new Bench(['a1', 'b1', 'c1'], { sites, circuitBreaker: { transitions: 1, within: '10m' } });
    bench.circuitBreaker = read;
    bench.lead();
    return bench;
  }

  it('that counts writes the circuit breaker’s record too', () => {
    const bench = limited();
    bench.crash('a1');
    const circuitBreaker = { ...read, record: { moved: [failover] } };
    expect(bench.round().actions).toMatchObject([{ do: 'write-elected', circuitBreaker }]);
  });

  it('that does not count leaves that record unchanged', () => {
    const bench = limited();
    bench.updateRegistration('a1', { draining: true });
    expect(bench.round().actions).toMatchObject([{ do: 'write-elected', circuitBreaker: null }]);
  });

  it('that would be one too many pauses the group instead', () => {
    const bench = limited();
    bench.circuitBreaker = { ...read, record: { moved: [failover] } };
    bench.crash('a1');
    const { version: configVersion } = bench.config;
    expect(bench.settle()).toEqual([
      {
        do: 'pause',
        reason:
          'automatic failover suspended after leadership of /db moved once within 10m. ' +
          'Pending: term 2 of /db (failure). Run petrel resume when the cause is fixed',
        configVersion,
      },
    ]);
    expect(bench).toMatchObject({ node: 'a1', term: 1 });
  });

  it('that is unchanged writes nothing', () => {
    expect(limited().round().actions).toEqual([]);
  });
});

describe('a decision without a node', () => {
  it('notes that a request is missed, because its term is over', () => {
    const switchover = { to: { node: 'b1' }, replacesTerm: 1, notBefore: instant(hour), ...byHand };
    const bench = led(['a1', 'b1'], { switchover });
    bench.updateRegistration('b1', unhealthy);
    bench.crash('a1');
    expect(verbs(bench.settle())).toEqual(['write-elected', 'drop-request']);
    expect(bench.elected.value).toMatchObject({ node: null, missedRequest: true });
  });
});

describe('a leadership that is READY', () => {
  it('is recorded before its failures are removed: that write would change the time of the decision', () => {
    const bench = new Bench(['a1'], { sites });
    bench.settle();
    bench.fail();
    bench.advance(10_000);
    bench.claim();
    bench.settle();
    bench.ready();
    expect(verbs(bench.round().actions)).toEqual(['record']);
  });

  it('is not recorded while its owner is not the elected node’s session', () => {
    const bench = new Bench(['a1', 'b1'], { sites });
    bench.settle();
    bench.claim();
    bench.settle();
    bench.ready();
    bench.members = bench.members.map((one) => (one.node === 'a1' ? { ...one, owner: 999n } : one));
    expect(bench.round().actions).toEqual([]);
  });
});

it('a decision about a term that is recorded already writes no record', () => {
  const bench = new Bench(['a1', 'b1'], { sites });
  bench.lead();
  bench.updateRegistration('a1', { draining: true });
  expect(bench.round().actions).toMatchObject([
    { do: 'write-elected', elected: { node: 'b1' }, record: null, headVersion: null },
  ]);
});

describe('an update of a decision', () => {
  /** Returns a group that b1 leads after a failure of a1. */
  function afterFailure(): Bench {
    const bench = new Bench(['a1', 'b1'], { sites, failback: 'manual' });
    bench.settle();
    bench.fail();
    bench.settle();
    return bench;
  }

  it('writes that decision under the versions that were read, and no record', () => {
    const bench = new Bench(['a1'], { sites });
    bench.settle();
    bench.configure({ sites, paused: byHand });
    bench.fail();
    const { elected, config } = bench;
    expect(bench.round().actions).toEqual([
      {
        do: 'write-elected',
        elected: { ...elected.value, failures: [failure('a1')] },
        configVersion: config.version,
        electedVersion: elected.version,
        record: null,
        headVersion: null,
        circuitBreaker: null,
      },
    ]);
  });

  it('removes the failure of a node that is READY in another slot, but not during a takeover', () => {
    const bench = afterFailure();
    bench.claim();
    bench.elsewhere = { ...nowhereElse, ready: new Set(['c1', 'a1']) };
    expect(bench.settle()).toEqual([]);
    expect(bench.elected.value?.failures).toMatchObject([{ node: 'a1' }]);
    bench.ready();
    expect(verbs(bench.settle())).toEqual(['record', 'write-elected']);
    expect(bench.elected.value).toMatchObject({ node: 'b1', term: 2, failures: [] });
  });

  it('is not due to a READY node of another slot that has not failed here', () => {
    const bench = afterFailure();
    bench.lead();
    bench.elsewhere = { ...nowhereElse, ready: new Set(['c1']) };
    expect(bench.settle()).toEqual([]);
    expect(bench.elected.value?.failures).toMatchObject([{ node: 'a1' }]);
  });

  it('leaves the failures of other slots to their decisions', () => {
    const bench = new Bench(['a1', 'b1'], { sites });
    bench.settle();
    bench.elsewhere = { ...nowhereElse, failures: [failure('c1')] };
    bench.fail();
    bench.settle();
    expect(bench.elected.value).toMatchObject({ node: 'b1', failures: [failure('a1')] });
  });
});

describe('a site with too few nodes', () => {
  const counted = { sites: { ...sites, a: { priority: 100, minNodes: 2 } }, failback: 'manual' as const };

  it('is marked failed and later healthy, each with a reason', () => {
    const bench = led(['a1', 'a2', 'b1'], counted);
    bench.crash('a2');
    const { version: configVersion } = bench.config;
    const changesOf = (actions: readonly ElectorAction[]) =>
      actions.filter(({ do: verb }) => verb === 'change-sites');
    const reason = 'registered nodes: 1, required: 2';
    expect(changesOf(bench.advance(10_000))).toEqual([
      {
        do: 'change-sites',
        changes: [
          { site: 'a', settings: { failed: { byRule: true, by: 'elector', reason, at: instant(10_000) } } },
        ],
        what: 'site a: marked failed',
        reason,
        configVersion,
      },
    ]);
    bench.join('a2');
    expect(changesOf(bench.advance(60_000))).toMatchObject([
      { changes: [{ site: 'a', settings: { failed: null } }], what: 'site a: marked healthy' },
    ]);
  });

  it('is not marked while the configuration is unreadable', () => {
    const bench = led(['a1', 'a2', 'b1'], counted);
    bench.config = unreadable(8);
    bench.crash('a2');
    expect(bench.advance(hour)).toEqual([]);
  });
});

describe('the text for an unchanged decision', () => {
  it('names the elected node, if there is one', () => {
    expect(remainsElectedText('a1')).toBe('a1 remains elected');
    expect(remainsElectedText(null)).toBe('still no node is elected');
  });
});
