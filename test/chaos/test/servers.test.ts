import { expect, it } from 'vitest';
import { serversOf, serversText } from '../servers.js';

const sessionTimeoutMs = 6_000;
const drawn = Array.from({ length: 200 }, (_, seed) => serversOf(seed, { sessionTimeoutMs }));
const unlike = drawn.filter((servers) => servers.some((one) => one.maxSessionTimeoutMs !== undefined));

it('V2 servers of some runs differ in ticks and limits, as during a rolling change of the ensemble', () => {
  expect(unlike.length).toBeGreaterThan(50);
  expect(unlike.length).toBeLessThan(150);
  for (const servers of unlike) {
    expect(servers).toHaveLength(3);
    const limits = servers.map((one) => one.maxSessionTimeoutMs ?? sessionTimeoutMs);
    expect(Math.max(...limits)).toBe(sessionTimeoutMs);
    expect(Math.min(...limits)).toBeLessThan(sessionTimeoutMs);
    expect(Math.min(...limits)).toBeGreaterThanOrEqual(0.6 * sessionTimeoutMs);
  }
  expect(unlike.some((servers) => new Set(servers.map((one) => one.tickTimeMs)).size > 1)).toBe(true);
});

it('the other runs have servers that are all alike', () => {
  for (const servers of drawn.filter((one) => !unlike.includes(one)))
    expect(new Set(servers.map((one) => JSON.stringify(one)))).toEqual(new Set(['{"tickTimeMs":500}']));
});

it('the servers are the same for the same seed', () => {
  expect(serversOf(7, { sessionTimeoutMs })).toEqual(serversOf(7, { sessionTimeoutMs }));
});

it('the servers can be configured', () => {
  expect(serversText([{ tickTimeMs: 500 }, { tickTimeMs: 750, maxSessionTimeoutMs: 4_000 }])).toBe(
    'servers: tick 500 ms; tick 750 ms, sessions of at most 4000 ms',
  );
});
