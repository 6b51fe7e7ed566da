import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Tests that touch neither a ZooKeeper nor the built command line, and leave nothing behind in their process. */
const unitTests = [
  'test/*.test.ts',
  'test/{core,doctor,lab,strategies,own-strategies,config,scores}/**/*.test.ts',
  'test/{embedded,page,what-if,simulation,exploration}/**/*.test.ts',
  'test/{support,chaos}/test/*.test.ts',
  'test/**/*.properties.test.ts',
];

/** Tests that start whatever they need themselves, and take neither the ZooKeeper of the run nor the built command line. */
const apartTests = [
  'test/agent/{cost,resignation,scores,shared-session}.test.ts',
  'test/guardian/{renewals,sentinel}.test.ts',
];

/** Take much longer than other files of their size, because they wait. */
const longWaits = [
  'agent/unseating',
  'dev/crash-points',
  'live/live-proof',
  'integration/running',
  'integration/random-cuts',
  'cli/acl',
  'cli/own-strategies',
  'cli/several',
  'probe/nodes',
];

/** Where no run before has timed the files the longest texts come first: one that waits would come last, and be waited for alone. */
class LongWaitsFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isLong = ({ moduleId }: TestSpecification) =>
      longWaits.some((name) => moduleId.endsWith(`/test/${name}.test.ts`));
    const rank = (file: TestSpecification) => (file.project.name === 'unit' ? 0 : isLong(file) ? 1 : 2);
    return sorted.toSorted((a, b) => rank(a) - rank(b));
  }
}

/** The package by its own name, for the examples that are tests themselves. */
const alias = {
  'petrel/testing': fileURLToPath(new URL('src/testing.ts', import.meta.url)),
  petrel: fileURLToPath(new URL('src/index.ts', import.meta.url)),
};

export default defineConfig({
  resolve: { alias },
  test: {
    // Forks, not threads: a child's parent-death signal follows the spawning thread.
    pool: 'forks',
    // More than a small machine has cores: most tests wait most of the time.
    maxWorkers: 3,
    // Leases and sessions run on while a machine starves its processes. Two leaders at once get no second try:
    // test/support/hook-events.ts words them so.
    retry: { count: process.env.CI ? 2 : 0, condition: /^(?![\s\S]*took over at)/ },
    sequence: { sequencer: LongWaitsFirst },
    testTimeout: 60_000,
    hookTimeout: 120_000,
    projects: [
      // What a file loads costs more than its tests, so the files of a process load it once.
      { extends: true, test: { name: 'unit', include: unitTests, isolate: false } },
      { extends: true, test: { name: 'apart', include: apartTests } },
      {
        extends: true,
        test: {
          name: 'zookeeper',
          include: ['test/**/*.test.ts', 'examples/**/*.test.ts'],
          exclude: [...unitTests, ...apartTests],
          globalSetup: 'test/support/global-setup.ts',
        },
      },
    ],
  },
});
