/** The names of the reproductions. The command line knows them without loading the reproductions. */

export const reproductionTitles = {
  chapter5: 'announce–listen: suppression, leadership delay, the next leader',
  suppression: 'announce–listen: exponential waits, Suppress-then-Query',
  rounds: 'announce–listen: the recurrence Q(i, n, r), avg_rounds',
  joiners: 'announce–listen: late joiners under loss, Query',
  departures: 'announce–listen: false departures, inconsistent state, several Byes',
  failures: 'two crashes, partitions, POLE’s Algorithm 1 under partitions',
  rings: 'rings, synchronous rings, Bully',
  pole: 'POLE: latencies by data centre and strategy',
} as const;

export type ReproductionName = keyof typeof reproductionTitles;

export const reproductionNames: readonly ReproductionName[] = [
  'chapter5',
  'suppression',
  'rounds',
  'joiners',
  'departures',
  'failures',
  'rings',
  'pole',
];
