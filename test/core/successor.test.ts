import { describe, expect, it } from 'vitest';
import type { Constraint } from '../../src/core/constraint.js';
import { electorRound, isPlainlyDue } from '../../src/core/round.js';
import { constraints } from '../../strategies/constraints/index.js';
import { Bench } from './bench.js';
import {
  byHand,
  config,
  decided,
  instant,
  member,
  strategyOf,
  unhealthy,
  unreadable,
  versioned,
} from './builders.js';

const sites = { a: { priority: 100 }, b: { priority: 50 } };

/** Returns a group of `nodes` whose first node leads, with an elector that publishes the successor. */
function led(nodes: readonly string[], settings: ConstructorParameters<typeof Bench>[1] = {}): Bench {
  const bench = publishing(nodes, { sites, failback: 'manual', ...settings });
  bench.lead();
  return bench;
}

function publishing(nodes: readonly string[], settings: ConstructorParameters<typeof Bench>[1]): Bench {
  const bench = new Bench(nodes, settings);
  bench.successor = null;
  bench.members = nodes.map((node, seat) => seated(node, seat));
  return bench;
}

function seated(node: string, seat: number) {
  return { ...member(node, {}, { seat }), seatNames: [`${node}-000000000${seat}`] };
}

const published = (bench: Bench) => {
  bench.settle();
  return bench.successor?.value ?? null;
};

describe('the successor', () => {
  it('is the node that the elector would elect if the leader left, with all that the decision rests on', () => {
    const bench = led(['a1', 'b1', 'a2']);
    expect(published(bench)).toEqual({
      reason: 'site a has priority 100, the node has priority 100',
      prepared: {
        decision: {
          ...bench.elected.value,
          ...{ node: 'a2', term: 2, cause: 'shutdown', previous: { node: 'a1', site: 'a' } },
          reason: 'instead of a1 (it is shutting down): site a has priority 100, the node has priority 100',
        },
        electedVersion: bench.elected.version,
        configVersion: bench.config.version,
        nodeVersion: 1,
        seats: ['a2-0000000002'],
      },
      nobody: false,
    });
  });

  it('is the very decision that the elector makes when the leader says that it leaves', () => {
    const bench = led(['a1', 'b1', 'a2'], { siteRules: { afterFailure: { from: 'another-site' } } });
    const prepared = published(bench)?.prepared?.decision;
    bench.updateRegistration('a1', { draining: true });
    bench.settle();
    expect(bench.elected.value).toEqual(prepared);
  });

  it('is published with the record of READY, and then only when it changes', () => {
    const bench = publishing(['a1', 'b1'], { sites });
    bench.settle();
    bench.claim();
    expect(bench.settle().map(({ do: verb }) => verb)).toEqual([]);
    bench.ready();
    expect(bench.round().actions.map(({ do: verb }) => verb)).toEqual(['record', 'publish-successor']);
    expect(bench.settle().map(({ do: verb }) => verb)).toEqual(['record', 'publish-successor']);
    expect(bench.advance(24 * 3_600_000)).toEqual([]);
    bench.updateRegistration('b1', unhealthy);
    expect(bench.settle().map(({ do: verb }) => verb)).toEqual(['publish-successor']);
    expect(published(bench)?.reason).toBe('no other node is eligible: b1: it is unhealthy: disk full');
  });

  it('names the versions that are current when it is published', () => {
    const bench = led(['a1', 'b1']);
    bench.configure({ sites, failback: 'manual', historySize: 7 });
    bench.updateRegistration('b1', { priority: 90 });
    const { configVersion, electedVersion, nodeVersion } = published(bench)?.prepared ?? {};
    expect({ configVersion, electedVersion, nodeVersion }).toEqual({
      configVersion: bench.config.version,
      electedVersion: bench.elected.version,
      nodeVersion: 2,
    });
  });

  it('is published in a write that checks the versions it is based on', () => {
    const bench = led(['a1', 'b1']);
    bench.updateRegistration('b1', unhealthy);
    expect(bench.round().actions).toEqual([
      {
        do: 'publish-successor',
        successor: {
          prepared: null,
          nobody: true,
          reason: 'no other node is eligible: b1: it is unhealthy: disk full',
        },
        version: 0,
        electedVersion: bench.elected.version,
        configVersion: bench.config.version,
      },
    ]);
  });

  it('is not published in the round that changes the configuration, only in the next', () => {
    const bench = led(['a1', 'b1']);
    const override = { priority: 50, until: instant(60_000), ...byHand };
    bench.configure({ sites: { ...sites, b: { priority: 50, override } }, failback: 'manual' });
    bench.settle();
    bench.nowMs += 60_000;
    bench.settle();
    bench.configure({ sites: { ...sites, b: { priority: 50, override } }, failback: 'manual' });
    expect(bench.round().actions.map(({ do: verb }) => verb)).toEqual(['change-sites']);
    expect(bench.settle().map(({ do: verb }) => verb)).toEqual(['change-sites', 'publish-successor']);
  });

  it('stays as it is while the configuration is unreadable', () => {
    const bench = led(['a1', 'b1', 'b2']);
    bench.config = unreadable(bench.config.version + 1);
    bench.updateRegistration('b1', unhealthy);
    expect(bench.settle()).toEqual([]);
    bench.configure({ sites, failback: 'manual' });
    expect(published(bench)?.prepared?.decision.node).toBe('b2');
  });

  it('stays as it is until the leader has confirmed a new term', () => {
    const bench = led(['a1', 'b1']);
    const again = decided({ node: 'a1', term: 2, priorities: [100, 100] });
    bench.elected = versioned(again, bench.elected.version + 1);
    expect(bench.settle()).toEqual([]);
    bench.ready();
    expect(bench.settle().map(({ do: verb }) => verb)).toEqual(['record', 'publish-successor']);
    expect(published(bench)?.prepared?.decision.term).toBe(3);
  });

  it('is an eligible node, though the registration of another is malformed', () => {
    const bench = led(['a1', 'b1', 'b2']);
    bench.members = bench.members.map((one) => (one.node === 'b1' ? { ...one, ...unreadable(2) } : one));
    expect(published(bench)?.prepared?.decision.node).toBe('b2');
  });

  it('stays as it is until a node that joins has a seat', () => {
    const bench = led(['a1', 'b1']);
    bench.members = [...bench.members, member('a2', {}, { seat: null })];
    expect(bench.settle()).toEqual([]);
    bench.members = bench.members.map((one) => (one.node === 'a2' ? seated('a2', 2) : one));
    expect(published(bench)?.prepared?.decision.node).toBe('a2');
  });

  it('is looked for only if something that it rests on has changed', () => {
    const bench = led(['a1', 'b1', 'b2']);
    bench.settle();
    const { rank, ...strategy } = strategyOf(bench.lastConfig);
    let ranked = 0;
    const counting = (input: Parameters<typeof rank>[0]) => {
      ranked += 1;
      return rank(input);
    };
    // A round prepares its strategy again.
    const rankingsOfRound = () => {
      ranked = 0;
      bench.strategy = { ...strategy, rank: counting };
      bench.round();
      return ranked;
    };
    expect(rankingsOfRound()).toBe(1);
    bench.nowMs += 30_000;
    expect(rankingsOfRound()).toBe(1);
    const changes = [
      () => bench.updateRegistration('b2', { priority: 90 }),
      () => bench.configure({ sites, failback: 'manual' }),
      () => bench.join('b3'),
      () => (bench.members = bench.members.filter(({ node }) => node !== 'b3')),
      () => (bench.self = 'other'),
    ];
    for (const change of changes) {
      change();
      expect([rankingsOfRound(), rankingsOfRound()], String(change)).toEqual([2, 1]);
    }
  });

  it('is published again if time alone changes the decision', () => {
    const bench = publishing(['a1', 'b1', 'b2'], { sites, failback: 'manual' });
    bench.settle();
    bench.claim();
    bench.fail('a1');
    bench.settle();
    bench.lead();
    const failed = () => published(bench)?.prepared?.decision.failures.map(({ node }) => node);
    bench.advance(10 * 60_000);
    expect(failed()).toEqual(['a1']);
    bench.members = bench.members.filter(({ node }) => node !== 'a1');
    expect(failed()).toEqual(['a1']);
    // The elector forgets what it has not seen for a minute.
    for (let waited = 0; waited < 60; waited += 1) bench.advance(30_000);
    expect(failed()).toEqual([]);
  });

  it('is no decision that is plainly due', () => {
    const bench = led(['a1', 'b1']);
    bench.successor = null;
    const round = bench.round();
    expect(round.actions.map(({ do: verb }) => verb)).toEqual(['publish-successor']);
    expect(isPlainlyDue(round)).toBe(false);
  });

  it('is not published by an elector that may not read the published one', () => {
    const bench = led(['a1', 'b1']);
    bench.successor = undefined;
    expect(bench.settle()).toEqual([]);
  });

  it('has a text as it is stored, however long the reason is', () => {
    const bench = led(['a1', 'b1']);
    bench.updateRegistration('b1', { health: { ok: false, reason: 'x'.repeat(50_000) } });
    expect(bench.settle()).toHaveLength(1);
  });
});

describe('the elector publishes that no node can follow', () => {
  const why = (bench: Bench) => {
    const found = published(bench);
    expect(found).toMatchObject({ prepared: null, nobody: true });
    return found?.reason;
  };

  it('if no other node is registered, whatever else the choice depends on', () => {
    const bench = led(['a1']);
    expect(why(bench)).toBe('no other node is registered');
    bench.configure({ sites, failback: 'manual', paused: byHand });
    expect(why(bench)).toBe('no other node is registered');
  });

  it('if no other node is eligible', () => {
    const bench = led(['a1', 'b1', 'b2']);
    bench.updateRegistration('b1', unhealthy);
    bench.updateRegistration('b2', { draining: true });
    expect(why(bench)).toBe(
      'no other node is eligible: b1: it is unhealthy: disk full; b2: it is shutting down',
    );
  });

  it('if no other node is eligible and the registration of the leader is malformed', () => {
    const bench = led(['a1', 'b1']);
    bench.updateRegistration('b1', unhealthy);
    bench.members = bench.members.map((one) => (one.node === 'a1' ? { ...one, ...unreadable(2) } : one));
    expect(why(bench)).toBe('no other node is eligible: b1: it is unhealthy: disk full');
  });

  it('while the group is paused', () => {
    const bench = led(['a1', 'b1']);
    bench.configure({ sites, failback: 'manual', paused: byHand });
    expect(why(bench)).toBe('paused by ops: maintenance');
  });
});

describe('the elector publishes only why it will decide when the leader leaves', () => {
  const why = (bench: Bench) => {
    const found = published(bench);
    expect(found).toMatchObject({ prepared: null, nobody: false });
    return found?.reason;
  };

  it('while a switchover is requested', () => {
    const bench = led(['a1', 'b1']);
    const switchover = {
      to: { node: 'b1' },
      replacesTerm: 1,
      notBefore: '2026-01-01T10:00:00.000Z',
      ...byHand,
    };
    bench.configure({ sites, failback: 'manual', switchover: { ...switchover, force: false } });
    expect(why(bench)).toBe('a switchover is requested');
    // The request is carried out even while the group is paused.
    const requested = { ...switchover, force: false };
    bench.configure({ sites, failback: 'manual', switchover: requested, paused: byHand });
    expect(why(bench)).toBe('a switchover is requested');
    // A request stays in the configuration when it has been carried out.
    const spent = { ...switchover, notBefore: null, replacesTerm: 0, force: false };
    bench.configure({ sites, failback: 'manual', switchover: spent });
    expect(published(bench)?.prepared?.decision.node).toBe('b1');
  });

  it('if the group has several leaders, or depends on another group', () => {
    const bench = led(['a1', 'b1']);
    bench.configure({ sites, failback: 'manual', affinity: { group: '/other' } });
    expect(why(bench)).toBe('the choice depends on the leader of /other');
    bench.configure({ sites, failback: 'manual', leaders: 2 });
    expect(why(bench)).toBe('the group has several leaders');
  });

  it('if the strategy depends on more than registrations and configuration', () => {
    const bench = led(['a1', 'b1']);
    bench.strategy = { ...strategyOf(config({ sites })), usesScores: true };
    expect(why(bench)).toBe('strategy site-priority ranks the nodes again at each change of leader');
    bench.strategy = { ...strategyOf(config({ sites })), minutes: [60] };
    bench.updateRegistration('b1', { priority: 80 });
    expect(why(bench)).toBe('strategy site-priority ranks the nodes again at each change of leader');
    bench.strategy = null;
    bench.updateRegistration('b1', { strategies: { 'site-priority': '1' } });
    bench.updateRegistration('b1', { priority: 90 });
    expect(why(bench)).toBe('strategy site-priority ranks the nodes again at each change of leader');
  });

  it('if a constraint depends on the time', () => {
    const bench = led(['a1', 'b1']);
    const timed: Constraint = {
      ...{ kind: 'at-night', description: 'it is night', ends: 'planned', canBeForced: true },
      minutes: [1],
      check: () => null,
    };
    const round = electorRound({
      self: bench.self,
      snapshot: bench.snapshot,
      members: bench.members,
      config: bench.lastConfig,
      strategy: strategyOf(bench.lastConfig),
      constraints: [...constraints, timed],
      memory: bench.memory,
      clock: bench.clock,
      nowMs: bench.nowMs,
      canFence: false,
      observedSinceMs: bench.observedSinceMs,
    });
    expect(round.actions).toMatchObject([
      {
        successor: {
          prepared: null,
          nobody: false,
          reason: 'a constraint judges the nodes again at each change of leader',
        },
      },
    ]);
  });

  it('while a time limit has yet to expire', () => {
    const bench = led(['a1', 'b1', 'b2']);
    const override = { priority: 300, until: '2026-01-01T10:00:00.000Z', ...byHand };
    bench.configure({ sites: { a: { priority: 400 }, b: { priority: 50, override } }, failback: 'manual' });
    expect(why(bench)).toBe('the choice may change when a time limit expires');
  });

  it.each(['first', 'shutdown'] as const)(
    'if a decision (%s) lets the leader stay though it leaves',
    (cause) => {
      const bench = led(['a1', 'b1']);
      const requested = { by: 'ops', overridden: ['leaving'] };
      const kept = decided({ ...bench.elected.value, cause, requested });
      bench.updateRegistration('a1', { draining: true });
      bench.elected = versioned(kept, bench.elected.version + 1);
      expect(bench.round().actions).toMatchObject([{ successor: { prepared: null, nobody: false } }]);
    },
  );

  it('if the next node prepares before it claims', () => {
    const bench = led(['a1', 'b1']);
    bench.updateRegistration('b1', { prepares: true });
    expect(why(bench)).toBe('b1 runs onPrepare before the leader starts its release');
  });
});
