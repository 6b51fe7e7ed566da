import { describe, expect, it } from 'vitest';
import { runTool } from '../support/run-tool.js';

describe('wrong arguments', () => {
  it.each([
    [['--seeds', '9-3'], 'The last comes before the first'],
    [['--seeds', '1-'], 'a seed, or the first and the last'],
    [['--workers', '0'], 'a number from 1'],
    [['--workers', 'x'], 'a number from 1'],
    [['--story'], 'name one seed'],
    [['--story', '--seeds', '1-2'], 'name one seed'],
    [['--site-rules', '--several-leaders'], 'no life has both'],
  ])('is refused, nothing is checked: %j', async (args, why) => {
    const { code, stderr } = await runTool('simulation/main.ts', ...args);
    expect(stderr).toContain(why);
    expect(code).toBe(2);
  });
});
