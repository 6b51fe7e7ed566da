import { tryStrategy } from 'petrel/testing';
import { expect, it } from 'vitest';
import taggedFirst from './tagged-first.mjs';

const free = (gigabytes: number) => new Map([['free-gb', gigabytes]]);
const options = { tag: 'ssd' };

it('prefers tagged nodes, then free memory', () => {
  const nodes = [
    { node: 'a1', scores: free(64) },
    { node: 'b1', scores: free(8), tags: { ssd: 'yes' } },
    { node: 'c1', scores: free(16), tags: { ssd: 'yes' } },
  ];
  expect(tryStrategy(taggedFirst, nodes, { options })).toMatchObject([
    { node: 'c1', grade: 0, reason: 'tagged ssd, 16 GB free' },
    { node: 'b1', grade: 1 },
    { node: 'a1', grade: 2, reason: 'not tagged ssd, 64 GB free' },
  ]);
});

it('takes nodes that differ by less than a gigabyte for equals', () => {
  const nodes = [
    { node: 'a1', scores: free(8.1) },
    { node: 'b1', scores: free(8.9) },
  ];
  expect(tryStrategy(taggedFirst, nodes, { options }).map(({ grade }) => grade)).toEqual([0, 0]);
});

it('requires the option tag', () => {
  expect(() => tryStrategy(taggedFirst, [])).toThrow('strategyOptions.tag');
});
