/**
 * The effect of loss on announcements that a leader repeats every TA. R = N−1 is the number of receivers, l
 * the loss, and K = ⌊TL/TA⌋. A receiver gives up the leader after it has lost K announcements in a row.
 * Formulas marked as derived are not in the sources available to this project.
 */
import { type Conditions, listenMs } from '../conditions.js';

/**
 * Returns the mean number of announcements that are lost before one arrives, if all receivers lose the same
 * announcements.
 */
export function lostInRow(loss: number): number {
  return loss / (1 - loss);
}

/**
 * Returns A, the mean number of announcements until each of R receivers has heard one, if losses are
 * independent. E. Schooler's chapter gives A as an alternating sum of binomials. This function instead sums
 * P(some receiver has heard none of k announcements) over all k, because these terms do not alternate in
 * sign.
 */
export function attemptsUntilAllHear(receivers: number, loss: number): number {
  if (loss === 0 || receivers === 0) return receivers === 0 ? 0 : 1;
  let attempts = 0;
  for (let k = 0; k < 100_000; k += 1) {
    const someMissing = -Math.expm1(receivers * Math.log1p(-(loss ** k)));
    if (someMissing < 1e-15) break;
    attempts += someMissing;
  }
  return attempts;
}

/**
 * Returns A, computed with the formula that the chapter prints. This formula is exact for few receivers and
 * useless for many.
 */
export function attemptsAsPrinted(receivers: number, loss: number): number {
  let sum = 0;
  for (let i = 1; i <= receivers; i += 1) {
    sum += ((-1) ** (i + 1) * binomial(receivers, i)) / (1 - loss ** i);
  }
  return sum;
}

/**
 * Returns Q(i, n, r) for all i from 0 to n: the probability that exactly i of n receivers have heard an
 * announcement after r rounds, if losses are independent. Derived by recurrence over the rounds: if j
 * receivers have heard an announcement before a round, then exactly i−j of the other n−j must hear one in
 * this round.
 */
export function heardShares(n: number, rounds: number, loss: number): number[] {
  let shares = Array.from({ length: n + 1 }, (_, i): number => (i === 0 ? 1 : 0));
  for (let round = 0; round < rounds; round += 1) {
    shares = shares.map((_, i) => {
      const from = shares.slice(0, i + 1);
      return from.reduce((sum, share, j) => sum + share * hearing(n - j, i - j, loss), 0);
    });
  }
  return shares;
}

/** Returns the probability that exactly `hear` of `missing` receivers hear one announcement. */
function hearing(missing: number, hear: number, loss: number): number {
  return binomial(missing, hear) * (1 - loss) ** hear * loss ** (missing - hear);
}

/**
 * Returns the mean number of rounds until all receivers have heard an announcement: the sum of 1 − Q(n, n, r)
 * over all r. Derived.
 */
export function averageRounds(n: number, loss: number): number {
  let sum = 0;
  for (let rounds = 0; ; rounds += 1) {
    const missing = 1 - (heardShares(n, rounds, loss)[n] ?? 0);
    if (missing < 1e-9) return sum;
    sum += missing;
  }
}

function binomial(n: number, k: number): number {
  let product = 1;
  for (let i = 1; i <= k; i += 1) product *= (n - k + i) / i;
  return product;
}

/** Returns the mean extra time, due to loss, until all nodes have heard an announcement by the new leader. */
export function lossDelayMs({ nodes, loss, correlated, announceMs }: Conditions): number {
  if (loss === 0) return 0;
  return announceMs * (correlated ? lostInRow(loss) : attemptsUntilAllHear(nodes - 1, loss) - 1);
}

/** Returns the number of receivers whose losses are independent. */
function independentReceivers({ nodes, correlated }: Conditions): number {
  return correlated ? 1 : nodes - 1;
}

/** Returns the probability that some receiver has heard none of the last `lost` announcements. */
function someMissed(given: Conditions, lost: number): number {
  return 1 - (1 - given.loss ** lost) ** independentReceivers(given);
}

/**
 * Returns the share of time in which the state is inconsistent: some node follows no leader, or follows the
 * wrong one. Derived: the state is inconsistent while some receiver has heard nothing for TL. At any instant,
 * the preceding interval of length TL contains K or K+1 announcements. It contains K+1 for a share TL/TA − K
 * of the time.
 */
export function inconsistentShare(given: Conditions): number {
  const { announceMs } = given;
  const periods = listenMs(given) / announceMs;
  const lost = Math.floor(periods);
  const part = periods - lost;
  return part * someMissed(given, lost + 1) + (1 - part) * someMissed(given, lost);
}

/**
 * Returns the number of false departures per second. A false departure is an instant at which the first
 * receiver gives up a leader that is alive. Derived: for one receiver, the number is (1−l)·l^K per TA. For
 * several receivers, an instant counts only if no receiver had given up just before. At an instant that
 * counts, some receiver has lost the last K announcements. If TL is a multiple of TA, no receiver had lost K
 * in a row one announcement earlier. Otherwise, no receiver has lost the last K+1.
 */
export function falseDeparturesPerS(given: Conditions): number {
  const { loss, announceMs } = given;
  const periods = listenMs(given) / announceMs;
  const lost = Math.floor(periods);
  const receivers = independentReceivers(given);
  const none = (share: number) => (1 - share) ** receivers;
  const departing =
    periods === lost
      ? none(loss ** lost) - none((2 - loss) * loss ** lost)
      : none(loss ** (lost + 1)) - none(loss ** lost);
  return (departing * 1000) / announceMs;
}

/** Whether TL is so long that false departures have no visible effect on a mean. */
export function isPatient(given: Conditions): boolean {
  const { loss, announceMs } = given;
  return loss === 0 ? listenMs(given) >= announceMs : inconsistentShare(given) < 0.01;
}
