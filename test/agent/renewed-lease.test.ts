import { expect, it } from 'vitest';
import { RenewedLease } from '../../src/agent/leadership/renewed-lease.js';

/** Returns a store whose session was proven alive at 0, and a clock that the test moves. */
function fixture() {
  const store = { provenAliveAtMs: () => 0, negotiatedTimeoutMs: 10_000 };
  const clock = { nowMs: 0, monotonicMs: () => clock.nowMs };
  return { store, clock, lease: new RenewedLease(store, clock) };
}

it('V2 a lease that has ended becomes shorter with its session timeout, and the workload learns it', () => {
  const { store, clock, lease } = fixture();
  expect(lease.news(false)).toEqual({ releaseAtMs: 7_000, endsAtMs: 9_000 });
  clock.nowMs = 7_500;
  expect(lease.news(true)).toBeNull();
  store.negotiatedTimeoutMs = 9_000;
  expect(lease.news(true)).toEqual({ releaseAtMs: 6_300, endsAtMs: 8_100 });
  expect(lease.news(true)).toBeNull();
});

it('a lease that has ended is never revived', () => {
  const { store, clock, lease } = fixture();
  clock.nowMs = 7_000;
  const ended = lease.inForce;
  store.provenAliveAtMs = () => 6_000;
  expect(lease.inForce).toEqual(ended);
});

it('V2 a later proof under a smaller timeout shortens a lease that has ended, and does not revive it', () => {
  const { store, clock, lease } = fixture();
  clock.nowMs = 7_000;
  expect(lease.inForce).toEqual({ releaseAtMs: 7_000, endsAtMs: 9_000 });
  store.provenAliveAtMs = () => 6_500;
  store.negotiatedTimeoutMs = 2_000;
  expect(lease.inForce).toEqual({ releaseAtMs: 7_000, endsAtMs: 8_300 });
});
