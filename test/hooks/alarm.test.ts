import { expect, it } from 'vitest';
import { Alarm } from '../../src/hooks/alarm.js';
import { HandClock } from '../support/hand-clock.js';

class CountingClock extends HandClock {
  timers = 0;

  override timer(delayMs: number, fire: () => void): () => void {
    this.timers += 1;
    return super.timer(delayMs, fire);
  }
}

it('an alarm that is postponed keeps its timer, and rings at its latest instant', async () => {
  const clock = new CountingClock();
  const alarm = new Alarm(clock);
  const rings: number[] = [];
  for (const atMs of [100, 100, 150, 200]) alarm.set(atMs, () => rings.push(clock.monotonicMs()));
  expect([clock.timers, alarm.atMs]).toEqual([1, 200]);
  await clock.advance(300);
  expect([rings, alarm.atMs]).toEqual([[200], Number.POSITIVE_INFINITY]);
});

it('an alarm that is brought forward rings sooner, and only once', async () => {
  const clock = new CountingClock();
  const alarm = new Alarm(clock);
  const rings: number[] = [];
  for (const atMs of [200, 100]) alarm.set(atMs, () => rings.push(clock.monotonicMs()));
  await clock.advance(300);
  expect(rings).toEqual([100]);
});

it.each([
  ['cleared', (alarm: Alarm) => alarm.clear()],
  ['set for never', (alarm: Alarm) => alarm.set(Number.POSITIVE_INFINITY, () => {})],
])('an alarm that is %s leaves no timer', (_what, stop) => {
  const clock = new CountingClock();
  const alarm = new Alarm(clock);
  alarm.set(100, () => {});
  stop(alarm);
  expect([clock.armed, alarm.atMs]).toEqual([0, Number.POSITIVE_INFINITY]);
});
