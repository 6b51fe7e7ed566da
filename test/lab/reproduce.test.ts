/** Reproduces the numbers that the literature prints, within a tolerance. */
import { describe, expect, it } from 'vitest';
import { chartsOf } from '../../packages/lab/src/chart.js';
import { resultsOf, runTask, tasksOf } from '../../packages/lab/src/experiment.js';
import {
  deployments,
  electedBy,
  recoveryMs,
  serve,
  usualService,
} from '../../packages/lab/src/replication.js';
import { reproductions } from '../../packages/lab/src/reproduce/index.js';

async function reproduce(name: string, runs: number) {
  const plan = reproductions.get(name);
  if (plan === undefined) throw new Error(`there is no ${name}`);
  const tasks = tasksOf(plan.cases, runs, 1);
  return plan.make(resultsOf(plan.cases, tasks, await Promise.all(tasks.map(runTask))), 1);
}

describe('the evaluation of POLE', async () => {
  const { points, charts } = await reproduce('pole', 1);
  it.each(points.map((point) => [point.point, point] as const))('%s: is within a tenth', (_name, point) => {
    expect(Math.abs(point.offPercent)).toBeLessThan(10);
  });

  it('has every latency of two centres that is published', () => {
    const expected = points.filter(({ point }) => point.startsWith('two centres'));
    expect(expected.map((point) => point.expected)).toEqual([30, 30, 30, 30, 30, 43, 43, 43, 21.5, 21.5]);
  });

  it('has the request strategy elect p1 for the third centre’s requests, which is the fastest in deployment 1 alone', () => {
    const loads = [0, 0, 1];
    for (const [number, fastest] of [
      [1, 'p1'],
      [2, 'p4'],
    ] as const) {
      const deployment = deployments[number];
      expect(electedBy(deployment, 'request', loads)).toBe('p1');
      const meanOf = (leader: string) => serve({ ...usualService, deployment, loads, leader }).meanMs;
      expect(['p1', 'p2', 'p3', 'p4'].toSorted((a, b) => meanOf(a) - meanOf(b))[0]).toBe(fastest);
    }
  });

  it('is drawn: latency and recovery by data centre', () => {
    expect(charts.filter(({ title }) => title.startsWith('Recovery'))).toHaveLength(charts.length / 2);
    expect(chartsOf(charts)).toMatch(/^<svg [\s\S]*<\/svg>\n$/);
  });
});

it('rings and Bully send what closed forms say, and no more than bounds allow', async () => {
  for (const { from, offPercent, point } of (await reproduce('rings', 1)).points) {
    if (from === 'formula') expect([point, offPercent]).toEqual([point, 0]);
    else expect([point, offPercent < 0]).toEqual([point, true]);
  }
});

it('chapter 5 prints nothing that is far from what is measured', async () => {
  const { points } = await reproduce('chapter5', 60);
  const printed = points.filter(({ from }) => from === 'published');
  expect(printed).toHaveLength(4);
  for (const { point, expected, measured, ci } of points) {
    const off = Math.abs(measured - expected);
    expect([point, off <= 2 * (ci ?? 0) + 0.02 * expected]).toEqual([point, true]);
  }
});

describe('a replicated service', () => {
  const service = { ...usualService, requests: 200, jitter: 0, requestsPerS: 1 };

  it('serves a centre in the time of its way to the leader and of the leader’s to a quorum', () => {
    const { centres } = serve({ ...service, deployment: deployments[1], loads: [1, 1, 1], leader: 'p4' });
    const expected = [9.88, 9.88 + 9.88, 77.06 + 9.88].map((ms) => ms + service.workMs);
    for (const [index, centre] of centres.entries())
      expect(centre?.meanMs).toBeCloseTo(expected[index] ?? 0, 0);
  });

  it('serves the centre of its new leader first', () => {
    const [first = 0, , third = 0] = recoveryMs(deployments[1], 'p4');
    expect(first).toBeLessThan(third);
  });
});
