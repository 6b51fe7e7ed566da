/**
 * Tests the evaluation of measurements: the scope of each theory, the end of a run, the tolerance of a mean,
 * and the resulting plots.
 */
import { describe, expect, it } from 'vitest';
import { splitShare } from '../../packages/lab/src/algorithms/majority-lease.js';
import { chartsOf } from '../../packages/lab/src/chart.js';
import { printableLab } from '../../packages/lab/src/command/results-text.js';
import { chartsOfResults } from '../../packages/lab/src/plot.js';
import { summarize, toleranceOf } from '../../packages/lab/src/statistics.js';
import { unlimited } from '../../src/cli/layout.js';
import { broken, mean, experiment as run } from './run.js';

const slow = { kind: 'constant', ms: 100 } as const;

function experiment(name: string, given: Record<string, unknown>, runs = 1) {
  return run(name, { nodes: 10, ...given }, runs);
}

async function theoryOf(name: string, given: Record<string, unknown>): Promise<string[]> {
  return (await experiment(name, given)).theory.map(({ measure }) => measure);
}

describe('a mean', () => {
  it('is not judged by one run', async () => {
    const { theory } = await experiment('le-s', {}, 1);
    expect(theory.filter(({ kind }) => kind === 'mean').map(({ holds }) => holds)).toEqual([null, null]);
    expect(printableLab(1, [await experiment('le-s', {}, 1)]).pretty(unlimited)).not.toContain('no,');
  });

  it.each([
    [2, 235.8],
    [3, 19.2],
    [5, 6.62],
    [1000, 3.01],
  ])('of %i runs may be %d standard errors off', (runs, errors) => {
    const values = Array.from({ length: runs }, (_, index) => index % 2);
    const { mean: middle } = summarize(values);
    const squares = values.reduce((sum, value) => sum + (value - middle) ** 2, 0);
    const standardError = Math.sqrt(squares / (runs - 1) / runs);
    const allowed = (toleranceOf(summarize(values)) ?? 0) / standardError;
    expect(Math.abs(allowed / errors - 1)).toBeLessThan(0.01);
  });

  it('of equal values is that value', () => {
    const { mean: same, least, ci } = summarize(Array.from({ length: 60 }, () => 0.7518579686209744));
    expect([same, ci]).toEqual([least, 0]);
  });
});

it('a bound of which nothing was measured is not broken', async () => {
  const { measures, theory } = await experiment('petrel', { detectMs: 20, limitMs: 2000, scenario: 'crash' });
  expect(measures.agreed?.mean).toBe(0);
  expect(theory.map(({ holds }) => holds)).toEqual([null]);
});

describe('theory is held against runs', () => {
  it('of failure detectors that do not fail alone', async () => {
    const crash = { nodes: 8, scenario: 'crash', noticedBy: 'lowest', limitMs: 20_000 };
    expect(await theoryOf('bully', crash)).toContain('time');
    expect(await theoryOf('bully', { ...crash, missed: 0.5 })).toEqual([]);
    expect(await theoryOf('lcr', { mistakesPerS: 1, limitMs: 5000 })).toEqual([]);
    expect(await theoryOf('petrel', { mistakesPerS: 1, limitMs: 5000 })).toEqual(['leaders']);
  });

  it('of leaders that do not announce themselves again while others wait', async () => {
    expect(await theoryOf('le-s', {})).toContain('suppression messages');
    expect(await theoryOf('le-s', { announceMs: 200 })).not.toContain('suppression messages');
  });

  it('of listeners who wait for long enough', async () => {
    expect(await theoryOf('le-s', { scenario: 'crash', listenMs: 900, limitMs: 20_000 })).toEqual([]);
  });

  it('of queries where no answer makes up for what is lost', async () => {
    expect(await theoryOf('le-s-query', { loss: 0.4, delay: slow })).toEqual([]);
    const join = { scenario: 'join', joiner: 'lowest', delay: { kind: 'constant', ms: 700 } };
    expect(broken(await experiment('le-s-query', join, 200))).toEqual([]);
  });

  it('of votes that are hardly ever split', async () => {
    // With three nodes, a vote is split if both others wake soon after the first, within a tenth of the
    // longest wait.
    expect(splitShare(3, 3, 0.1)).toBeCloseTo(0.028, 9);
    expect(await theoryOf('majority', { nodes: 3, delay: slow })).toEqual(['leaders']);
    expect(broken(await experiment('majority', { nodes: 9, delay: slow, suppressMs: 4000 }, 300))).toEqual(
      [],
    );
  });

  it('without false alarms, where TL ≥ TA ≥ TS + Δ', async () => {
    const result = await experiment('le-s', { suppressMs: 900, listenMs: 1000 }, 20);
    const alarms = result.theory.find(({ measure }) => measure === 'alarms');
    expect(alarms).toMatchObject({ expected: 0, holds: true });
    expect(
      (await experiment('le-s', { suppressMs: 900, listenMs: 950 }, 5)).measures.alarms?.mean,
    ).toBeGreaterThan(0);
  });
});

describe('a run is over', () => {
  it('not before who crashed has come back', async () => {
    const result = await experiment('bully', { scenario: 'restart', detectMs: 100, awayMs: 1000 }, 5);
    expect(result.measures.time?.least).toBeGreaterThanOrEqual(1000);
  });

  it('not before the highest has crashed midway', async () => {
    const result = await experiment('bully', { nodes: 20, scenario: 'midway' }, 20);
    expect(result.measures.time?.least).toBeGreaterThanOrEqual(3000);
    expect(mean(result, 'misled')).toBe(0);
  });

  it.each(['majority', 'ring-timeouts'])(
    'though %s has messages under way at all times, which take as long as its renewals are apart',
    async (name) => {
      const delay = { kind: 'constant', ms: 600 };
      expect(mean(await experiment(name, { nodes: 10, delay }, 5), 'agreed')).toBe(1);
    },
  );
});

describe('a picture', () => {
  it('of one point has an axis that can be read', async () => {
    expect(chartsOf(chartsOfResults([await experiment('lcr', {})]))).not.toContain('0.00000');
  });

  it('calls a bound a bound, and draws what is expected where that is known', async () => {
    const names = async (name: string, given: Record<string, unknown>) =>
      chartsOfResults([await experiment(name, given)]).flatMap(({ series }) => series.map((one) => one.name));
    expect(await names('hs', {})).toEqual(['hs', 'hs, upper bound', 'hs']);
    const given = { nodes: 8, scenario: 'crash', noticedBy: 'lowest' };
    const [, time] = chartsOfResults([await experiment('bully', given)]);
    expect(time?.series.find(({ kind }) => kind === 'theory')?.points).toEqual([{ x: 0, y: 3040 }]);
  });
});

it('a table to be read by programs has all that theory says of a measure', async () => {
  const { rows } = printableLab(1, [
    await experiment('bully', { nodes: 8, scenario: 'crash', noticedBy: 'lowest' }, 2),
  ]);
  const time = rows.filter(([, , , , , measure]) => measure === 'time').map((row) => row.slice(-3));
  expect(time).toEqual([
    ['at most', '3050', 'true'],
    ['exact', '3040', 'true'],
  ]);
});
