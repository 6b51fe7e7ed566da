import { expect, it } from 'vitest';
import { type Equivalent, outdated, percent, type Report, scoresOf } from './report.js';

const source = 'const a = 1;\n  if (a > 0) return b;\n';
const location = { start: { line: 2, column: 7 }, end: { line: 2, column: 12 } };
const mutant = (replacement: string, status: string) => {
  return { mutatorName: 'ConditionalExpression', replacement, status, location };
};
const report: Report = {
  files: {
    'src/core/a.ts': {
      source,
      mutants: [
        mutant('true', 'Survived'),
        mutant('false', 'Killed'),
        mutant('a >= 0', 'NoCoverage'),
        mutant('a < 0', 'Timeout'),
        mutant('a', 'CompileError'),
      ],
    },
  },
};
const verdict: Equivalent = {
  file: 'src/core/a.ts',
  line: 'if (a > 0) return b;',
  original: 'a > 0',
  replacement: 'true',
  why: 'a is always 1',
};

it('counts what was killed, and lists what survived without a verdict', () => {
  const [score] = scoresOf(report, [verdict]);
  expect(score).toMatchObject({ mutants: 4, killed: 2, equivalent: 1 });
  expect(score?.survivors).toEqual([
    {
      file: 'src/core/a.ts',
      lineNumber: 2,
      line: 'if (a > 0) return b;',
      original: 'a > 0',
      replacement: 'a >= 0',
      isCovered: false,
    },
  ]);
  expect(score && percent(score)).toBeCloseTo(66.7, 1);
});

it('names verdicts that fit no survivor', () => {
  const other = { ...verdict, replacement: 'false' };
  expect(outdated(report, [verdict, other, { ...other, file: 'src/core/b.ts' }])).toEqual([other]);
});
