/** The batch-job example on two nodes, through a handover and a crash. */
import { mkdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import type { PetrelProcess } from '../support/agents.js';
import { sharedZooKeeper } from '../support/ensemble.js';
import { useRunGroup } from '../support/run-group.js';
import { until } from '../support/until.js';

const script = fileURLToPath(new URL('../../examples/batch-job/batch-job', import.meta.url));
const group = useRunGroup(sharedZooKeeper);

it('runs once in each period, on whichever node leads', async () => {
  const directory = dirname(group().notesFile);
  const [done, jobs] = [join(directory, 'done'), join(directory, 'jobs')];
  await mkdir(done);
  const job = ['/bin/sh', '-c', 'echo "$PETREL_NODE $1" >>"$JOBS"', 'job'];
  const start = async (node: string): Promise<PetrelProcess> => {
    const env = { PETREL_NODE_ID: node, DONE: done, PERIOD: '1', JOBS: jobs };
    const started = await group().start(['--restart', 'always', '--', script, ...job], env);
    await started.logged(/^joined/);
    return started;
  };
  const run = async () => {
    const text = await readFile(jobs, 'utf8').catch(() => '');
    return text
      .split('\n')
      .filter(Boolean)
      .map((line) => line.split(' '));
  };
  const ranOn = (node: string) =>
    until(async () => (await run()).at(-1)?.[0] === node, {
      timeoutMs: 20_000,
      describe: `the job to run on ${node}`,
    });

  const a = await start('a');
  await ranOn('a');
  const b = await start('b');
  a.term();
  await ranOn('b');
  await a.exited;
  await start('c');
  b.signal('SIGKILL');
  await ranOn('c');
  const runs = (await run()).map(([node, period]) => ({ node, period: Number(period) }));
  // A node that is stopped during the job does not record its period. The next leader then runs it again.
  const isNext = (one: number, other: number) => {
    const [before, after] = [runs[one], runs[other]];
    if (before === undefined || after === undefined) return false;
    return after.period > before.period || (after.period === before.period && after.node !== before.node);
  };
  expect(runs.filter((_, index) => index > 0 && !isNext(index - 1, index))).toEqual([]);
});
