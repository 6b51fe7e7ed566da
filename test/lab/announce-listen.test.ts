/** Compares E. Schooler's published numbers with the formulas and with the simulation. */
import { describe, expect, it } from 'vitest';
import {
  attemptsAsPrinted,
  attemptsUntilAllHear,
  hasNoFalseAlarms,
  suppressionMessages,
} from '../../packages/lab/src/algorithms/announce-listen-theory.js';
import { conditions } from '../../packages/lab/src/conditions.js';
import { broken, experiment, mean } from './run.js';

const delay = { kind: 'constant', ms: 100 } as const;

describe('messages while nodes wait', () => {
  it.each([
    [10, 3.824],
    [50, 9.394],
    [100, 15.082],
  ])('of %i nodes are %d by the formula', (nodes, published) => {
    expect(suppressionMessages(nodes, 0.1, 1)).toBeCloseTo(published, 3);
  });

  it.each([10, 50, 100])('of %i nodes are as many when it is run', async (nodes) => {
    expect(broken(await experiment('le-s', { nodes, delay }, 400))).toEqual([]);
  });

  it('are as many as the formula with c = 1−l under correlated loss, not as without that factor', async () => {
    const result = await experiment('le-s', { nodes: 50, delay, loss: 0.4, correlated: true }, 400);
    expect(broken(result)).toEqual([]);
    // One of the printed formulas leaves out the factor before the integral.
    const early = 50 * 0.1;
    const printed = early + (suppressionMessages(50, 100, 1000, 0.4) - early) * 0.6;
    expect(Math.abs(mean(result, 'suppression messages') - printed)).toBeGreaterThan(2);
  });
});

describe('the delay of leadership', () => {
  it.each(['le-a', 'le-s', 'le-m'])(
    'of %s is as theory has it, whatever the number of nodes',
    async (name) => {
      for (const nodes of [5, 100]) expect(broken(await experiment(name, { nodes, delay }, 400))).toEqual([]);
    },
  );

  it('under correlated loss is sent at 1.167 s in the mean', async () => {
    for (const nodes of [5, 60]) {
      const result = await experiment('le-s', { nodes, delay, loss: 0.4, correlated: true }, 600);
      expect(broken(result)).toEqual([]);
      const sentAtMs = mean(result, 'time') - 100;
      expect(Math.abs(sentAtMs - 1167)).toBeLessThan(120);
    }
  });

  it('under uncorrelated loss grows by TA·(A−1), not by TA·A as printed', async () => {
    const result = await experiment('le-s', { nodes: 40, delay, loss: 0.4 }, 300);
    expect(broken(result)).toEqual([]);
    const printedMs = 1000 * attemptsUntilAllHear(39, 0.4) + 500 + 100;
    expect(printedMs - mean(result, 'time')).toBeGreaterThan(800);
  });

  it('counts receivers as the printed sum does, where that can be computed', () => {
    for (const receivers of [1, 2, 5, 15]) {
      expect(attemptsUntilAllHear(receivers, 0.4)).toBeCloseTo(attemptsAsPrinted(receivers, 0.4), 6);
    }
    expect(attemptsUntilAllHear(499, 0)).toBe(1);
    expect(attemptsAsPrinted(499, 0.4)).not.toBeCloseTo(attemptsUntilAllHear(499, 0.4), 3);
  });
});

describe('when the leader has left', () => {
  it.each([0, 0.4])('another is agreed on as theory has it, with correlated loss %d', async (loss) => {
    const given = { nodes: 20, delay, scenario: 'crash', loss, correlated: true };
    for (const name of loss === 0 ? ['le-a', 'le-s', 'le-m'] : ['le-a', 'le-s']) {
      expect(broken(await experiment(name, given, 400))).toEqual([]);
    }
  });

  it('nobody waits for TL after a Bye', async () => {
    expect(broken(await experiment('le-s-bye', { nodes: 20, delay, scenario: 'bye' }, 300))).toEqual([]);
  });
});

describe('a late joiner', () => {
  it('with a higher number leads as soon as it has announced itself', async () => {
    for (const name of ['le-a', 'le-s'])
      expect(broken(await experiment(name, { nodes: 20, delay, scenario: 'join' }, 300))).toEqual([]);
  });

  it('with a lower one hears the next announcement, or asks for it', async () => {
    const given = { nodes: 20, delay, scenario: 'join', joiner: 'lowest' };
    for (const name of ['le-a', 'le-s', 'le-m', 'le-s-query'])
      expect(broken(await experiment(name, given, 200))).toEqual([]);
  });
});

describe('false alarms', () => {
  const calm = { nodes: 10, delay, suppressMs: 800 };
  it('come where TL is shorter than TA', async () => {
    const short = { ...calm, listenMs: 900 };
    expect(hasNoFalseAlarms(conditions(short))).toBe(false);
    expect(mean(await experiment('le-s', short, 20), 'disagreement')).toBeGreaterThan(0.1);
  });

  it('do not come where TL is TA, without loss', async () => {
    const enough = { ...calm, listenMs: 1000 };
    expect(hasNoFalseAlarms(conditions(enough))).toBe(true);
    const result = await experiment('le-s', enough, 20);
    expect(mean(result, 'upkeep')).toBeCloseTo(1, 1);
  });
});
