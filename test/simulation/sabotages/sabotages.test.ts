import { describe, expect, it } from 'vitest';
import { declarationOf, placesOf } from './anchor.js';
import { harmless } from './harmless.js';
import { sabotages } from './index.js';
import { readKnownSeeds } from './known-seeds.js';
import { sabotagedTexts } from './sabotage.js';

describe('sabotages', () => {
  it('are many, each with a name of its own, and each still changes what it is to change', () => {
    expect(sabotages.length).toBeGreaterThanOrEqual(45);
    expect(new Set(sabotages.map(({ name }) => name)).size).toBe(sabotages.length);
    for (const sabotage of sabotages) expect(sabotagedTexts(sabotage).size).toBeGreaterThan(0);
  });

  it('that no longer match the code are an error', () => {
    expect(() => sabotagedTexts({ ...harmless, find: 'leaseShare = 0.8' })).toThrow('"harmless" is stale');
    expect(() => sabotagedTexts({ ...harmless, in: 'leaseFrom', find: 'evidence' })).toThrow(
      /stands \d+ times/,
    );
    expect(() => sabotagedTexts({ ...harmless, in: 'leaseTo' })).toThrow('nothing is declared as leaseTo');
  });

  it('find code by its tokens, whatever its spaces, line ends and last commas', () => {
    expect(declarationOf('Guard#setLease').file).toBe('src/hooks/guard.ts');
    const share = declarationOf('leaseShare');
    for (const code of [
      'leaseShare=0.9',
      'leaseShare\n  = /* of the session */ 0.9',
      'const leaseShare = 0.9;',
    ])
      expect(placesOf(code, share), code).toHaveLength(1);
    expect(placesOf('leaseShare = 0.90', share)).toEqual([]);
  });

  it('have known seeds only where there is such a sabotage', () => {
    const names = sabotages.map(({ name }) => name);
    expect(Object.keys(readKnownSeeds()).filter((name) => !names.includes(name))).toEqual([]);
  });
});
