/** Formats the counts and measurements of a run as Markdown. */
import { table } from '../report.js';
import type { Burden, Measure, Standing } from './burden.js';
import { type Capacity, contentBytes, listed } from './capacity.js';
import { servers, sessionTimeoutMs } from './deployment.js';
import { endsOfMany, endsOfOne } from './ends.js';
import { type ManyGroups, manyGroupsEvents, type Sessions } from './many-groups.js';
import { type OneGroup, oneGroupEvents } from './one-group.js';
import { bytes, count, groups, nodes, seriesTable, type Unit, type Variable } from './series.js';

export interface Run {
  readonly one: readonly OneGroup[];
  readonly many: Readonly<Record<Sessions, readonly ManyGroups[]>>;
  /** Capacity of the servers. Null if it was not measured. */
  readonly capacity: Capacity | null;
  readonly command: string;
  readonly at: string;
  readonly machine: string;
}

const episodeMeasures: Readonly<Partial<Record<Measure, string>>> = {
  reads: 'Reads',
  commits: 'Committed writes, renewals apart',
  notifications: 'Notifications',
  bytesIn: 'Bytes to the servers',
  bytesOut: 'Bytes from the servers',
};

const idleNames: Readonly<Partial<Record<Measure, string>>> = {
  reads: 'reads',
  renewals: 'renewals',
  pings: 'pings',
  commits: 'other committed writes',
  bytesIn: 'bytes to the servers',
  bytesOut: 'bytes from the servers',
};

const standingNames: Readonly<Record<keyof Standing, string>> = {
  sessions: 'sessions',
  watches: 'watches',
  znodes: 'znodes',
  dataBytes: 'their paths and contents',
  snapshotBytes: 'a snapshot',
};

export function growthReport(run: Run): string {
  return [
    `\`${run.command}\`, ${run.at}: ${run.machine}. Session timeout ${sessionTimeoutMs / 1000} s, ${servers} servers.`,
    ...ofEnds(run),
    ...ofCapacity(run.capacity),
    ...ofOne(run.one),
    ...ofMany(run.many.own, 'Many groups, an agent and a session for each node of each'),
    ...ofMany(run.many.shared, 'Many groups, three agents that are in all of them'),
  ].join('\n\n');
}

function ofOne(runs: readonly OneGroup[]): string[] {
  if (runs.length === 0) return [];
  const events = keys(oneGroupEvents).map(
    (event): EventCounts => ({
      name: oneGroupEvents[event],
      counts: runs.map(({ nodes: size, events }) => ({ size, ...events[event].burden })),
    }),
  );
  const still = runs.map(({ nodes: size, idle, standing }) => ({ size, idle, standing }));
  return ['## One group of _N_ nodes', ...tables(events, still, nodes)];
}

function ofMany(runs: readonly ManyGroups[], title: string): string[] {
  if (runs.length === 0) return [];
  const events = keys(manyGroupsEvents).map(
    (event): EventCounts => ({
      name: manyGroupsEvents[event],
      counts: runs.map(({ groups: size, events }) => ({ size, ...events[event].burden })),
    }),
  );
  const still = runs.map(({ groups: size, idle, standing }) => ({ size, idle, standing }));
  return [`## ${title}`, ...tables(events, still, groups)];
}

interface EventCounts {
  readonly name: string;
  readonly counts: readonly (Burden & { readonly size: number })[];
}

interface Still {
  readonly size: number;
  readonly idle: Burden;
  readonly standing: Standing;
}

function tables(events: readonly EventCounts[], still: readonly Still[], variable: Variable): string[] {
  const ofEvents = keys(episodeMeasures).flatMap((measure) => {
    const all = events.map(({ name, counts }) => ({
      name,
      unit: unitOf(measure),
      points: counts.map((each) => ({ size: each.size, value: each[measure] })),
    }));
    return [`**${episodeMeasures[measure]}**`, seriesTable(all, variable)];
  });
  const idle = keys(idleNames).map((measure) => ({
    name: idleNames[measure] ?? measure,
    unit: unitOf(measure),
    points: still.map((each) => ({ size: each.size, value: each.idle[measure] })),
  }));
  const kept = keys(standingNames).map((what) => ({
    name: standingNames[what],
    unit: unitOf(what),
    points: still.map((each) => ({ size: each.size, value: each.standing[what] })),
  }));
  return [
    ...ofEvents,
    '**Idle, a second**',
    seriesTable(idle, variable),
    '**What the ensemble keeps**',
    seriesTable(kept, variable),
  ];
}

const inBytes: ReadonlySet<Measure | keyof Standing> = new Set([
  ...(['bytesIn', 'bytesOut', 'dataBytes', 'snapshotBytes'] as const),
]);

function unitOf(what: Measure | keyof Standing): Unit {
  return inBytes.has(what) ? 'bytes' : 'count';
}

function ofCapacity(capacity: Capacity | null): string[] {
  if (capacity === null) return [];
  const rows = [
    ['renewals: committed, two checks each', count(capacity.renewals)],
    [`changes: committed, ${contentBytes} bytes each`, count(capacity.changes)],
    [`reads of ${contentBytes} bytes`, count(capacity.reads)],
    [`reads of lists of ${count(listed)} names`, count(capacity.lists)],
    ['bytes of such lists', bytes(capacity.listBytes)],
    ['sessions opened', count(capacity.sessions)],
  ];
  return ['## What three servers do here', table(['a second, all three together', ''], rows)];
}

function ofEnds({ capacity, one, many }: Run): string[] {
  if (capacity === null) return [];
  const parts = [
    { of: 'Of one group', head: 'nodes', rows: endsOfOne(one, capacity) },
    {
      of: 'Of groups whose nodes are agents with sessions of their own',
      head: 'groups',
      rows: endsOfMany(many.own, capacity, 'own'),
    },
    {
      of: 'Of groups that three agents are in',
      head: 'groups',
      rows: endsOfMany(many.shared, capacity, 'shared'),
    },
  ].filter(({ rows }) => rows.length > 0);
  const sections = parts.flatMap(({ of, head, rows }) => [`**${of}**`, table(['', head], rows)]);
  return sections.length === 0 ? [] : ['## Where it ends here', ...sections];
}

function keys<Name extends string>(of: Readonly<Partial<Record<Name, unknown>>>): Name[] {
  const names: Name[] = [];
  for (const name in of) names.push(name);
  return names;
}
