import { defineConfig } from 'vitest/config';

/** Tests that touch neither a ZooKeeper nor the built command line. */
const unitTests = [
  'test/*.test.ts',
  'test/{core,strategies,config,hooks,embedded}/**/*.test.ts',
  'test/support/test/*.test.ts',
];

export default defineConfig({
  test: {
    // Forks, not threads: a child's parent-death signal follows the spawning thread.
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 60_000,
    projects: [
      { extends: true, test: { name: 'unit', include: unitTests } },
      {
        extends: true,
        test: {
          name: 'zookeeper',
          include: ['test/**/*.test.ts'],
          exclude: unitTests,
          globalSetup: 'test/support/global-setup.ts',
        },
      },
    ],
  },
});
