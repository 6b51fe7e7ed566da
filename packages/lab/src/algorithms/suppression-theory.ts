/**
 * The theory of suppression: how long nodes wait before they announce themselves, and how many of them
 * announce themselves or send a query before another node silences them.
 *
 * A wait lies between 0 and TS. Its density is proportional to e^(rate·t/TS). Rate 0 gives the uniform waits
 * of E. Schooler's chapter. With a positive rate, most waits are long. With a negative rate, most waits are
 * short. Times are given as shares of TS.
 */

/** Returns P, the probability that a wait is at most `share` of TS. */
function cumulative(share: number, rate: number): number {
  return rate === 0 ? share : Math.expm1(rate * share) / Math.expm1(rate);
}

function density(share: number, rate: number): number {
  return rate === 0 ? 1 : (rate * Math.exp(rate * share)) / Math.expm1(rate);
}

/** Draws a wait, as a share of TS. `drawn` is a random number between 0 and 1. */
export function drawWait(drawn: number, rate: number): number {
  return rate === 0 ? drawn : Math.log1p(drawn * Math.expm1(rate)) / rate;
}

/** Returns E[ts]: the mean wait, as a share of TS. */
export function meanWait(rate: number): number {
  return rate === 0 ? 1 / 2 : 1 / -Math.expm1(-rate) - 1 / rate;
}

/** Returns the mean of the shortest of `n` waits, as a share of TS. */
export function shortestWait(n: number, rate: number): number {
  return rate === 0 ? 1 / (n + 1) : integral((share) => (1 - cumulative(share, rate)) ** n, 0, 1);
}

/**
 * Returns the mean number of nodes that announce themselves while nodes are waiting: N·P(Δ) + ∫
 * p(t)·[1−(1−cP(t−Δ))^N] / (cP(t−Δ)) dt, where c = 1−l under correlated loss.
 */
export function suppressionMessages(
  n: number,
  delayMs: number,
  suppressMs: number,
  loss = 0,
  rate = 0,
): number {
  const announcing = (heard: number) => (heard < 1e-12 ? n : -Math.expm1(n * Math.log1p(-heard)) / heard);
  return unsilenced(n, delayMs / suppressMs, rate, (share) => announcing((1 - loss) * share));
}

/**
 * Returns the mean number of nodes that speak, if the first message from any node silences all others: N·P(Δ)
 * + ∫ N·p(t)·(1−P(t−Δ))^(N−1) dt.
 */
export function messagesUntilFirst(n: number, delayMs: number, suppressMs: number, rate = 0): number {
  return unsilenced(n, delayMs / suppressMs, rate, (share) => n * (1 - share) ** (n - 1));
}

/**
 * Returns the mean number of nodes that speak. Some speak before the first message can arrive, and others
 * speak later. `speaking` returns the number of nodes that are not silenced, given the share of waits that
 * ended at least Δ earlier.
 */
function unsilenced(n: number, delay: number, rate: number, speaking: (share: number) => number): number {
  if (delay >= 1) return n;
  const later = (share: number) => density(share, rate) * speaking(cumulative(share - delay, rate));
  return n * cumulative(delay, rate) + integral(later, delay, 1);
}

/** Integrates by Simpson's rule. */
export function integral(of: (x: number) => number, from: number, to: number): number {
  const steps = 2000;
  const step = (to - from) / steps;
  let sum = of(from) + of(to);
  for (let index = 1; index < steps; index += 1) sum += (index % 2 === 1 ? 4 : 2) * of(from + index * step);
  return (sum * step) / 3;
}
