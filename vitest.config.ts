import { fileURLToPath } from 'node:url';
import { defineConfig, type TestProjectConfiguration } from 'vitest/config';
import { projectFiles } from './test/projects.js';

/**
 * Packages by their names: for the examples that are tests themselves, and for what one takes of the other.
 */
export const alias = {
  'petrel-lab': fileURLToPath(new URL('packages/lab/src/index.ts', import.meta.url)),
  'petrel/internals': fileURLToPath(new URL('src/internals.ts', import.meta.url)),
  'petrel/testing': fileURLToPath(new URL('src/testing.ts', import.meta.url)),
  petrel: fileURLToPath(new URL('src/index.ts', import.meta.url)),
};

/**
 * Time after which a test counts as hanging: waits for a condition fail long before
 * (`test/support/until.ts`).
 */
const hangMs = 600_000;

function project(name: keyof typeof projectFiles): TestProjectConfiguration {
  return { extends: true, test: { name, ...projectFiles[name] } };
}

export default defineConfig({
  resolve: { alias },
  test: {
    // Forks, not threads: a child's parent-death signal follows the spawning thread.
    pool: 'forks',
    // What a file loads costs more than its tests, so the files of a process load it once.
    isolate: false,
    // More than a small machine has cores: most tests wait most of the time.
    maxWorkers: 3,
    globalSetup: 'test/support/global-setup.ts',
    setupFiles: 'test/support/setup.ts',
    testTimeout: hangMs,
    hookTimeout: hangMs,
    reporters: process.stdout.isTTY ? ['default'] : ['dot'],
    projects: [project('embedded'), project('real'), project('rest')],
  },
});
