import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { kindOf } from './kinds.js';
import { equivalentSchema } from './report.js';

it('takes files of one kind', () => {
  expect(kindOf(['src/core/choice.ts', 'strategies/pole.ts'])).toBe('pure');
  expect(() => kindOf(['src/core/choice.ts', 'src/hooks/guard.ts'])).toThrow(
    'files of several kinds: src/core/choice.ts (pure), src/hooks/guard.ts (hooks); run each kind separately',
  );
  expect(() => kindOf(['src/agent/agent.ts'])).toThrow('no tests judge src/agent/agent.ts');
});

it('has no verdict on a line that is no longer in the code', () => {
  const verdicts = z
    .array(equivalentSchema)
    .parse(JSON.parse(readFileSync(new URL('equivalents.json', import.meta.url), 'utf8')));
  const linesOf = (file: string) =>
    readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8')
      .split('\n')
      .map((line) => line.trim());
  expect(verdicts.filter(({ file, line }) => !linesOf(file).includes(line))).toEqual([]);
});
