/**
 * Tests the checks with made-up records of a group with two leaders. The records show an orderly run, and
 * violations.
 */
import { describe, expect, it } from 'vitest';
import { reportText } from '../check/report.js';
import type { Run } from '../records.js';
import { RunBuilder, rules, violationsIn } from './run-builder.js';

const two: Partial<Run> = { nodes: ['a', 'b', 'c', 'd'], leaders: 2 };
/** The bound if no node fails and no node falls silent: release 3.6 + takeover 4.6 + slack 1. */
const quietBoundS = 9.2;

/**
 * Returns an orderly run. Node a leads slot 1 to the end. Node b leads slot 2, and hands over to c on
 * request.
 */
function orderly(): RunBuilder {
  return new RunBuilder()
    .leads('a', 2, 100)
    .leads('b', 4, 20, 2)
    .fault(19, 24, [], { slots: [2] })
    .releases('b', 4, 20, 22, 2)
    .leads('c', 25, 100, 2);
}

const verdictOf = (builder: RunBuilder) => builder.verdict(two);

describe('the checker of several leaders', () => {
  it('finds nothing wrong with an orderly run', () => {
    const verdict = verdictOf(orderly());
    expect(verdict.violations).toEqual([]);
    expect(verdict).toMatchObject({ takeovers: 3, ready: 3, readyInSlot: [1, 2] });
    expect(verdict.gaps).toMatchObject([{ slot: 2, fromMs: 20_000, toMs: 26_000, lost: 'b' }]);
    expect(verdict.firsts).toMatchObject([
      { slot: 1, lengthMs: 3_000 },
      { slot: 2, lengthMs: 5_000 },
    ]);
    expect(verdict.handovers).toMatchObject([{ from: { node: 'b' }, to: { node: 'c', slot: 2 } }]);
  });

  it('wants something to be shown of each slot', () => {
    expect(violationsIn(verdictOf(new RunBuilder().leads('a', 2, 100)))).toContain(
      'nobody was READY in slot 2',
    );
  });

  it('reports each slot', () => {
    const text = reportText(verdictOf(orderly()), orderly().records(two));
    expect(text).toMatch(/^slot +READY +leaderless .* handovers +smallest ms/m);
    expect(text).toMatch(/^2 +2 +1 +6\.00 +6\.00 +6\.00 +15\.20 +1 +3100\.0 +0$/m);
    expect(text).toContain('after b in slot 2');
  });
});

describe('two at once in a slot', () => {
  it('are shown by a beat of the old workload', () => {
    const builder = orderly().hook(25.15, 'b', '4', 'takeover beat', { slot: 2 });
    expect(violationsIn(verdictOf(builder))).toEqual([
      'c in slot 2 (token 25) began to take over 50.0 ms before b in slot 2 (token 4) had ended',
    ]);
  });

  it('are shown by what the new takeover saw alive, but for the leader of another slot', () => {
    const builder = orderly();
    const start = builder.hooks.find(({ node }) => node === 'c');
    start?.alive.push({ node: 'a', slot: 1, token: '2', state: 'S' });
    expect(verdictOf(builder).violations).toEqual([]);
    start?.alive.push({ node: 'b', slot: 2, token: '4', state: 'S' });
    expect(rules(verdictOf(builder))).toEqual(['no two at once']);
  });
});

describe('one node in two slots', () => {
  /** In this run, node a leads slot 1 and also takes over slot 2. */
  const both = () => {
    return new RunBuilder()
      .leads('a', 2, 100)
      .leads('b', 4, 20, 2)
      .fault(19, 24, [])
      .releases('b', 4, 20, 22, 2)
      .leads('a', 25, 100, 2);
  };

  it('is shown by its election, its claims, and its work', () => {
    expect(violationsIn(verdictOf(both()))).toEqual([
      'a is elected in slots 1 and 2',
      'a owns the claims of slots 1 and 2',
      'a in slot 2 (token 25) began to take over 74900.0 ms before a (token 2) had ended',
    ]);
    expect(rules(verdictOf(both()))).toEqual(['one slot a node']);
  });

  it('is shown by its own workload that the new takeover saw alive', () => {
    const builder = new RunBuilder().leads('a', 2, 10).fault(9, 14, []).releases('a', 2, 10, 11);
    builder.leads('b', 14, 100).leads('a', 20, 100, 2);
    expect(rules(verdictOf(builder))).not.toContain('one slot a node');
    const start = builder.hooks.find(({ slot }) => slot === 2);
    start?.alive.push({ node: 'a', slot: 1, token: '2', state: 'S' });
    expect(violationsIn(verdictOf(builder))).toContain(
      'a in slot 2 (token 20) began to take over and saw a (token 2) alive',
    );
  });

  it('is not shown by one that has released before', () => {
    const builder = new RunBuilder().leads('a', 2, 10).fault(9, 14, []).releases('a', 2, 10, 11);
    builder.leads('b', 14, 100).leads('a', 20, 100, 2);
    expect(verdictOf(builder).violations).toEqual([]);
  });

  it('is not shown by decisions that change places in one transaction', () => {
    const builder = orderly().elect(97, 'c').elect(97, 'a', 2);
    expect(verdictOf(builder).violations).toEqual([]);
    expect(rules(verdictOf(orderly().elect(97, 'c')))).toEqual(['one slot a node']);
  });
});

describe('fencing tokens of several slots', () => {
  it('may be used in another order than they were made in, by other slots', () => {
    const builder = orderly();
    const first = builder.hooks.findIndex(({ node }) => node === 'a');
    builder.hooks.splice(first, 1);
    builder.hook(4.15, 'a', '2', 'takeover started');
    expect(rules(verdictOf(builder))).not.toContain('tokens grow');
  });

  it('grow in each slot', () => {
    const builder = orderly().hook(99, 'd', '3', 'takeover started', { slot: 2 });
    expect(violationsIn(verdictOf(builder))).toContain(
      'd in slot 2 (token 3) took over after c in slot 2 (token 25)',
    );
  });

  it('are never those of two slots', () => {
    const builder = orderly().hook(99, 'c', '25', 'takeover started');
    expect(violationsIn(verdictOf(builder))).toContain(
      'c (token 25) took over under the token of c in slot 2 (token 25)',
    );
  });

  it('are those of a claim of the same slot', () => {
    const builder = orderly().elect(97, 'd', 3).claim(98, 'd', 'create', 'PROGRESS', 3);
    builder.hook(98.1, 'd', '98', 'takeover started', { slot: 2 });
    expect(violationsIn(verdictOf(builder))).toContain(
      'd in slot 2 took over under token 98, which is that of d in slot 3',
    );
  });
});

describe('claims of a slot', () => {
  it('are made only by whom it elected', () => {
    const builder = orderly().unclaim(96, 'c', 2).elect(97, 'd').claim(98, 'd', 'create', 'PROGRESS', 2);
    expect(violationsIn(verdictOf(builder))).toEqual(['d claims in slot 2 while c is elected']);
  });

  it('become READY only by whom it elected', () => {
    const builder = orderly().elect(97, 'd', 2).claim(98, 'c', 'set', 'READY', 2);
    expect(violationsIn(verdictOf(builder))).toEqual(['c is READY in slot 2 while d is elected']);
  });

  it('are not made while another stands, or written to by others', () => {
    const builder = orderly().elect(96, 'd', 2).claim(97, 'd', 'create', 'PROGRESS', 2);
    expect(violationsIn(verdictOf(builder))).toEqual(['d claims what c holds in slot 2']);
    const written = orderly().elect(96, 'd', 2).claim(97, 'd', 'set', 'PROGRESS', 2);
    expect(violationsIn(verdictOf(written))).toEqual(['d wrote to the claim in slot 2 of c']);
  });

  it('end with their owner’s session, and only they', () => {
    const builder = orderly().znode(96, 'close', '', null, { session: 'of c' });
    builder.elect(97, 'd', 2).claim(98, 'd', 'create', 'PROGRESS', 2);
    expect(verdictOf(builder).violations).toEqual([]);
    expect(violationsIn(verdictOf(builder.elect(98, 'b').claim(99, 'b', 'create', 'PROGRESS')))).toEqual([
      'b claims what a holds',
    ]);
  });
});

describe('what a client learns about a slot', () => {
  it('must have been so there', () => {
    expect(verdictOf(orderly().answered(50, 'c', '25', 'READY', 2)).violations).toEqual([]);
    expect(violationsIn(verdictOf(orderly().answered(50, 'c', '25', 'READY', 1)))).toEqual([
      'a client read that c is READY under token 25, which never was so',
    ]);
    expect(violationsIn(verdictOf(orderly().answeredNobody(50, 2)))).toEqual([
      'a client read in slot 2 that nobody leads, which was so no more for 25.0 s',
    ]);
  });
});

describe('the history of several slots', () => {
  const record = (slot: number | undefined, term: number, fencingToken: string) => {
    return { kind: 'transition', slot, term, fencingToken };
  };
  const history = (...records: ReturnType<typeof record>[]) => {
    const builder = orderly();
    for (const [index, one] of records.entries())
      builder.znode(30 + index, 'create', `/history/000000000${index}`, one);
    return violationsIn(verdictOf(builder));
  };

  it('may hold the same term once for each slot, in any order of theirs', () => {
    expect(history(record(2, 1, '4'), record(undefined, 1, '2'), record(2, 2, '25'))).toEqual([]);
  });

  it('may not hold two of the same slot and term, or a slot’s in another order', () => {
    expect(history(record(2, 1, '4'), record(2, 1, '4'))).toEqual([
      'two records of term 1, token 4 in slot 2',
    ]);
    expect(history(record(2, 2, '25'), record(2, 1, '4'))).toEqual([
      'the record of term 1, token 4 in slot 2 comes after that of 25',
    ]);
  });
});

describe('the time without a leader of a slot', () => {
  /**
   * In this run, node b leads slot 2 and dies at 20 s. Node c becomes the leader of slot 2 `afterS` later.
   */
  const killed = (
    afterS: number,
    faults = (builder: RunBuilder) => builder.fault(20, 90, ['b'], { silences: false }),
  ) => {
    const builder = new RunBuilder().leads('a', 2, 100).leads('b', 4, 20, 2);
    builder.znode(21, 'close', '', null, { session: 'of b' });
    return verdictOf(faults(builder).leads('c', 20 + afterS - 1, 100, 2));
  };

  it('is bounded, though another slot is led', () => {
    expect(killed(9)).toMatchObject({ violations: [], gaps: [{ slot: 2, boundMs: quietBoundS * 1000 }] });
    expect(violationsIn(killed(10))).toEqual([
      expect.stringMatching(/^nobody led in slot 2 for 10\.00 s, bound 9\.20 s/),
    ]);
  });

  it('does not count while faults leave fewer eligible nodes than slots', () => {
    const leaving = (...nodes: string[]) => {
      return killed(38, (builder) => builder.fault(20, 50, nodes, { silences: false }));
    };
    expect(leaving('b', 'c', 'd')).toMatchObject({ violations: [], gaps: [{ countedMs: 8_000 }] });
    expect(leaving('b', 'c')).toMatchObject({ gaps: [{ countedMs: 38_000 }] });
    expect(rules(leaving('b', 'c'))).toEqual(['a leader in time']);
  });

  it('needs a cause that concerns its leader, or its slot', () => {
    const lostBy = (nodes: string[], slots?: number[]) => {
      const does = slots === undefined ? { silences: false } : { silences: false, slots };
      return violationsIn(killed(5, (builder) => builder.fault(19, 21, nodes, does)));
    };
    expect(lostBy(['a'], [])).toEqual(['b stopped leading in slot 2 without a fault']);
    expect(lostBy([], [1])).toEqual(['b stopped leading in slot 2 without a fault']);
    expect(lostBy(['a', 'b'], [])).toEqual([]);
    expect(lostBy([], [2])).toEqual([]);
    expect(lostBy([])).toEqual([]);
  });

  it('may have been caused by what came right after the last sign of life, as signs come now and then', () => {
    const lostBefore = (s: number) => {
      return violationsIn(
        killed(5, (builder) => builder.fault(20 + s, 25, ['b'], { silences: false, slots: [] })),
      );
    };
    expect(lostBefore(0.9)).toEqual([]);
    expect(lostBefore(1.1)).toEqual(['b stopped leading in slot 2 without a fault']);
  });
});

describe('fewer leaders', () => {
  /**
   * In this run, the group should have only one leader from 50 s on. Node c leads slot 2 and works until
   * `untilS`.
   */
  const fewer = (untilS: number) => {
    const builder = new RunBuilder()
      .leads('a', 2, 100)
      .leads('c', 4, untilS, 2)
      .fault(50, 52, [], { silences: false });
    return builder.wants(50, 1).unclaim(52, 'c', 2);
  };

  it('leave no slot that has to be led', () => {
    const verdict = verdictOf(fewer(51));
    expect(verdict).toMatchObject({ violations: [], gaps: [] });
  });

  it('are given up in time', () => {
    expect(verdictOf(fewer(50 + quietBoundS - 0.1)).violations).toEqual([]);
    expect(violationsIn(verdictOf(fewer(50 + quietBoundS + 0.1)))).toEqual([
      expect.stringMatching(/^c in slot 2 \(token 4\) worked on for 9\.30 s, bound 9\.20 s/),
    ]);
  });

  it('come back, and have a leader in time', () => {
    const again = (leadsFromS: number) => {
      return verdictOf(
        fewer(51)
          .wants(60, 2)
          .leads('d', leadsFromS - 1, 100, 2),
      );
    };
    expect(again(66)).toMatchObject({
      violations: [],
      gaps: [{ slot: 2, lost: null, isFirst: false, lengthMs: 6_000 }],
    });
    expect(rules(again(77))).toEqual(['a leader in time']);
  });
});
