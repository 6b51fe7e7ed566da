/**
 * Checks the results of Becker, Junqueira and Serafini, case by case. Measured values are from the paper,
 * calculated ones from our model.
 */
import { describe, expect, it } from 'vitest';
import { type Deployment, deployments, electionIn, rankedBy, scoresOf } from './deployments.js';

const even = [1, 1, 1];

describe.each([
  {
    name: '1',
    deployment: deployments[1],
    consensus: { p1: 53.26, p2: 9.88, p3: 9.88, p4: 9.88 },
    latency: { p1: 96.7, p2: 30.93, p3: 30.93, p4: 38.86 },
    worstCase: { p1: 130.32, p2: 63.14, p3: 63.14, p4: 86.94 },
    elects: { consensus: 'p4', latency: 'p3', 'worst-case': 'p3' },
  },
  {
    name: '2',
    deployment: deployments[2],
    consensus: { p1: 77.06, p2: 9.88, p3: 9.88, p4: 9.88 },
    latency: { p1: 120.5, p2: 38.86, p3: 38.86, p4: 30.93 },
    worstCase: { p1: 154.12, p2: 86.94, p3: 86.94, p4: 63.14 },
    elects: { consensus: 'p4', latency: 'p4', 'worst-case': 'p4' },
  },
])('deployment $name under even load', ({ deployment, elects, ...expected }) => {
  const input = electionIn(deployment, even);

  it.each([
    ['consensus', expected.consensus],
    ['latency', expected.latency],
    ['worst-case', expected.worstCase],
  ])('has the published %s of each server', (strategy, values) => {
    const scores = scoresOf(rankedBy(strategy, input));
    expect(Object.keys(scores)).toEqual(Object.keys(values));
    for (const [node, value] of Object.entries(values)) expect(scores[node]).toBeCloseTo(value, 2);
  });

  it.each(Object.entries(elects))('%s elects %s', (strategy, node) => {
    expect(rankedBy(strategy, input)[0]?.node).toBe(node);
  });
});

describe('under uneven load', () => {
  interface Case {
    readonly name: string;
    readonly deployment: Deployment;
    readonly loads: readonly number[];
    readonly strategy: string;
    readonly elects: string;
    readonly meanMs: number;
    readonly term?: number;
  }
  const { 1: one, 2: two, 3: three, two: centres } = deployments;
  const cases: readonly Case[] = [
    {
      name: '1, no load in D3',
      deployment: one,
      loads: [1, 1, 0],
      strategy: 'latency',
      elects: 'p4',
      meanMs: 14.82,
    },
    {
      name: '1, no load in D3',
      deployment: one,
      loads: [1, 1, 0],
      strategy: 'rotating',
      elects: 'p1',
      meanMs: 118.42,
      term: 8,
    },
    {
      name: '1, all in D3',
      deployment: one,
      loads: [0, 0, 1],
      strategy: 'latency',
      elects: 'p1',
      meanMs: 53.26,
    },
    {
      name: '1, all in D3',
      deployment: one,
      loads: [0, 0, 1],
      strategy: 'worst-case',
      elects: 'p3',
      meanMs: 63.14,
    },
    {
      name: '3, all in D2',
      deployment: three,
      loads: [0, 1, 0],
      strategy: 'latency',
      elects: 'p3',
      meanMs: 53.26,
    },
    {
      name: '3, all in D2',
      deployment: three,
      loads: [0, 1, 0],
      strategy: 'consensus',
      elects: 'p4',
      meanMs: 106.52,
    },
    {
      name: '1, all in D3',
      deployment: one,
      loads: [0, 0, 1],
      strategy: 'request',
      elects: 'p1',
      meanMs: 53.26,
    },
    {
      name: '2, all in D3',
      deployment: two,
      loads: [0, 0, 1],
      strategy: 'request',
      elects: 'p1',
      meanMs: 77.06,
    },
    {
      name: '2, all in D3',
      deployment: two,
      loads: [0, 0, 1],
      strategy: 'latency',
      elects: 'p4',
      meanMs: 63.14,
    },
    {
      name: 'two centres, even',
      deployment: centres,
      loads: [1, 1],
      strategy: 'worst-case',
      elects: 'p4',
      meanMs: 31.125,
    },
    {
      name: 'two centres, even',
      deployment: centres,
      loads: [1, 1],
      strategy: 'latency',
      elects: 'p4',
      meanMs: 31.125,
    },
    {
      name: 'two centres, even',
      deployment: centres,
      loads: [1, 1],
      strategy: 'consensus',
      elects: 'p4',
      meanMs: 31.125,
    },
    {
      name: 'two centres, even',
      deployment: centres,
      loads: [1, 1],
      strategy: 'request',
      elects: 'p4',
      meanMs: 31.125,
    },
    {
      name: 'two centres, even',
      deployment: centres,
      loads: [1, 1],
      strategy: 'history',
      elects: 'p4',
      meanMs: 31.125,
    },
    {
      name: 'two centres, all in D1',
      deployment: centres,
      loads: [1, 0],
      strategy: 'history',
      elects: 'p4',
      meanMs: 41.5,
    },
    {
      name: 'two centres, all in D1',
      deployment: centres,
      loads: [1, 0],
      strategy: 'consensus',
      elects: 'p4',
      meanMs: 41.5,
    },
    {
      name: 'two centres, all in D1',
      deployment: centres,
      loads: [1, 0],
      strategy: 'worst-case',
      elects: 'p4',
      meanMs: 41.5,
    },
    {
      name: 'two centres, all in D1',
      deployment: centres,
      loads: [1, 0],
      strategy: 'request',
      elects: 'p3',
      meanMs: 20.75,
    },
    {
      name: 'two centres, all in D1',
      deployment: centres,
      loads: [1, 0],
      strategy: 'latency',
      elects: 'p3',
      meanMs: 20.75,
    },
  ];

  it.each(cases)('$name: $strategy elects $elects, a client waits $meanMs ms', (one) => {
    const input = electionIn(one.deployment, one.loads, one.term === undefined ? {} : { term: one.term });
    const [best] = rankedBy(one.strategy, input);
    expect(best?.node).toBe(one.elects);
    expect(scoresOf(rankedBy('latency', input))[one.elects]).toBeCloseTo(one.meanMs, 2);
  });

  it('in two centres every server has the same worst case', () => {
    const scores = scoresOf(rankedBy('worst-case', electionIn(centres, [1, 0])));
    expect(scores).toEqual({ p1: 41.5, p2: 41.5, p3: 41.5, p4: 41.5 });
  });
});
