import { describe, expect, it } from 'vitest';
import { answered, inTouchSinceMs, noTouch, type Touch } from '../../src/lease/touch.js';

const timeoutMs = 10_000;

function afterAnswersAt(...instants: readonly number[]): Touch {
  return instants.reduce((touch, atMs) => answered(touch, atMs, timeoutMs), noTouch);
}

describe('a session is in touch', () => {
  it('since its first answer, while none is long after the one before', () => {
    const touch = afterAnswersAt(100, 2_600, 5_400);
    expect(inTouchSinceMs(touch, 8_200, timeoutMs)).toBe(100);
  });

  it('also after the longest silence that does not break the contact', () => {
    const touch = answered(noTouch, 0, 4_000);
    expect([1_120, 1_121].map((atMs) => inTouchSinceMs(touch, atMs, 4_000))).toEqual([0, 1_121]);
  });

  it('since the end of the last long silence', () => {
    expect(inTouchSinceMs(afterAnswersAt(100, 2_901, 4_000), 4_000, timeoutMs)).toBe(2_901);
  });

  it('not at all while it is silent, or was never answered', () => {
    expect(inTouchSinceMs(afterAnswersAt(100), 2_901, timeoutMs)).toBe(2_901);
    expect(inTouchSinceMs(noTouch, 5, timeoutMs)).toBe(5);
  });
});
