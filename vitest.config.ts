import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

/** Tests that touch neither a ZooKeeper nor the built command line. */
const unitTests = [
  'test/*.test.ts',
  'test/{core,strategies,config,hooks,embedded}/**/*.test.ts',
  'test/support/test/*.test.ts',
];

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
    // Twice the cores of a small machine: most tests wait most of the time.
    maxWorkers: 4,
    testTimeout: 30_000,
    hookTimeout: 60_000,
    projects: [
      { extends: true, test: { name: 'unit', include: unitTests } },
      {
        extends: true,
        test: {
          name: 'zookeeper',
          include: ['test/**/*.test.ts', 'examples/**/*.test.ts'],
          exclude: unitTests,
          globalSetup: 'test/support/global-setup.ts',
        },
      },
    ],
  },
});
