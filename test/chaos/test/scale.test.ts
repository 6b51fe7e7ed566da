import { expect, it } from 'vitest';
import { sitesOf, slotsOf } from '../scale.js';

it('fills three sites evenly', () => {
  expect(sitesOf(5)).toEqual({ a1: 'a', a2: 'a', b1: 'b', b2: 'b', c1: 'c' });
  expect(Object.keys(sitesOf(10))).toEqual(['a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'b3', 'c1', 'c2', 'c3']);
  expect(sitesOf(2)).toEqual({ a1: 'a', b1: 'b' });
});

it('numbers slots from 1', () => {
  expect(slotsOf({ leaders: 3 })).toEqual([1, 2, 3]);
});
