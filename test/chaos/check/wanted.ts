/**
 * Computes the spans in which a slot should have a leader. These are the spans in which the configuration has
 * that many leaders, after enough nodes got a seat.
 */
import { z } from 'zod';
import type { Change, Run } from '../records.js';
import { parse } from './claims.js';

export interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

const configSchema = z.object({ leaders: z.int().default(1) });

/** Returns the spans in which the slot should have a leader, in chronological order. No span is empty. */
export function wantedSpans(slot: number, changes: readonly Change[], run: Run): Span[] {
  const seatedMs = Math.min(allSeatedMs(changes, run.leaders) ?? run.startedAtMs, run.endedAtMs);
  return spansWhere((leaders) => leaders >= slot, changes, run)
    .map(({ fromMs, toMs }) => ({ fromMs: Math.max(fromMs, seatedMs), toMs }))
    .filter(({ fromMs, toMs }) => fromMs < toMs);
}

/** Returns the spans in which the configuration has fewer leaders than this slot's number. */
export function unwantedSpans(slot: number, changes: readonly Change[], run: Run): Span[] {
  return spansWhere((leaders) => leaders < slot, changes, run);
}

function spansWhere(holds: (leaders: number) => boolean, changes: readonly Change[], run: Run): Span[] {
  const turns = [{ atMs: Number.NEGATIVE_INFINITY, leaders: run.leaders }, ...leadersSet(changes)];
  const spans: Span[] = [];
  turns.forEach(({ atMs: fromMs, leaders }, index) => {
    const toMs = turns[index + 1]?.atMs ?? run.endedAtMs;
    if (!holds(leaders) || fromMs >= toMs) return;
    const last = spans.at(-1);
    if (last?.toMs === fromMs) spans.splice(-1, 1, { fromMs: last.fromMs, toMs });
    else spans.push({ fromMs, toMs });
  });
  return spans;
}

/**
 * Returns the number of leaders after each change of the configuration. Ignores a configuration that cannot
 * be parsed.
 */
function leadersSet(changes: readonly Change[]): { atMs: number; leaders: number }[] {
  return changes.flatMap(({ op, path, data, atMs }) => {
    if (path !== '/config' || op === 'delete') return [];
    const config = parse(configSchema, data);
    return config === null ? [] : [{ atMs, leaders: config.leaders }];
  });
}

/** Returns the first instant at which `count` nodes had taken a seat. Undefined if fewer ever did. */
function allSeatedMs(changes: readonly Change[], count: number): number | undefined {
  const seats = changes.filter(({ op, path }) => op === 'create' && path.startsWith('/election/'));
  const nodes = new Set<string>();
  return seats.find(({ path }) => {
    nodes.add(path.slice('/election/'.length).replace(/-\d+$/, ''));
    return nodes.size === count;
  })?.atMs;
}
