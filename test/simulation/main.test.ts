import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';

function simulateBy(...args: string[]): { status: number | null; stderr: string } {
  const { status, stderr } = spawnSync('npx', ['tsx', 'test/simulation/main.ts', ...args], {
    encoding: 'utf8',
  });
  return { status, stderr };
}

describe('what is asked wrongly', () => {
  it.each([
    [['--seeds', '9-3'], 'The last comes before the first'],
    [['--seeds', '1-'], 'a seed, or the first and the last'],
    [['--workers', '0'], 'a number from 1'],
    [['--workers', 'x'], 'a number from 1'],
    [['--story'], 'name one seed'],
    [['--story', '--seeds', '1-2'], 'name one seed'],
    [['--site-rules', '--several-leaders'], 'no life has both'],
  ])('is refused, nothing is checked: %j', (args, why) => {
    const { status, stderr } = simulateBy(...args);
    expect(stderr).toContain(why);
    expect(status).toBe(2);
  });
});
