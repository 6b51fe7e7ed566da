/** The inequalities that configured times must satisfy, and the check that they do. */
import { durationMs } from './duration.js';
import type { GroupConfig } from './group-config.js';

interface Length {
  readonly name: string;
  readonly text: string;
}

/**
 * Returns one line for each violated inequality, including the values. Returns an empty list if none is
 * violated.
 */
export function contradictions(config: GroupConfig): string[] {
  const { timeouts, backoff } = config;
  const timeout = (name: keyof GroupConfig['timeouts']): Length => ({
    name: `timeouts.${name}`,
    text: timeouts[name],
  });
  const zero: Length = { name: '0', text: '0s' };
  return [
    ...(['claim', 'takeover', 'release', 'fence', 'grace'] as const).map((name) =>
      less(zero, timeout(name), 'every timeout must be greater than 0'),
    ),
    less(timeout('prepare'), timeout('claim'), 'the prepare hook runs within the claim timeout'),
    atMost(
      timeout('grace'),
      timeout('release'),
      'the grace period after a stop signal is part of the hook’s own timeout',
    ),
    less(
      zero,
      { name: 'stabilization.interval', text: config.stabilization.interval },
      'scores are compared at an interval, not continuously',
    ),
    less(zero, { name: 'backoff.base', text: backoff.base }, 'a failed node is not retried at once'),
    atMost(
      { name: 'backoff.base', text: backoff.base },
      { name: 'backoff.max', text: backoff.max },
      'the backoff grows from base to max',
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
  return `${a.name} ${sign} ${b.name} is required, but found ${a.text} and ${b.text} (${why})`;
}
