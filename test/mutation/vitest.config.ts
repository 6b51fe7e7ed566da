/** Tests for mutation testing: those that are pure. They need no ZooKeeper and no processes. */
import { defineConfig } from 'vitest/config';
import { alias } from '../../vitest.config.js';

export default defineConfig({
  resolve: { alias },
  test: {
    include: ['test/{core,lease,slots,strategies}/**/*.test.ts'],
    // These try whole state spaces and hundreds of simulated hours. One run takes longer than all other tests
    // together.
    exclude: ['test/core/{convergence,life,noise}.test.ts'],
    // Loading the modules again for each test file costs more than the tests.
    isolate: false,
    // Stryker has a limit of its own, by how long the tests took without a mutant.
    testTimeout: 600_000,
  },
});
