/**
 * Counts how often noise moves leadership in 240 simulated hours, as docs/reports/latency.md states it.
 */
import { expect, it } from 'vitest';
import { type Chance, chance } from '../support/chance.js';
import { Bench } from './bench.js';
import { normal } from './normal.js';

const nodes = ['a1', 'b1', 'c1', 'd1', 'e1'];
const hours = 240;
const everyMs = 10_000;

/** Returns the number of moves in one hour in which five equal nodes report rates with noise of 20 %. */
function movesIn(seed: number, noise: (draw: Chance) => number): number {
  const draw = chance(seed);
  const bench = new Bench(nodes, { strategy: 'request' });
  const report = () => {
    for (const node of nodes) bench.measure(node, { requests: 100 * Math.max(0, 1 + 0.2 * noise(draw)) });
  };
  report();
  bench.lead();
  const looks = Array.from({ length: 3_600_000 / everyMs }, () => {
    bench.nowMs += everyMs;
    report();
    return bench.handOver();
  });
  return looks.filter(Boolean).length;
}

it.each<[string, (draw: Chance) => number, number]>([
  ['uniform', (draw) => draw.between(-1, 1), 0],
  ['normal', normal, 9],
])(
  'in 240 hours under request, %s noise of a fifth moves leadership as often as documented',
  (_name, noise, moves) => {
    const counted = Array.from({ length: hours }, (_, hour) => movesIn(hour + 1, noise));
    expect(counted.reduce((sum, count) => sum + count, 0)).toBe(moves);
  },
);
