/** Runs the benchmark's driver with one of its contenders, against the development server. */
import { beforeAll, expect, it } from 'vitest';
import { contenders } from '../../bench/contenders.js';
import { names } from '../../bench/goals.js';
import { withWorkshop } from '../../bench/measure.js';
import { handover } from '../../bench/scenarios/handover.js';
import { start } from '../../bench/scenarios/start.js';
import { ZooKeeper } from '../../bench/servers.js';
import { Samples } from '../../bench/statistics.js';
import { oncePerRun } from '../support/once-per-run.js';

// The build runs here, because it may take longer than a test's timeout on a busy machine.
beforeAll(() => oncePerRun('build'));

it('measures a planned handover', async () => {
  const agent = contenders.filter(({ name }) => name === names.agent);
  const samples = new Samples();
  const failures: string[] = [];
  await using zookeeper = await ZooKeeper.start('embedded');
  await withWorkshop(await oncePerRun('build'), agent, async (workshop, hub) => {
    const tournament = {
      contenders: agent,
      workshop,
      hub,
      zookeeper,
      etcd: null,
      samples,
      failures,
      say: () => {},
    };
    await handover(tournament, 'handover', { rounds: 1, settleMs: 0 });
    expect(failures).toEqual([]);
  });
  expect(samples.spread('handover', names.agent, 'handover')).toMatchObject({ count: 1 });
  expect(samples.spread('handover', names.agent, 'gap')).toMatchObject({ count: 1 });
  expect(samples.spread('handover', names.agent, 'cpu')?.median).toBeGreaterThan(0);
  expect(samples.spread('handover', names.limit, 'transition')?.count).toBeGreaterThan(1);
});

it('leaves out who cannot take part, and says why', async () => {
  const broken = contenders
    .filter(({ name }) => name === names.library)
    .map((one) => ({
      ...one,
      command: async () => ({ program: 'sh', args: ['-c', 'echo no >&2; exit 1'] }),
    }));
  const samples = new Samples();
  const failures: string[] = [];
  await using zookeeper = await ZooKeeper.start('embedded');
  await withWorkshop(await oncePerRun('build'), broken, async (workshop, hub) => {
    const tournament = { contenders: broken, workshop, hub, zookeeper, etcd: null, samples, failures };
    await start({ ...tournament, say: () => {} }, 'start', 2);
  });
  expect(failures).toEqual([
    'start: Petrel, library: a leader of Petrel, library is waited for, and all its processes have ended',
  ]);
  expect(samples.all).toEqual([]);
});
