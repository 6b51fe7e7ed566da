/** Simulates a share of the seeds in a separate thread. */
import { parentPort, workerData } from 'node:worker_threads';
import { type Result, shareSchema } from './crowd.js';
import { drawsSeveralLeaders, drawsSiteRules, simulate } from './simulation.js';

const { first, from, step, to, lives } = shareSchema.parse(workerData);
let unhandled: string | null = null;
process.on('unhandledRejection', (error) => {
  unhandled ??= error instanceof Error ? (error.stack ?? error.message) : String(error);
});
for (const seed of seeds()) {
  const { setup: _, trace: __, faults, ...outcome } = await simulate(seed);
  const violation =
    outcome.violation ?? (unhandled === null ? null : { invariant: 0, what: `unhandled: ${unhandled}` });
  unhandled = null;
  const result: Result = { ...outcome, faults: faults.map(({ fault }) => fault.kind), violation };
  parentPort?.postMessage(result);
}

function* seeds(): Generator<number> {
  yield* first;
  for (let seed = from; seed <= to; seed += step) {
    if (isMeant(seed)) yield seed;
  }
}

function isMeant(seed: number): boolean {
  switch (lives) {
    case 'all':
      return true;
    case 'site-rules':
      return drawsSiteRules(seed);
    case 'several-leaders':
      return drawsSeveralLeaders(seed);
  }
}
