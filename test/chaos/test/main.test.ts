/** `npm run chaos`, called as it cannot be. */
import { expect, it } from 'vitest';
import { runTool } from '../../support/run-tool.js';

it.each([
  [['--minutes', 'x'], /--minutes <n>.* 'x' is invalid. It is a number greater than 0/],
  [['--check', '/nowhere'], /\/nowhere holds no records of a run/],
  [['--wat'], /unknown option '--wat'/],
])('refuses %s, and runs nothing', async (args, message) => {
  const { code, stdout, stderr } = await runTool('chaos/main.ts', ...args);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toMatch(message);
  expect(stderr.trim().split('\n')).toHaveLength(1);
});
