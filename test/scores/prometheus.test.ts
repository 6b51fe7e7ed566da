import { describe, expect, it } from 'vitest';
import { CounterRate } from '../../src/scores/counter-rate.js';
import { findSeries } from '../../src/scores/prometheus.js';

const page = `# HELP http_requests_total The total number of requests.
# TYPE http_requests_total counter
http_requests_total{method="post",code="200"} 1027 1395066363000
http_requests_total{method="post",code="400"}    3 1395066363000
http_requests_totals 5

msdos_file_access_time_seconds{path="C:\\\\DIR\\\\FILE.TXT",error="Cannot find file:\\n\\"FILE.TXT\\""} 1.458255915e9
  plain\t12.47
something_weird{problem="division by zero"} +Inf -3982045
spaced { a = "1" , b = "}" , } 9223372036854775807
open_metrics_total{a="x"} 7.0 1520879607.789 # {trace_id="KOO5S4vxi0o"} 0.67
other{text="plain 99"} 1
not a line at all {{{
# EOF`;

function series(metric: string, labels: Record<string, string> = {}) {
  const found = findSeries(page, metric, labels);
  return found.value?.map(({ labels: has, value }) => [Object.fromEntries(has), value]) ?? found.problem;
}

describe("a page in Prometheus' format", () => {
  it('has the series of one metric, and of no other whose name begins so', () => {
    expect(series('http_requests_total')).toEqual([
      [{ method: 'post', code: '200' }, '1027'],
      [{ method: 'post', code: '400' }, '3'],
    ]);
    expect(series('plain')).toEqual([[{}, '12.47']]);
    expect(series('http')).toEqual([]);
  });

  it('has those with certain labels', () => {
    expect(series('http_requests_total', { code: '400' })).toEqual([[{ method: 'post', code: '400' }, '3']]);
    expect(series('http_requests_total', { code: '500' })).toEqual([]);
    expect(series('http_requests_total', { toString: 'x' })).toEqual([]);
  });

  it('may have escapes, blanks, a comma too many, a timestamp, an exemplar', () => {
    const text = { path: 'C:\\DIR\\FILE.TXT', error: 'Cannot find file:\n"FILE.TXT"' };
    expect(series('msdos_file_access_time_seconds')).toEqual([[text, '1.458255915e9']]);
    expect(series('spaced')).toEqual([[{ a: '1', b: '}' }, '9223372036854775807']]);
    expect(series('open_metrics_total')).toEqual([[{ a: 'x' }, '7.0']]);
    expect(series('something_weird')).toEqual([[{ problem: 'division by zero' }, '+Inf']]);
  });

  it.each(['m{a="1" 5', 'm{a=1} 5', 'm{a="1"}', 'm{a="1"}5 6 7 8', 'm{="1"} 5', 'm{a="x} 5'])(
    'with a malformed line of the metric is refused, whatever the others are: %s',
    (line) => {
      const problem = expect.stringContaining('is not a valid line in the Prometheus format');
      expect(findSeries(`m 1\n${line}\n`, 'm', {})).toEqual({ value: null, problem });
      expect(findSeries(`n 1\n${line}\n`, 'n', {}).value).toHaveLength(1);
    },
  );

  it('is read in no time, however large and odd', () => {
    const before = process.cpuUsage();
    const large = `${'x m y{'.repeat(1_000_000)}\n`.repeat(2);
    expect(findSeries(`${large}m{a="${'\\\\'.repeat(500_000)}"} 1\n`, 'm', {}).value).toHaveLength(1);
    expect(findSeries(`m${' '.repeat(1_000_000)}x y z`, 'm', {}).problem).not.toBeNull();
    expect(findSeries(`m{${'a="1",'.repeat(150_000)}`, 'm', {}).problem).not.toBeNull();
    expect(findSeries(`m ${'#'.repeat(1_000_000)}\rx`, 'm', {}).problem).not.toBeNull();
    expect(findSeries(`m 1${' #'.repeat(500_000)}\rx`, 'm', {}).problem).not.toBeNull();
    const { user, system } = process.cpuUsage(before);
    expect((user + system) / 1000).toBeLessThan(10_000);
  });

  it('is refused where its metric has more lines than can be read in passing', () => {
    const lines = Array.from({ length: 200_000 }, (_, index) => `m{a="${index}"} 1`).join('\n');
    expect(findSeries(`n 5\n${lines}`, 'n', {}).value).toHaveLength(1);
    expect(findSeries(lines, 'm', { a: '7' })).toEqual({
      value: null,
      problem: 'the lines of m have more than 1048576 characters in total',
    });
  });
});

describe('the rate of a counter', () => {
  const at = (atMs: number, counters: Record<string, number | bigint>) => ({
    atMs,
    counters: new Map(Object.entries(counters)),
  });

  it('is its growth a second, over the window', () => {
    const rate = new CounterRate(10_000);
    expect(rate.add(at(0, { a: 100 }))).toBeNull();
    expect(rate.add(at(2_000, { a: 104 }))).toBe(2);
    expect(rate.add(at(10_000, { a: 150 }))).toBe(5);
    expect(rate.add(at(12_000, { a: 154 }))).toBe(5);
  });

  it('goes on when the counter starts over at 0', () => {
    const rate = new CounterRate(10_000);
    rate.add(at(0, { a: 1_000_000 }));
    expect(rate.add(at(1_000, { a: 1_000_010 }))).toBe(10);
    expect(rate.add(at(2_000, { a: 30 }))).toBe(20);
  });

  it('is the sum over all series, not counting what a new one had before', () => {
    const rate = new CounterRate(10_000);
    rate.add(at(0, { a: 10, b: 20 }));
    expect(rate.add(at(1_000, { a: 11, b: 22, c: 500 }))).toBe(3);
    expect(rate.add(at(2_000, { a: 12, c: 502 }))).toBe(3);
  });

  it('loses nothing of 64 bits', () => {
    const rate = new CounterRate(10_000);
    rate.add(at(0, { a: 2n ** 63n }));
    expect(rate.add(at(1_000, { a: 2n ** 63n + 3n }))).toBe(3);
  });

  it('is not known after a gap longer than the window', () => {
    const rate = new CounterRate(10_000);
    rate.add(at(0, { a: 1 }));
    expect(rate.add(at(20_000, { a: 2 }))).toBeNull();
  });
});
