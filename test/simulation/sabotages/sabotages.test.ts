import { describe, expect, it } from 'vitest';
import { harmless } from './harmless.js';
import { sabotages } from './index.js';
import { readKnownSeeds } from './known-seeds.js';
import { editsOf, sabotagedText } from './sabotage.js';

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

  it('have known seeds only where there is such a sabotage', () => {
    const names = sabotages.map(({ name }) => name);
    expect(Object.keys(readKnownSeeds()).filter((name) => !names.includes(name))).toEqual([]);
  });
});
