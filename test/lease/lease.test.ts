import { describe, expect, it } from 'vitest';
import {
  lastsToRenewal,
  leaseFrom,
  noEvidence,
  pingIntervalMs,
  provenAlive,
  renewalIntervalMs,
  requestAnswered,
  resumptionSent,
  serverPatienceMs,
  sessionOpened,
  sessionResumed,
  writeCommitted,
} from '../../src/lease/lease.js';

const T = 4000;

describe('what a committed write proves', () => {
  it('nothing, when no sign of life was answered a quarter timeout before it was sent', () => {
    const evidence = requestAnswered(noEvidence, { sentAtMs: 100, answeredAtMs: 101 }, T);
    expect(writeCommitted(evidence, 1100, T).provenAtMs).toBe(Number.NEGATIVE_INFINITY);
  });

  it('the sending of the newest sign answered a quarter timeout before it was sent', () => {
    let evidence = requestAnswered(noEvidence, { sentAtMs: 100, answeredAtMs: 101 }, T);
    evidence = requestAnswered(evidence, { sentAtMs: 500, answeredAtMs: 501 }, T);
    expect(writeCommitted(evidence, 1101, T).provenAtMs).toBe(100);
    expect(writeCommitted(evidence, 1501, T).provenAtMs).toBe(500);
  });

  it('not a sign that was sent early but answered late: it may have arrived just before the write', () => {
    const evidence = requestAnswered(noEvidence, { sentAtMs: 100, answeredAtMs: 1400 }, T);
    expect(writeCommitted(evidence, 1500, T).provenAtMs).toBe(Number.NEGATIVE_INFINITY);
  });

  it('never less than was proven before, and nothing by the signs of an earlier connection', () => {
    let evidence = requestAnswered(noEvidence, { sentAtMs: 100, answeredAtMs: 101 }, T);
    evidence = writeCommitted(evidence, 1900, T);
    evidence = requestAnswered(evidence, { sentAtMs: 200, answeredAtMs: 201 }, T);
    evidence = sessionResumed(evidence, 150, 0);
    expect(writeCommitted(evidence, 9000, T).provenAtMs).toBe(150);
    expect(writeCommitted(sessionResumed(evidence, 50, 0), 9000, T).provenAtMs).toBe(100);
  });

  it('the handshake of its own connection, at once', () => {
    const evidence = sessionResumed(sessionOpened(100), 5000, 0);
    expect(writeCommitted(evidence, 5001, T).provenAtMs).toBe(5000);
  });
});

describe('what a handshake proves', () => {
  it('its own sending, when it opened the session', () => {
    expect(sessionOpened(100).provenAtMs).toBe(100);
  });

  it('nothing, when it took the session up again: a deposed leader vouches for sessions, too', () => {
    expect(sessionResumed(sessionOpened(100), 5000, 0).provenAtMs).toBe(100);
  });
});

describe('the requests that are remembered', () => {
  const answeredIn = (...sentAtMs: number[]) =>
    sentAtMs
      .reduce(
        (evidence, atMs) => requestAnswered(evidence, { sentAtMs: atMs, answeredAtMs: atMs }, T),
        noEvidence,
      )
      .answered.map((entry) => entry.sentAtMs);

  it('are the first of those that were sent within a hundredth of the timeout', () => {
    expect(answeredIn(100, 139, 140, 179, 180, 200, 220)).toEqual([100, 140, 180, 220]);
  });

  it('are not older than the timeout', () => {
    expect(answeredIn(99, 100, 1_000, T + 100)).toEqual([1_000, T + 100]);
    expect(answeredIn(100, 1_000, T + 100)).toEqual([100, 1_000, T + 100]);
  });

  it('are those of the current connection', () => {
    const evidence = requestAnswered(sessionOpened(0), { sentAtMs: 100, answeredAtMs: 101 }, T);
    expect(sessionResumed(evidence, 200, 0).answered).toEqual([]);
  });
});

describe('V2 servers that grant different timeouts', () => {
  it('V2 what is proven outlasts neither the timeout it was proven with nor the smaller one granted since', () => {
    const endsAtMs = (resumedAtMs: number) =>
      leaseFrom(sessionResumed(sessionOpened(1000), resumedAtMs, T / 2).provenAtMs, T / 2).endsAtMs;
    expect(endsAtMs(1500)).toBe(leaseFrom(1500, T / 2).endsAtMs);
    expect(endsAtMs(4000)).toBe(leaseFrom(1000, T).endsAtMs);
  });

  it('V2 what is proven is not changed by a longer timeout', () => {
    expect(sessionResumed(sessionOpened(1000), 1500, -T).provenAtMs).toBe(1000);
  });

  it('V2 a server that may have taken the session up unheard shortens the lease until a write is committed', () => {
    const resuming = resumptionSent(resumptionSent(sessionOpened(1000), 1200), 1900);
    expect(leaseFrom(provenAlive(resuming, T), T).endsAtMs).toBe(leaseFrom(1200, T / 2).endsAtMs);
    const answered = sessionResumed(resuming, 1900, 0);
    expect(provenAlive(answered, T)).toBe(provenAlive(resuming, T));
    expect(provenAlive(writeCommitted(answered, 2000, T), T)).toBe(1900);
    expect(provenAlive(resumptionSent(sessionOpened(1000), 9000), T)).toBe(1000);
  });
});

describe('A1 a lease to claim with', () => {
  const pinged = (...atMs: number[]) => {
    let evidence = sessionOpened(-10 * T);
    for (const sentAtMs of atMs) {
      evidence = requestAnswered(evidence, { sentAtMs, answeredAtMs: sentAtMs + 10 }, T);
    }
    return evidence;
  };

  it.each([0.4, 0.5, 0.6])('A1 does not rest on signs from before a stall of %s T', (stall) => {
    const before = -stall * T;
    const evidence = pinged(before - 0.25 * T, before, 0);
    expect(lastsToRenewal(evidence, 20, T)).toBe(false);
    expect(
      lastsToRenewal(
        requestAnswered(evidence, { sentAtMs: 0.2 * T, answeredAtMs: 0.2 * T + 10 }, T),
        0.25 * T + 20,
        T,
      ),
    ).toBe(true);
  });

  it.each([0.003, 0.05, 0.1])(
    'A1 is there for an idle node at any moment, at a round trip of %s T',
    (share) => {
      const roundTrip = share * T;
      for (let phase = 0; phase < 0.25; phase += 0.01) {
        const last = -phase * T - roundTrip;
        let evidence = sessionOpened(-10 * T);
        for (const sentAtMs of [last - 0.5 * T, last - 0.25 * T, last]) {
          evidence = requestAnswered(evidence, { sentAtMs, answeredAtMs: sentAtMs + roundTrip }, T);
        }
        expect(lastsToRenewal(evidence, 0, T), `phase ${phase}`).toBe(true);
      }
    },
  );

  it('A1 is there a quarter timeout after a stall, though requests from before it are answered with those from after', () => {
    let evidence = requestAnswered(noEvidence, { sentAtMs: 0, answeredAtMs: 1600 }, T);
    evidence = requestAnswered(evidence, { sentAtMs: 1601, answeredAtMs: 1603 }, T);
    expect(lastsToRenewal(evidence, 1603 + T / 4, T)).toBe(true);
  });

  it('A1 is there for a session that was just opened', () => {
    expect(lastsToRenewal(sessionOpened(-20), 0, T)).toBe(true);
  });
});

describe('a lease', () => {
  it('to claim with must outlast its first renewal', () => {
    const timeoutMs = 12_000;
    expect(lastsToRenewal(sessionOpened(0), 4_399, timeoutMs)).toBe(true);
    expect(lastsToRenewal(sessionOpened(0), 4_400, timeoutMs)).toBe(false);
  });

  it('is renewed each twelfth of the timeout, at a server that has a sixth of it to answer', () => {
    expect([renewalIntervalMs(6_000), serverPatienceMs(6_000), pingIntervalMs(6_000)]).toEqual([
      500, 1_000, 1_500,
    ]);
  });

  it('ends before the session can, with room to release', () => {
    const lease = leaseFrom(1000, T);
    expect(lease.endsAtMs).toBeLessThan(1000 + T / 1.1);
    expect(lease.releaseAtMs).toBeLessThan(lease.endsAtMs);
  });

  it('is never near its end while answers come quickly, whenever an idle node claims', () => {
    const roundTrip = T / 20;
    for (let phase = 0; phase < 1; phase += 0.01) {
      let evidence = sessionOpened(-10 * T);
      const answer = (sentAtMs: number) => {
        evidence = requestAnswered(evidence, { sentAtMs, answeredAtMs: sentAtMs + roundTrip }, T);
      };
      for (let ping = -3 + phase; ping < 0; ping += 1) answer(ping * pingIntervalMs(T));
      let sentAtMs = 0;
      while (sentAtMs < 5 * T) {
        evidence = writeCommitted(evidence, sentAtMs, T);
        answer(sentAtMs);
        sentAtMs += renewalIntervalMs(T);
        // The answer to the next renewal must arrive before the node begins to release.
        const { releaseAtMs } = leaseFrom(evidence.provenAtMs, T);
        expect(releaseAtMs - (sentAtMs + roundTrip)).toBeGreaterThan(0);
      }
    }
  });

  it('once a leadership is settled lasts through a stall of a quarter of the session timeout', () => {
    const roundTrip = T / 100;
    let evidence = sessionOpened(-10 * T);
    for (let sentAtMs = 0; sentAtMs < 3 * T; sentAtMs += renewalIntervalMs(T)) {
      // In the worst case, the stall begins just before the answer to this renewal arrives.
      const leftMs = leaseFrom(evidence.provenAtMs, T).releaseAtMs - (sentAtMs + roundTrip);
      if (sentAtMs > T) expect(leftMs).toBeGreaterThan(T / 4);
      evidence = writeCommitted(evidence, sentAtMs, T);
      evidence = requestAnswered(evidence, { sentAtMs, answeredAtMs: sentAtMs + roundTrip }, T);
    }
  });
});
