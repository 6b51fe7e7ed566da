import { describe, expect, it } from 'vitest';
import { heard, inTouchSinceMs, noTouch, type Touch } from '../../src/core/touch.js';

const timeoutMs = 9_000;

function afterAnswersAt(...instants: readonly number[]): Touch {
  return instants.reduce((touch, atMs) => heard(touch, atMs, timeoutMs), noTouch);
}

describe('a session is in touch', () => {
  it('since its first answer, while none is long after the one before', () => {
    const touch = afterAnswersAt(100, 2_350, 5_350);
    expect(inTouchSinceMs(touch, 8_350, timeoutMs)).toBe(100);
  });

  it('since the end of the last long silence', () => {
    expect(inTouchSinceMs(afterAnswersAt(100, 3_101, 4_000), 4_000, timeoutMs)).toBe(3_101);
  });

  it('not at all while it is silent, or was never answered', () => {
    expect(inTouchSinceMs(afterAnswersAt(100), 3_101, timeoutMs)).toBe(3_101);
    expect(inTouchSinceMs(noTouch, 5, timeoutMs)).toBe(5);
  });
});
