import { describe, expect, it } from 'vitest';
import { hunt } from './hunt.js';
import { sabotages } from './index.js';
import { readKnownSeeds } from './known-seeds.js';
import { editsOf, type Sabotage, sabotagedText } from './sabotage.js';

/** However busy the machine is. */
const endless = new AbortController().signal;
const huntMs = 200_000;

/** Changes nothing. */
const harmless: Sabotage = {
  name: 'harmless',
  rule: 'none',
  file: 'src/core/lease.ts',
  find: 'const leaseShare = 0.9;',
  replace: 'const leaseShare = 9 / 10;',
};

describe('sabotages', () => {
  it('are many, each with a name of its own, and each still changes what it is to change', () => {
    expect(sabotages.length).toBeGreaterThanOrEqual(45);
    expect(new Set(sabotages.map(({ name }) => name)).size).toBe(sabotages.length);
    for (const sabotage of sabotages) {
      for (const { file } of editsOf(sabotage)) expect(sabotagedText(sabotage, file)).toBeTypeOf('string');
    }
  });

  it('that do not fit the code any more are an error', () => {
    const stale = { ...harmless, find: 'const leaseShare = 0.8;' };
    expect(() => sabotagedText(stale, stale.file)).toThrow('sabotage "harmless" is stale');
    const vague = { ...harmless, find: 'export ' };
    expect(() => sabotagedText(vague, vague.file)).toThrow(/stands \d+ times/);
  });

  it(
    'are hunted, and a harmless one is not caught',
    async () => {
      const [caught] = sabotages.filter(({ name }) => name === 'lease renewed with reads');
      if (caught === undefined) throw new Error('no such sabotage');
      const seeds = { from: 1, to: 5 };
      // The one whose life is told is tried first.
      expect(await hunt({ sabotage: caught, known: [], seeds, signal: endless })).toMatchObject({ seed: 5 });
      expect(await hunt({ sabotage: harmless, known: [], seeds, signal: endless })).toBeNull();
    },
    huntMs,
  );

  it('have known seeds only where there is such a sabotage', () => {
    const names = sabotages.map(({ name }) => name);
    expect(Object.keys(readKnownSeeds()).filter((name) => !names.includes(name))).toEqual([]);
  });
});
