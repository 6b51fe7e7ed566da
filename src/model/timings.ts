/** Lengths of time that contradict each other, and the inequalities that say so. */
import { durationMs } from './duration.js';
import type { GroupConfig } from './group-config.js';

interface Length {
  readonly name: string;
  readonly text: string;
}

/** One line for each inequality that does not hold, with the values put in; empty when all hold. */
export function contradictions(config: GroupConfig): string[] {
  const { timeouts, backoff } = config;
  const timeout = (name: keyof GroupConfig['timeouts']): Length => ({
    name: `timeouts.${name}`,
    text: timeouts[name],
  });
  const zero: Length = { name: '0', text: '0s' };
  return [
    ...(['claim', 'takeover', 'release', 'fence', 'grace'] as const).map((name) =>
      less(zero, timeout(name), 'every limit is longer than nothing'),
    ),
    less(timeout('prepare'), timeout('claim'), 'the prepare hook runs within the time to claim'),
    atMost(timeout('grace'), timeout('release'), 'a hook that is told to stop is part of its own limit'),
    less(
      zero,
      { name: 'stabilization.interval', text: config.stabilization.interval },
      'scores are compared now and then, not all the time',
    ),
    less(zero, { name: 'backoff.base', text: backoff.base }, 'a failed node is not tried again at once'),
    atMost(
      { name: 'backoff.base', text: backoff.base },
      { name: 'backoff.max', text: backoff.max },
      'the back-off grows from base to max',
    ),
  ].filter((line) => line !== null);
}

function less(a: Length, b: Length, why: string): string | null {
  return durationMs(a.text) < durationMs(b.text) ? null : inequality(a, '<', b, why);
}

function atMost(a: Length, b: Length, why: string): string | null {
  return durationMs(a.text) <= durationMs(b.text) ? null : inequality(a, '<=', b, why);
}

function inequality(a: Length, sign: string, b: Length, why: string): string {
  return `${a.name} ${sign} ${b.name} does not hold: ${a.text} against ${b.text} (${why})`;
}
