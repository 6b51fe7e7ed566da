/** Runs `npm run explore` in the same way as a user. */
import { expect, it } from 'vitest';
import { runTool } from '../support/run-tool.js';

const explore = (...args: string[]) => runTool('exploration/main.ts', ...args);

it.each([
  [['--faults', 'x'], /--faults <n>.* 'x' is invalid. It is a whole number, 0 or more/],
  [['--max', '0'], /It is a whole number, 1 or more/],
  [['--wat'], /unknown option '--wat'/],
])('refuses %s, and explores nothing', async (args, message) => {
  const { code, stdout, stderr } = await explore(...args);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toMatch(message);
  expect(stderr.trim().split('\n')).toHaveLength(1);
});

it('explores what was requested, and ends with 1 where it gave up', async () => {
  const few = ['--scenario', 'first-2', 'question-c', '--faults', '0'];
  const whole = await explore(...few);
  expect(whole.code).toBe(0);
  expect(whole.stdout.match(/frontier exhausted/g)).toHaveLength(2);
  const part = await explore(...few, '--max', '100');
  expect(part.code).toBe(1);
  expect(part.stdout).toContain('FRONTIER NOT EXHAUSTED');
});
