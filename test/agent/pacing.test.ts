/** When a loop's next round begins. */
import { expect, it } from 'vitest';
import { Pacing } from '../../src/agent/pacing.js';
import { HandClock } from '../support/hand-clock.js';

/** Returns the instants at which the loop ended its sleep, as the test goes on. */
function sleeping(restMs = 1_000, dueAtMs: () => number | null = () => null) {
  const clock = new HandClock();
  const pacing = new Pacing(clock);
  const woken: number[] = [];
  pacing.begin();
  void pacing.sleep(restMs, dueAtMs).then(() => woken.push(clock.monotonicMs()));
  return { clock, pacing, woken };
}

it('wakes at once', async () => {
  const { clock, pacing, woken } = sleeping();
  pacing.wake();
  await clock.advance(1);
  expect(woken).toEqual([1]);
});

it('defers a round after a decision about others, whatever else is reported', async () => {
  const { clock, pacing, woken } = sleeping();
  pacing.wakeLater();
  pacing.wake();
  await clock.advance(19);
  expect(woken).toEqual([]);
  await clock.advance(1);
  expect(woken).toEqual([20]);
});

it.each(['before', 'after'])('does not defer a round that is urgent, reported %s', async (order) => {
  const { clock, pacing, woken } = sleeping();
  if (order === 'before') pacing.wakeNow();
  pacing.wakeLater();
  if (order === 'after') pacing.wakeNow();
  await clock.advance(1);
  expect(woken).toEqual([1]);
});

it('defers neither what is due by itself nor the end of a lease', async () => {
  const due = sleeping(5);
  due.pacing.wakeLater();
  await due.clock.advance(5);
  expect(due.woken).toEqual([5]);
  const lease = sleeping(1_000, () => 7);
  lease.pacing.wakeLater();
  await lease.clock.advance(7);
  expect(lease.woken).toEqual([7]);
});
