/** The names of the reproductions. The command line can list them without loading the reproductions. */

const titled = [
  ['chapter5', 'announce–listen: suppression, leadership delay, the next leader'],
  ['suppression', 'announce–listen: exponential waits, Suppress-then-Query'],
  ['rounds', 'announce–listen: the recurrence Q(i, n, r), avg_rounds'],
  ['joiners', 'announce–listen: late joiners under loss, Query'],
  ['departures', 'announce–listen: false departures, inconsistent state, several Byes'],
  ['failures', 'two crashes, partitions, POLE’s Algorithm 1 under partitions'],
  ['rings', 'rings, synchronous rings, Bully'],
  ['pole', 'POLE: latencies by data centre and strategy'],
] as const;

export type ReproductionName = (typeof titled)[number][0];

export const reproductionNames = titled.map(([name]) => name);

export const reproductionTitles: ReadonlyMap<ReproductionName, string> = new Map(titled);
