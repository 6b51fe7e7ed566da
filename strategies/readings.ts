/** Turns scores into a reading for each candidate, with text that explains the reading to operators. */
import type { Score } from '../src/model/scores.js';
import type { Candidate } from '../src/model/strategy.js';
import type { Reading } from './criteria.js';
import type { Survey } from './survey.js';

type Readings = ReadonlyMap<string, Reading>;

/** Returns the readings of all candidates for a score that nodes report. */
export function reported(candidates: readonly Candidate[], name: string): Readings {
  const reading = (value: Score | undefined): Reading =>
    value === undefined
      ? { value: null, missing: 1, text: `it reports no ${name}` }
      : { value, missing: 0, text: `${name} = ${shown(value)}` };
  return new Map(candidates.map(({ node, scores }) => [node, reading(scores.get(name))]));
}

/** Scores that are computed from round-trip times. A lower value is better for each of them. */
export const computed = {
  consensus: (surveys: ReadonlyMap<string, Survey>) => each(surveys, consensus),
  latency: (surveys: ReadonlyMap<string, Survey>) => each(surveys, latency),
  'worst-case': (surveys: ReadonlyMap<string, Survey>) => each(surveys, worstCase),
} satisfies Record<string, (surveys: ReadonlyMap<string, Survey>) => Readings>;

export type Computed = keyof typeof computed;

function each(surveys: ReadonlyMap<string, Survey>, read: (survey: Survey) => Reading): Readings {
  return new Map([...surveys].map(([node, survey]) => [node, read(survey)]));
}

function consensus({ quorum }: Survey): Reading {
  const { needs, of, ms } = quorum;
  if (ms === null) return withoutQuorum(quorum);
  return { value: exact(ms), missing: 0, text: `a quorum, ${needs} of ${of}, answers within ${shownMs(ms)}` };
}

function latency({ quorum, clients, isLoadUnknown }: Survey): Reading {
  if (quorum.ms === null) return withoutQuorum(quorum);
  const gap = gapText(clients.missing);
  const missing = clients.missing.length;
  if (clients.ms === null) return { value: null, missing, text: `its latency for clients is unknown${gap}` };
  const sumMs = quorum.ms + clients.ms;
  const spread = isLoadUnknown ? ' (assumed evenly spread, because no node reports requests)' : '';
  const parts = `quorum ${shownMs(quorum.ms)} + clients ${shownMs(clients.ms)}${spread}${gap}`;
  return { value: exact(sumMs), missing, text: `an average client is ${shownMs(sumMs)} away: ${parts}` };
}

function worstCase({ quorum, farthest }: Survey): Reading {
  if (quorum.ms === null) return withoutQuorum(quorum);
  const { ms, node, missing } = farthest;
  const sumMs = quorum.ms + ms;
  const parts = `quorum ${shownMs(quorum.ms)} + client at ${node} ${shownMs(ms)}${gapText(missing)}`;
  return {
    value: exact(sumMs),
    missing: missing.length,
    text: `the farthest client is ${shownMs(sumMs)} away: ${parts}`,
  };
}

function withoutQuorum({ needs, of, reached }: Survey['quorum']): Reading {
  const text = `no quorum (${needs} of ${of} nodes): known round trips reach only ${reached} of them, including the node itself`;
  return { value: null, missing: needs - reached, text };
}

function gapText(missing: readonly string[]): string {
  const [first] = missing;
  if (first === undefined) return '';
  const rest = missing.length === 1 ? '' : ` and ${missing.length - 1} more`;
  return `, with no known round trip to ${first}${rest}`;
}

/**
 * Rounds to the nearest nanosecond, so that sums of the same parts are equal in any order. Smaller
 * differences are rounding errors and not differences in time.
 */
function exact(ms: number): number {
  return Math.round(ms * 1e6) / 1e6;
}

function shownMs(ms: number): string {
  return `${shown(ms)} ms`;
}

function shown(value: Score): string {
  return typeof value === 'bigint' || Number.isInteger(value)
    ? String(value)
    : String(Number(value.toFixed(2)));
}
