import { expect, it } from 'vitest';
import { harmless } from './harmless.js';
import { hunt } from './hunt.js';
import { sabotages } from './index.js';

/** The signal is never aborted, so that the test does not depend on the machine's load. */
const { signal } = new AbortController();

it('a sabotage is hunted, and a harmless one is not caught', async () => {
  const [caught] = sabotages.filter(({ name }) => name === 'lease renewed with reads');
  if (caught === undefined) throw new Error('no such sabotage');
  const seeds = { from: 1, to: 5 };
  // The seed of a scripted run is tried before all other seeds.
  expect(await hunt({ sabotage: caught, known: [], seeds, signal })).toMatchObject({ seed: 5 });
  expect(await hunt({ sabotage: harmless, known: [], seeds, signal })).toBeNull();
});
