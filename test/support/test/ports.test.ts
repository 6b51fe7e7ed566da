import { expect, it } from 'vitest';
import { freePorts } from '../ports.js';

it('a free port is given only once, even if nothing listens on it yet', async () => {
  const first = await freePorts(300);
  const second = await freePorts(300);
  expect(new Set([...first, ...second]).size).toBe(600);
});
