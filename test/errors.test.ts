import { expect, it } from 'vitest';
import { BrokenInvariant, present } from '../src/errors.js';

it('a broken invariant names what is missing, and is no error that a caller could act on', () => {
  expect(present(0n, 'a token')).toBe(0n);
  expect(present('', 'a reason')).toBe('');
  expect(() => present(null, 'the claim that is deleted')).toThrow(BrokenInvariant);
  expect(() => present(undefined, 'the claim that is deleted')).toThrow(
    'the claim that is deleted is missing',
  );
});
