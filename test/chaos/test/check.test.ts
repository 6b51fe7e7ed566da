/** Tests the checks with made-up records of an orderly run, and of every kind of violation. */
import { describe, expect, it } from 'vitest';
import { reportText } from '../check/report.js';
import { RunBuilder, rules, run, violationsIn } from './run-builder.js';

/** The bound if no node fails: session 6 + release 3.6 + takeover 4.6 + slack 1. */
const plainBoundMs = 15_200;
const watchdogMs = 5_000 + 3_600;

/**
 * Returns an orderly run. Node a leads first, and hands over to b during a fault that requests this. Node b
 * leads to the end.
 */
function orderly(): RunBuilder {
  return new RunBuilder().leads('a', 2, 20).fault(19, 24, []).releases('a', 2, 20, 22).leads('b', 25, 100);
}

describe('the checker of chaos', () => {
  it('finds nothing wrong with an orderly run', () => {
    const verdict = orderly().verdict();
    expect(verdict.violations).toEqual([]);
    expect(verdict).toMatchObject({ takeovers: 2, ready: 2 });
    expect(verdict.gaps).toMatchObject([{ fromMs: 20_000, toMs: 26_000, lost: 'a', open: false }]);
    expect(verdict.failovers).toEqual([]);
    expect(verdict.handovers).toMatchObject([{ from: { node: 'a' }, to: { node: 'b' }, marginMs: 3_100 }]);
  });

  it('wants something to be shown', () => {
    expect(rules(new RunBuilder().verdict())).toContain('something is shown');
  });

  it('counts a problem of the run itself as a violation', () => {
    const builder = orderly();
    builder.nemesis.push({ event: 'problem', atMs: 1, what: 'the agent of a ended by itself' });
    expect(violationsIn(builder.verdict())).toEqual(['the agent of a ended by itself']);
  });
});

describe('two at once', () => {
  it('is shown by a beat of the old workload after the new takeover began', () => {
    const verdict = orderly().hook(25.15, 'a', '2', 'takeover beat').verdict();
    expect(violationsIn(verdict)).toEqual([
      'b (token 25) began to take over 50.0 ms before a (token 2) had ended',
    ]);
  });

  it('is shown by a release that ends after the new takeover began', () => {
    const builder = new RunBuilder()
      .leads('a', 2, 20)
      .fault(19, 24, [])
      .releases('a', 2, 20, 26)
      .leads('b', 25, 100);
    expect(rules(builder.verdict())).toContain('no two at once');
  });

  it('is shown by a takeover hook that goes on', () => {
    const builder = orderly().hook(27, 'a', '2', 'takeover ended');
    expect(rules(builder.verdict())).toEqual(['no two at once']);
  });

  it('is shown by what the new takeover saw alive, if no record shows it', () => {
    const builder = orderly();
    const start = builder.hooks.find(({ node }) => node === 'b');
    if (start === undefined) throw new Error('b took over');
    start.alive.push({ node: 'a', slot: 1, token: '2', state: 'S' });
    expect(violationsIn(builder.verdict())).toEqual([
      'b (token 25) began to take over and saw a (token 2) alive',
    ]);
  });

  it('is not shown by what stands still or is dead', () => {
    const builder = orderly();
    const start = builder.hooks.find(({ node }) => node === 'b');
    for (const state of ['T', 'Z']) start?.alive.push({ node: 'a', slot: 1, token: '2', state });
    expect(builder.verdict().violations).toEqual([]);
  });

  it('is not shown by a release that tidies up after a workload was killed', () => {
    const builder = new RunBuilder().leads('a', 2, 20).fault(19, 24, []).unclaim(22, 'a').leads('b', 25, 100);
    builder.hook(30, 'a', '2', 'release started').hook(31, 'a', '2', 'release ended');
    expect(builder.verdict().violations).toEqual([]);
  });
});

describe('fencing tokens', () => {
  it('must be there', () => {
    const builder = orderly().hook(99, 'c', '', 'takeover started');
    expect(violationsIn(builder.verdict())).toContain('c took over without a token');
  });

  it('must be greater than every one before', () => {
    const builder = new RunBuilder()
      .leads('a', 30, 40)
      .fault(39, 44, [])
      .releases('a', 30, 40, 41)
      .elect(44, 'b');
    builder.claim(45, 'b', 'create', 'PROGRESS').hook(45.1, 'b', '29', 'takeover started');
    expect(violationsIn(builder.verdict())).toContain('b (token 29) took over after a (token 30)');
  });

  it('must be those of a claim of the same node', () => {
    const builder = orderly().hook(99, 'c', '98', 'takeover started');
    expect(violationsIn(builder.verdict())).toContain(
      'c took over under token 98, which is that of no claim',
    );
    const stolen = orderly().hook(99, 'c', '25', 'takeover started');
    expect(violationsIn(stolen.verdict())).toContain('c took over under token 25, which is that of b');
  });
});

describe('claims', () => {
  it('may become READY only while their node is elected', () => {
    const builder = new RunBuilder().elect(1, 'a').claim(2, 'a', 'create', 'PROGRESS').elect(3, 'b');
    expect(violationsIn(builder.claim(4, 'a', 'set', 'READY').verdict())).toContain(
      'a is READY while b is elected',
    );
  });

  it('may be READY by an election in the same transaction', () => {
    const builder = new RunBuilder().elect(1, 'a').claim(2, 'a', 'create', 'PROGRESS').elect(3, 'b');
    builder.claim(4, 'a', 'set', 'READY').elect(4, 'a');
    expect(rules(builder.verdict())).not.toContain('READY by the elected');
  });

  it('may be made only by the elected', () => {
    const builder = orderly().unclaim(97, 'b').claim(98, 'c', 'create', 'PROGRESS');
    expect(violationsIn(builder.verdict())).toEqual(['c claims while b is elected']);
  });

  it('may not be made while another stands', () => {
    const builder = orderly().elect(97, 'c').claim(98, 'c', 'create', 'PROGRESS');
    expect(violationsIn(builder.verdict())).toEqual(['c claims what b holds']);
  });

  it('end with the session of their owner', () => {
    const builder = orderly().znode(96, 'close', '', null, { session: 'of b' });
    builder.elect(97, 'c').claim(98, 'c', 'create', 'PROGRESS');
    expect(builder.verdict().violations).toEqual([]);
  });

  it('may not be written by another session than made them', () => {
    const builder = orderly().elect(97, 'c').claim(98, 'c', 'set', 'PROGRESS');
    expect(violationsIn(builder.verdict())).toEqual(['c wrote to the claim of b']);
  });

  it('must be readable', () => {
    const builder = orderly().znode(97, 'set', '/leader/current', { node: 7 });
    expect(rules(builder.verdict())).toEqual(['claims are sound']);
  });
});

describe('what a client learns', () => {
  /**
   * In the orderly run, a's claim is READY from 3 s to 23 s. The claim of b starts at 25 s and is READY from
   * 26 s on.
   */
  const answers = (change: (builder: RunBuilder) => RunBuilder) => violationsIn(change(orderly()).verdict());

  it('must have been so', () => {
    expect(answers((builder) => builder.answered(50, 'c', '25'))).toEqual([
      'a client read that c is READY under token 25, which never was so',
    ]);
  });

  it('must be so still', () => {
    expect(answers((builder) => builder.answered(23.9, 'a', '2'))).toEqual([]);
    expect(answers((builder) => builder.answered(24.1, 'a', '2'))).toEqual([
      'a client read that a is READY under token 2, which was so no more for 1.1 s',
    ]);
    expect(answers((builder) => builder.answered(50, 'b', '25', 'PROGRESS'))).toEqual([
      'a client read that b is PROGRESS under token 25, which was so no more for 24.0 s',
    ]);
    expect(answers((builder) => builder.answeredNobody(50))).toEqual([
      'a client read that nobody leads, which was so no more for 25.0 s',
    ]);
  });

  it('must be so already', () => {
    expect(answers((builder) => builder.answered(24.5, 'b', '25', 'READY'))).toEqual([
      'a client read that b is READY under token 25, which was so only later',
    ]);
    expect(answers((builder) => builder.answeredNobody(24.5).answered(25.1, 'b', '25', 'PROGRESS'))).toEqual(
      [],
    );
  });

  it('may be as old as what is done to the servers, and no older', () => {
    const late = (builder: RunBuilder) => builder.answered(40, 'a', '2');
    expect(answers((builder) => late(builder.fault(20, 38, [], { ensemble: true })))).toEqual([]);
    expect(answers((builder) => late(builder.fault(30, 38, [], { ensemble: true })))).toHaveLength(1);
    expect(answers((builder) => late(builder.fault(20, 30, [], { ensemble: true })))).toHaveLength(1);
    expect(answers((builder) => late(builder.fault(20, 38, ['a'])))).toHaveLength(1);
  });
});

describe('the history', () => {
  const record = (term: number, fencingToken: string | null) => ({ kind: 'transition', term, fencingToken });

  it('may hold one record of a term and token, and what people changed', () => {
    const builder = orderly().znode(27, 'create', '/history/0000000001', record(1, '2'));
    builder.znode(28, 'create', '/history/0000000002', { kind: 'change', by: 'someone' });
    builder.znode(29, 'create', '/history/0000000003', record(2, '25'));
    expect(builder.verdict().violations).toEqual([]);
  });

  it('may not hold two of the same', () => {
    const builder = orderly().znode(27, 'create', '/history/0000000001', record(1, '2'));
    builder.znode(28, 'create', '/history/0000000002', record(1, '2'));
    expect(violationsIn(builder.verdict())).toEqual(['two records of term 1, token 2']);
  });

  it('may not record a greater token before a smaller one', () => {
    const builder = orderly().znode(27, 'create', '/history/0000000001', record(2, '25'));
    builder.znode(28, 'create', '/history/0000000002', record(1, '2'));
    expect(rules(builder.verdict())).toEqual(['history in order']);
  });

  it('must be readable', () => {
    const builder = orderly().znode(27, 'create', '/history/0000000001', 'garbage');
    expect(rules(builder.verdict())).toEqual(['history in order']);
  });
});

describe('the time without a leader', () => {
  /** In this run, node a is killed at 20 s. Node b leads `afterS` later, and clients see that immediately. */
  const killed = (
    afterS: number,
    faults: (builder: RunBuilder) => void = (builder) => builder.fault(20, 90, ['a']),
  ) => {
    const builder = new RunBuilder().leads('a', 2, 20).znode(21, 'close', '', null, { session: 'of a' });
    faults(builder);
    return builder.leads('b', 20 + afterS - 1, 100).verdict();
  };

  it('counts from the last sign of life, or the release, to when a client learned of the leader', () => {
    expect(killed(7).gaps).toMatchObject([{ fromMs: 20_000, toMs: 27_000, lengthMs: 7_000 }]);
  });

  it('is bounded by session, release and takeover, though the fault lasts', () => {
    expect(killed(15)).toMatchObject({ violations: [], gaps: [{ boundMs: plainBoundMs }] });
    expect(rules(killed(16))).toEqual(['a leader in time']);
  });

  it('has no session to wait for where nobody fell silent', () => {
    const loud = (builder: RunBuilder) => builder.fault(20, 90, ['a'], { silences: false });
    const boundMs = plainBoundMs - run.sessionTimeoutMs;
    expect(killed(9, loud)).toMatchObject({ violations: [], gaps: [{ boundMs }] });
    expect(rules(killed(10, loud))).toEqual(['a leader in time']);
  });

  it('may last a watchdog longer for each other node that fails', () => {
    const both = (builder: RunBuilder) => builder.fault(20, 90, ['a']).fault(20, 90, ['b']);
    const boundMs = plainBoundMs + watchdogMs + run.backoffMs;
    expect(killed(25, both)).toMatchObject({ violations: [], gaps: [{ boundMs }] });
    expect(rules(killed(26, both))).toEqual(['a leader in time']);
  });

  it('counts again from each fault that comes meanwhile', () => {
    const two = (builder: RunBuilder) => builder.fault(20, 90, ['a']).fault(25, 90, ['a']);
    expect(killed(20, two)).toMatchObject({
      violations: [],
      gaps: [{ lengthMs: 20_000, countedMs: 15_000 }],
    });
    expect(rules(killed(21, two))).toEqual(['a leader in time']);
  });

  it('is not extended by a fault that comes when it is overdue', () => {
    const late = (builder: RunBuilder) => builder.fault(20, 90, ['a']).fault(36, 90, ['a']);
    const verdict = killed(20, late);
    expect(rules(verdict)).toEqual(['a leader in time']);
    expect(verdict.gaps).toMatchObject([{ lengthMs: 20_000, countedMs: 16_000 }]);
  });

  it('may include the ensemble’s own', () => {
    const server = (builder: RunBuilder) => builder.fault(20, 90, [], { ensemble: true });
    expect(killed(20, server).violations).toEqual([]);
    expect(rules(killed(21, server))).toEqual(['a leader in time']);
  });

  it('counts from the end of a fault that leaves nobody to lead or decide', () => {
    const blocking = (builder: RunBuilder) => builder.fault(20, 50, [], { blocks: true });
    expect(killed(45, blocking).violations).toEqual([]);
    expect(rules(killed(46, blocking))).toEqual(['a leader in time']);
    const all = (builder: RunBuilder) => builder.fault(20, 50, ['a', 'b']).fault(20, 50, ['c']);
    expect(killed(45, all).violations).toEqual([]);
  });

  it('is not extended by what only lasts while nobody is kept from leading any more', () => {
    const lasting = (builder: RunBuilder) => builder.fault(20, 30, [], { blocks: true }).fault(20, 90, ['a']);
    expect(killed(25, lasting).violations).toEqual([]);
    expect(rules(killed(26, lasting))).toEqual(['a leader in time']);
  });

  it('is not extended by faults that would leave nobody, but come one after the other', () => {
    const inTurn = (builder: RunBuilder) => builder.fault(20, 30, ['a', 'b']).fault(31, 90, ['c']);
    const boundMs = plainBoundMs + 2 * watchdogMs + run.backoffMs;
    expect(killed(45, inTurn)).toMatchObject({ violations: [], gaps: [{ boundMs, countedMs: 34_000 }] });
    expect(rules(killed(46, inTurn))).toEqual(['a leader in time']);
  });

  it('counts before the first leader, too, from when somebody had a seat', () => {
    const joined = (builder: RunBuilder) => builder.znode(5, 'create', '/election/a-0000000000');
    const first = (leadsFromS: number) =>
      joined(new RunBuilder())
        .leads('a', leadsFromS - 1, 100)
        .verdict();
    expect(first(14)).toMatchObject({ violations: [], firsts: [{ lengthMs: 9_000, open: false }] });
    expect(rules(first(15))).toEqual(['a leader in time']);
    expect(rules(joined(new RunBuilder()).verdict())).toEqual(['something is shown', 'a leader in time']);
    expect(rules(new RunBuilder().leads('a', 15, 100).verdict())).toEqual(['a leader in time']);
  });

  it('counts though it did not end', () => {
    const builder = new RunBuilder().leads('a', 2, 20).fault(20, 90, ['a']);
    const verdict = builder.verdict();
    expect(verdict.gaps).toMatchObject([{ open: true, lengthMs: 80_000 }]);
    expect(rules(verdict)).toEqual(['a leader in time']);
  });

  it('needs a cause', () => {
    const verdict = killed(7, (builder) => builder.fault(1, 7, ['a']));
    expect(violationsIn(verdict)).toEqual(['a stopped leading without a fault']);
    expect(killed(7, (builder) => builder.fault(1, 9, ['a'])).violations).toEqual([]);
  });

  it('is kept apart from the margin between the workloads', () => {
    const { failovers, handovers } = killed(7);
    expect(handovers).toEqual([]);
    expect(failovers).toMatchObject([{ from: { node: 'a' }, to: { node: 'b' }, marginMs: 6_100 }]);
  });

  it('is none for a claim that says READY while its node is dead', () => {
    const verdict = killed(7, (builder) => builder.fault(20, 90, ['a']).answered(24, 'a', '2'));
    expect(verdict.gaps).toMatchObject([{ fromMs: 20_000 }]);
  });
});

describe('an answer of a leader in a crowd of connections', () => {
  const answered = (builder: RunBuilder, code: number | null, tookMs: number) => {
    builder.nemesis.push({ event: 'http', node: 'b', code, requestedAtMs: 60_000, atMs: 60_000 + tookMs });
    return builder.verdict();
  };

  it('comes within a quarter of the session timeout', () => {
    expect(answered(orderly(), 200, 1_500).violations).toEqual([]);
    expect(violationsIn(answered(orderly(), 503, 1_501))).toEqual(['b took 1501 ms to answer to /leader']);
    expect(violationsIn(answered(orderly(), null, 2))).toEqual(['b gave no answer to /leader']);
  });

  it('may come late during another fault, and soon after it', () => {
    expect(answered(orderly().fault(50, 55, ['b']), null, 2_000).violations).toEqual([]);
    expect(rules(answered(orderly().fault(50, 53, ['b']), null, 2_000))).toEqual(['others are answered']);
  });
});

describe('the report', () => {
  it('shows the records around a violation', () => {
    const builder = orderly().hook(25.15, 'a', '2', 'takeover beat').fault(25, 26, ['b']);
    const text = reportText(builder.verdict(), builder.records());
    expect(text).toContain('1 VIOLATIONS');
    expect(text).toMatch(/VIOLATION at \+25\.100: no two at once/);
    expect(text).toMatch(/\+25\.100 hook {4}b takeover started, token 25/);
    expect(text).toMatch(/\+25\.000 nemesis begin .*freeze-agent/);
    expect(text).toMatch(/\+25\.000 znode {3}create \/leader\/current/);
    expect(text).not.toMatch(/a takeover started/);
  });

  it('shows the leaderless times by kind of fault, and the smallest margin', () => {
    const builder = orderly();
    const text = reportText(builder.verdict(), builder.records());
    expect(text).toMatch(/^freeze-agent +1 +1 +6\.00 +6\.00 +6\.00 +15\.20$/m);
    expect(text).toContain('3100.0 ms at +25.100, a (token 2) to b (token 25)');
    expect(text).toContain('no violation');
  });
});
