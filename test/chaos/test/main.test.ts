/** Calls `npm run chaos` with invalid arguments. */
import { expect, it } from 'vitest';
import { runTool } from '../../support/run-tool.js';

it.each([
  [['--minutes', 'x'], /--minutes <n>.* 'x' is invalid. It is a number greater than 0/],
  [['--check', '/nowhere'], /\/nowhere holds no records of a run/],
  [['--leaders', '0'], /--leaders <n>.* '0' is invalid. It is a whole number from 1 to 5/],
  [['--leaders', '3', '--agents', '3'], /3 leaders want more than 3 agents/],
  [['--session-timeout', '5'], /'5' is invalid. It is a whole number from 6 to 30/],
  [['--wat'], /unknown option '--wat'/],
])('refuses %s, and runs nothing', async (args, message) => {
  const { code, stdout, stderr } = await runTool('chaos/main.ts', ...args);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toMatch(message);
  expect(stderr.trim().split('\n')).toHaveLength(1);
});
