import { tryConstraint } from 'petrel/testing';
import { expect, it } from 'vitest';
import noSpares from './no-spares.mjs';

const spare = { node: 'b1', tags: { spare: 'yes' } };

it('keeps spares from leading, and nobody else', () => {
  expect(tryConstraint(noSpares, spare)).toEqual({
    strength: 'hard',
    reason: 'it is a spare, and the flag use-spares is not set',
  });
  expect(tryConstraint(noSpares, { node: 'a1' })).toBeNull();
});

it('lets them lead while the flag is set', () => {
  expect(tryConstraint(noSpares, spare, { flags: ['use-spares'] })).toBeNull();
});
