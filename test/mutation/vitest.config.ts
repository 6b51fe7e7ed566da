/** Tests for mutation testing, of the kind that the environment names. */
import { defineConfig } from 'vitest/config';
import { alias } from '../../vitest.config.js';
import { kinds } from './kinds.js';

const kind = kinds[process.env.PETREL_MUTANTS ?? 'pure'];
if (kind === undefined) throw new Error(`PETREL_MUTANTS is one of ${Object.keys(kinds).join(', ')}`);

export default defineConfig({
  resolve: { alias },
  test: {
    name: 'embedded',
    include: [...kind.include],
    exclude: [...kind.exclude],
    ...(kind.needsServer ? { globalSetup: 'test/support/global-setup.ts' } : {}),
    // Loading the modules again for each test file costs more than the tests.
    isolate: false,
    // Stryker has a limit of its own, by how long the tests took without a mutant.
    testTimeout: 600_000,
  },
});
