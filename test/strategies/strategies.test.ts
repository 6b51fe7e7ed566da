import { describe, expect, it } from 'vitest';
import { configProblems, prepareStrategy } from '../../src/model/read-config.js';
import type { Place } from '../../src/model/znodes.js';
import { builtInRules, type Candidate, type Ranked, strategies } from '../../strategies/index.js';
import { ordinary, subsets } from '../core/builders.js';

function candidate(node: string, change: Partial<Candidate> = {}): Candidate {
  const site = node.replace(/\d+$/, '');
  return { node, site, priority: 100, sitePriority: 100, seat: 0, scores: new Map(), tags: {}, ...change };
}

function rank(
  strategy: string,
  candidates: readonly Candidate[],
  { previous = null, options = {} }: { previous?: Place | null; options?: Record<string, unknown> } = {},
): readonly Ranked[] {
  const prepared = prepareStrategy({ strategy, strategyOptions: options }, builtInRules);
  if (prepared.strategy === null) throw new Error(prepared.problems.join());
  return prepared.strategy.rank({
    candidates,
    previous,
    peers: [],
    incumbent: null,
    term: 1,
    conditions: ordinary,
  });
}

const order = (ranking: readonly Ranked[]) => ranking.map(({ node }) => node).join(' ');
const grades = (ranking: readonly Ranked[]) => ranking.map(({ grade }) => grade).join(' ');
const needed: Record<string, Record<string, unknown>> = {
  'preference-list': { order: ['b1', 'a2'] },
  pole: { scores: [{ score: 'latency', width: 10 }, { score: 'history' }] },
  conditional: { rules: [{ name: 'usual', strategy: 'site-priority' }] },
};
const optionsFor = (name: string) => needed[name] ?? {};
const knownOptions: Record<string, string> = {
  'preference-list': 'expected one of order',
  history: 'expected one of score, width, margin',
  request: 'expected one of score, width, margin',
  consensus: 'expected one of size, width, margin',
  latency: 'expected one of size, load, width, margin',
  'worst-case': 'expected one of size, width, margin',
  pole: 'expected one of scores, size, load, margin',
  conditional: 'expected one of rules',
};

describe.each([...strategies.keys()])('%s', (name) => {
  const levels = [0, 1, 2];
  const all = ['a1', 'a2', 'b1'];
  const previous = [null, { node: 'a2', site: 'a' }, { node: 'zz', site: 'z' }];

  it('ranks every candidate exactly once, best grade first, with a reason, for any nodes', () => {
    for (const nodes of subsets(all)) {
      for (const a of levels) {
        for (const b of levels) {
          for (const before of previous) {
            const candidates = nodes.map((node, index) =>
              candidate(node, {
                priority: index === 0 ? a : b,
                sitePriority: node === 'b1' ? b : a,
                seat: index === 1 ? null : 2 - index,
              }),
            );
            const ranking = rank(name, candidates, { previous: before, options: optionsFor(name) });
            expect(ranking.map(({ node }) => node).toSorted()).toEqual(nodes);
            const given = ranking.map(({ grade }) => grade);
            expect(given).toEqual(given.toSorted((x, y) => x - y));
            expect(ranking.every(({ reason }) => /\w/.test(reason))).toBe(true);
            expect(given[0] ?? 0).toBe(0);
          }
        }
      }
    }
  });

  it('answers an option it does not know with what it knows', () => {
    const problems = configProblems(
      {
        strategy: name,
        strategyOptions: { ...optionsFor(name), colour: 'red' },
      },
      builtInRules,
    );
    const known = knownOptions[name] ?? 'no keys are allowed here';
    expect(problems).toEqual([`strategyOptions: unknown \`colour\`; ${known} (strategy ${name})`]);
  });

  it('says in one line what it is', () => {
    expect(strategies.get(name)?.description).toMatch(/^[^\n]{10,}$/);
  });
});

describe('site-priority', () => {
  it('the site counts before the node, and nodes alike in both share a grade', () => {
    const ranking = rank('site-priority', [
      candidate('a1', { sitePriority: 50, priority: 900 }),
      candidate('b1', { priority: 10 }),
      candidate('b2', { priority: 20 }),
      candidate('b3', { priority: 20 }),
    ]);
    expect(order(ranking)).toBe('b2 b3 b1 a1');
    expect(grades(ranking)).toBe('0 0 1 2');
    expect(ranking[0]?.reason).toBe('site b has priority 100, the node has priority 20');
  });
});

describe('first-available', () => {
  it('takes the order of node ids, and prefers nobody to a leader there is', () => {
    const ranking = rank('first-available', [candidate('a1'), candidate('a10'), candidate('a2')]);
    expect(order(ranking)).toBe('a1 a10 a2');
    expect(grades(ranking)).toBe('0 0 0');
  });
});

describe('oldest', () => {
  it('takes the lowest seat, and a node without one last', () => {
    const seats = { a1: 3, a2: null, b1: 0, b2: null, c1: 1 };
    const ranking = rank(
      'oldest',
      Object.entries(seats).map(([node, seat]) => candidate(node, { seat })),
    );
    expect(order(ranking)).toBe('b1 c1 a1 a2 b2');
    expect(grades(ranking)).toBe('0 0 0 0 0');
  });
});

describe('preference-list', () => {
  it('takes the order it is given; the others come last, all alike', () => {
    const nodes = ['a1', 'a2', 'b1', 'b2'].map((node) => candidate(node));
    const ranking = rank('preference-list', nodes, { options: { order: ['b2', 'gone', 'a2'] } });
    expect(order(ranking)).toBe('b2 a2 a1 b1');
    expect(grades(ranking)).toBe('0 1 2 2');
    expect(ranking[1]?.reason).toBe('number 3 on the preference list');
  });

  it.each([
    ['nothing', {}],
    ['an empty list', { order: [] }],
    ['a node twice', { order: ['a1', 'a1'] }],
  ])('refuses %s', (_, options) => {
    const [problem] = configProblems({ strategy: 'preference-list', strategyOptions: options }, builtInRules);
    expect(problem).toMatch(/^strategyOptions\.order: .*\(strategy preference-list\)$/);
  });
});

describe('round-robin', () => {
  const nodes = ['a1', 'b1', 'c1'];

  it.each([
    ['nobody', null, 'a1 b1 c1'],
    ['a1', 'a1', 'b1 c1 a1'],
    ['b1', 'b1', 'c1 a1 b1'],
    ['the last', 'c1', 'a1 b1 c1'],
    ['one that is gone, between two', 'b0', 'b1 c1 a1'],
    ['one that is gone, before all', 'a0', 'a1 b1 c1'],
  ])('after %s', (_, node, expected) => {
    const previous = node === null ? null : { node, site: 'x' };
    const ranking = rank(
      'round-robin',
      nodes.map((one) => candidate(one)),
      { previous },
    );
    expect(order(ranking)).toBe(expected);
    expect(grades(ranking)).toBe('0 0 0');
  });

  it('gives everyone a turn when each in its turn is the previous leader', () => {
    const turns: string[] = [];
    let previous: Place | null = null;
    for (let turn = 0; turn < 6; turn += 1) {
      const [first] = rank(
        'round-robin',
        nodes.map((one) => candidate(one)),
        { previous },
      );
      turns.push(first?.node ?? '');
      previous = { node: first?.node ?? '', site: 'x' };
    }
    expect(turns).toEqual([...nodes, ...nodes]);
  });
});

describe('reasons', () => {
  it.each<[string, readonly Candidate[], Place | null, readonly string[]]>([
    [
      'first-available',
      [candidate('a1'), candidate('b1')],
      null,
      ['first of the eligible nodes by node id', 'number 2 by node id'],
    ],
    [
      'oldest',
      [candidate('a1', { seat: 3 }), candidate('b1', { seat: 1 }), candidate('c1', { seat: null })],
      null,
      ['lowest seat of the eligible nodes (seat 1)', 'seat 3', 'it has no seat yet'],
    ],
    ['oldest', [candidate('a1', { seat: null })], null, ['it has no seat yet']],
    [
      'round-robin',
      [candidate('a1'), candidate('b1')],
      null,
      [
        'number 1 by node id, because there was no leader before',
        'number 2 by node id, because there was no leader before',
      ],
    ],
    [
      'round-robin',
      [candidate('a1'), candidate('b1')],
      { node: 'a1', site: 'a' },
      ['number 1 in turn after a1', 'number 2 in turn after a1'],
    ],
  ])('of %s', (strategy, candidates, previous, reasons) => {
    expect(rank(strategy, candidates, { previous }).map(({ reason }) => reason)).toEqual(reasons);
  });
});

describe('a strategy that nobody knows', () => {
  it('is answered with those that are known', () => {
    expect(configProblems({ strategy: 'fastest' }, builtInRules)).toEqual([
      'strategy: unknown strategy "fastest": expected one of first-available, oldest, preference-list, round-robin, ' +
        'site-priority, history, request, consensus, latency, worst-case, rotating, pole, conditional',
    ]);
  });
});
