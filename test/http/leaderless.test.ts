import { expect, it } from 'vitest';
import { LeaderlessTime } from '../../src/http/leaderless.js';

const elects = { isElector: true, inTouch: true, isLed: true, sessionTimeoutMs: 6_000 };

function timeOf(
  ...seen: readonly (readonly [number, Parameters<LeaderlessTime['see']>[0]])[]
): LeaderlessTime {
  const time = new LeaderlessTime();
  for (const [atMs, sight] of seen) time.see(sight, atMs);
  return time;
}

it('is what passes between a look that shows no leader and one that shows a leader', () => {
  const time = timeOf([0, elects], [1_000, { ...elects, isLed: false }]);
  expect(time.totalMs(1_000)).toBe(0);
  expect(time.totalMs(1_400)).toBe(400);
  time.see({ ...elects, isLed: false }, 1_500);
  time.see(elects, 2_000);
  expect(time.totalMs(9_000)).toBe(1_000);
});

it('is counted by the elector alone', () => {
  const standby = { ...elects, isElector: false, isLed: false };
  expect(timeOf([0, standby]).totalMs(60_000)).toBe(0);
  const chosen = timeOf([0, standby], [5_000, { ...elects, isLed: false }]);
  expect(chosen.totalMs(5_500)).toBe(500);
});

it('runs on from when no lease can last any more, where the elector is out of touch', () => {
  const cutOff = { ...elects, inTouch: false };
  const time = timeOf([0, elects], [10_000, cutOff], [11_000, cutOff]);
  expect(time.totalMs(16_000)).toBe(0);
  expect(time.totalMs(17_000)).toBe(1_000);
  time.see(cutOff, 18_000);
  time.loseSight(19_000);
  expect(time.totalMs(20_000)).toBe(4_000);
  time.see(elects, 21_000);
  expect(time.totalMs(50_000)).toBe(5_000);
});

it('knows nothing of the time in which the process stood still', () => {
  const time = timeOf([0, { ...elects, isLed: false }]);
  expect(time.totalMs(3_600_000)).toBe(35_000);
});
