import { describe, expect, it } from 'vitest';
import { parseJson } from '../../src/model/names.js';
import { type ScoreReport, scoreReportSchema, scoreReportText } from '../../src/model/scores.js';
import { withScores } from '../../src/model/snapshot.js';
import { member } from './builders.js';

const report: ScoreReport = {
  node: 'a1',
  incarnation: 'life1',
  values: new Map<string, number | bigint>([
    ['requests', 12.5],
    ['history', 18_446_744_073_709_551_615n],
  ]),
  roundTripsMs: new Map([['b1', 9.88]]),
};
const read = (text: string) => parseJson(scoreReportSchema, text);

describe('a score report', () => {
  it('is read as it was written, positions of 64 bits exactly', () => {
    expect(read(scoreReportText(report)).value).toEqual(report);
  });

  it.each([
    ['a name that is none', { values: { '../x': 1 } }],
    ['a value that is no number', { values: { load: 'much' } }],
    ['a number beyond 64 bits', { values: { history: '18446744073709551616' } }],
    ['a negative round trip', { roundTripsMs: { b1: -1 } }],
    [
      'more entries than a group has nodes',
      { roundTripsMs: Object.fromEntries(Array.from({ length: 1001 }, (_, i) => [`n${i}`, 1])) },
    ],
  ])('with %s is malformed, and says why', (_, change) => {
    const { value, problem } = read(JSON.stringify({ ...JSON.parse(scoreReportText(report)), ...change }));
    expect(value).toBeNull();
    expect(problem).toMatch(/values|roundTripsMs/);
  });

  it('of very many entries is malformed at one glance', () => {
    const many = Object.fromEntries(Array.from({ length: 60_000 }, (_, index) => [`/ ${index}`, index]));
    const { problem } = read(JSON.stringify({ ...report, values: many, roundTripsMs: {} }));
    expect(problem).toBe('values: expected at most 1000 entries');
  });

  it('holds nothing of what every object has', () => {
    expect(read(scoreReportText(report)).value?.values.get('constructor')).toBeUndefined();
  });
});

it('what another incarnation published, or another node, does not count', () => {
  const report = { node: 'a1', incarnation: 'life', values: new Map(), roundTripsMs: new Map() };
  expect(withScores(member('a1', { incarnation: 'life' }), report).scores).toBe(report);
  expect(withScores(member('a1', { incarnation: 'next life' }), report).scores).toBeUndefined();
  expect(withScores(member('b1', { incarnation: 'life' }), report).scores).toBeUndefined();
  expect(withScores(member('a1'), null).scores).toBeUndefined();
});
