import { expect, it } from 'vitest';
import { ClaimGate } from '../../src/agent/leadership/claim-gate.js';

const T = 4_000;

/**
 * Returns a gate with a clock that the test moves. `lasts` is the store's answer when the gate queries the
 * lease.
 */
function fixture(lasts: boolean) {
  let nowMs = 0;
  const timers = new Set<() => void>();
  const clock = {
    monotonicMs: () => nowMs,
    timer: (_delayMs: number, fire: () => void) => {
      timers.add(fire);
      return () => timers.delete(fire);
    },
  };
  const gate = new ClaimGate({ clock, wake: () => {} });
  const isClosedAt = (atMs: number) => {
    nowMs = atMs;
    return gate.isClosed({ lastsToRenewal: () => lasts, negotiatedTimeoutMs: T });
  };
  return { gate, timers, isClosedAt };
}

it('A1 a claim whose lease lasts is never held back', () => {
  const { timers, isClosedAt } = fixture(true);
  expect(isClosedAt(0)).toBe(false);
  expect(timers.size).toBe(0);
});

it('A1 a claim is held back for half the session timeout at most, and one timer waits for it', () => {
  const { gate, timers, isClosedAt } = fixture(false);
  for (let atMs = 0; atMs < T / 2; atMs += T / 12) {
    // The agent also calls `isClosed` twice in a round.
    expect([isClosedAt(atMs), isClosedAt(atMs)]).toEqual([true, true]);
    expect(timers.size).toBe(1);
  }
  expect(isClosedAt(T / 2)).toBe(false);
  gate.close();
  expect(timers.size).toBe(0);
});

it('A1 a later stall holds a claim back again', () => {
  const { isClosedAt } = fixture(false);
  expect(isClosedAt(0)).toBe(true);
  expect(isClosedAt(10 * T)).toBe(true);
});
