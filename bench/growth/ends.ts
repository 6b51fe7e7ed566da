/**
 * Computes the sizes at which a limit is reached. The limits are the capacity of this machine's servers,
 * relative to the counts, and ZooKeeper's own limits.
 */

import type { Capacity } from './capacity.js';
import { sessionTimeoutMs } from './deployment.js';
import { lawOf, type Point, sizeWhere } from './law.js';
import { mostGroupsInSession, mostSeatsInFrame } from './limits.js';
import type { ManyGroups, Sessions } from './many-groups.js';
import type { OneGroup } from './one-group.js';
import { count, groups, nodes, type Variable } from './series.js';

type Row = readonly [string, string];

/** Share of the servers' capacity that may be used while nothing happens. */
const idleShare = 0.5;
/** Time within which the servers must answer the reads of a planned handover. */
const handoverSeconds = 1;
const timeoutSeconds = sessionTimeoutMs / 1000;
const idLengths = [10, 40] as const;
const rootLengths = [25, 50, 100] as const;

/** Returns one row for each limit of a single group. Returns no rows if nothing was counted. */
export function endsOfOne(runs: readonly OneGroup[], capacity: Capacity): Row[] {
  if (runs.length === 0) return [];
  const where = (value: (run: OneGroup) => number, most: number) =>
    sizeText(
      runs.map((run) => ({ size: run.nodes, value: value(run) })),
      most,
      nodes,
    );
  return [
    ['idle: half of the reads', where(({ idle }) => idle.reads, capacity.reads * idleShare)],
    ['idle: half of the bytes', where(({ idle }) => idle.bytesOut, capacity.listBytes * idleShare)],
    [
      'a planned handover: 1 s of reads',
      where(({ events }) => events.handover.burden.reads, capacity.reads * handoverSeconds),
    ],
    [
      'all join at once: a session timeout of bytes',
      where(({ events }) => events.joinAll.burden.bytesOut, capacity.listBytes * timeoutSeconds),
    ],
    [
      'the ensemble restarts: a quarter of a session timeout of reads',
      where(({ events }) => events.restart.burden.reads, (capacity.reads * timeoutSeconds) / 4),
    ],
    ...idLengths.map(
      (length): Row => [
        `the list of seats is longer than jute.maxbuffer, node ids having ${length} characters`,
        count(mostSeatsInFrame(length)),
      ],
    ),
  ];
}

/** Returns one row for each limit of many groups. Returns no rows if nothing was counted. */
export function endsOfMany(runs: readonly ManyGroups[], capacity: Capacity, sessions: Sessions): Row[] {
  if (runs.length === 0) return [];
  const where = (value: (run: ManyGroups) => number, most: number) =>
    sizeText(
      runs.map((run) => ({ size: run.groups, value: value(run) })),
      most,
      groups,
    );
  return [
    ['idle: half of the reads', where(({ idle }) => idle.reads, capacity.reads * idleShare)],
    ['idle: half of the renewals', where(({ idle }) => idle.renewals, capacity.renewals * idleShare)],
    [
      'what leads a third dies: a session timeout of reads',
      where(({ events }) => events.thirdDies.burden.reads, capacity.reads * timeoutSeconds),
    ],
    [
      'what leads a third dies: a session timeout of changes',
      where(({ events }) => events.thirdDies.burden.commits, capacity.changes * timeoutSeconds),
    ],
    [
      'the ensemble restarts: a quarter of a session timeout of reads',
      where(({ events }) => events.restart.burden.reads, (capacity.reads * timeoutSeconds) / 4),
    ],
    ...(sessions === 'own' ? [] : rootLengths.map(endOfSession)),
  ];
}

function endOfSession(length: number): Row {
  const what = `the end of an agent's session is more than servers read back from their logs, roots having ${length} characters`;
  return [what, count(mostGroupsInSession(length, idLengths[0]))];
}

function sizeText(points: readonly Point[], most: number, { straightWithin }: Variable): string {
  const size = sizeWhere(lawOf(points, straightWithin), most);
  return Number.isFinite(size) ? count(Number(size.toPrecision(2))) : 'never';
}
