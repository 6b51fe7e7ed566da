import { expect, it } from 'vitest';
import { fencePauseMs } from '../../src/agent/elector/fencer.js';
import { longestPauseMs } from '../../src/zookeeper/reconnecting.js';

it('A8 a fence that fails is tried again after ever longer pauses', () => {
  const pauses = [1, 2, 3, 4, 5, 6, 7].map((count) => fencePauseMs(3_000, count));
  expect(pauses).toEqual([3_000, 6_000, 12_000, 24_000, 48_000, 60_000, 60_000]);
  expect([1, 2].map((count) => fencePauseMs(90_000, count))).toEqual([90_000, 90_000]);
});

it('A8 servers that cannot be had are tried at ever longer intervals, longer yet without a session to save', () => {
  const pauses = (timeoutMs: number, hasSession: boolean) =>
    [1, 2, 3, 4, 5, 9].map((rounds) => longestPauseMs(timeoutMs, hasSession, rounds));
  expect(pauses(30_000, false)).toEqual([1_000, 2_000, 2_000, 2_000, 2_000, 2_000]);
  expect(pauses(30_000, true)).toEqual([1_000, 2_000, 2_000, 2_000, 2_000, 2_000]);
  expect(pauses(4_000, false)).toEqual([1_000, 2_000, 2_000, 2_000, 2_000, 2_000]);
  expect(pauses(4_000, true)).toEqual([1_000, 1_000, 1_000, 1_000, 1_000, 1_000]);
});
