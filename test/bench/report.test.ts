import { describe, expect, it } from 'vitest';
import { readArguments } from '../../bench/arguments.js';
import { bestPeer, judge, names, round, scenarios } from '../../bench/goals.js';
import { plotsOf } from '../../bench/plots.js';
import { compared, markers, type Run, report, table, withMeasured } from '../../bench/report.js';
import { scaleScenario } from '../../bench/scenarios/scale.js';
import { Samples } from '../../bench/statistics.js';

const peers = ['kazoo Election', names.latch];
const sizes = [10, 100];

function measured(handoverMs: number, name: string = names.agent): Samples {
  const samples = new Samples();
  const { handover3 } = scenarios;
  samples.add(handover3, name, 'handover', handoverMs);
  samples.add(handover3, names.latch, 'handover', 30);
  samples.add(handover3, 'kazoo Election', 'handover', 10);
  samples.add(handover3, 'etcdctl elect', 'handover', 1);
  samples.add(handover3, names.limit, 'transition', 5);
  return samples;
}

function runOf(samples: Samples): Run {
  return {
    samples,
    peers,
    sizes,
    missing: ['etcdctl elect is missing on this machine: there is no etcd on the PATH', 'start: it failed'],
    command: 'npm run bench',
    at: '2026-01-01',
    machine: '2 processors',
    plots: new Map([[scenarios.handover3, 'benchmarks/handover.svg']]),
  };
}

describe('goals', () => {
  it('measure Petrel by the best of those that stand on ZooKeeper', () => {
    expect(bestPeer(measured(11), scenarios.handover3, 'handover', peers)).toEqual({
      name: 'kazoo Election',
      median: 10,
    });
    expect(judge(measured(12, names.library), peers, sizes)[0]).toMatchObject({ isMet: true });
    expect(judge(measured(12.1, names.library), peers, sizes)[0]).toMatchObject({
      isMet: false,
      figure: '12.1 ms against 10.0 ms: 1.21 ×',
    });
  });

  it('are neither met nor missed where nothing was measured', () => {
    const goals = judge(new Samples(), peers, sizes);
    expect(goals.length).toBeGreaterThan(8);
    expect(goals.map(({ isMet }) => isMet)).toEqual(goals.map(() => null));
  });

  it('compare the smallest and the largest number of participants', () => {
    const samples = new Samples();
    const add = (size: number, requests: number) => {
      const scenario = scaleScenario(scenarios.scale, size);
      samples.add(scenario, names.library, 'requests', requests);
      samples.add(scenario, names.library, 'notifications', size);
    };
    add(10, 8);
    add(100, 108);
    const requests = judge(samples, peers, sizes).find(({ text }) => text.startsWith('requests'));
    expect(requests).toMatchObject({ isMet: false });
    expect(requests?.figure).toBe('8.00 requests of 10 participants, 108 of 100; 100 notifications');
  });
});

describe('the report', () => {
  it('has a row for each contender, next to the best peer and the limit', () => {
    const text = compared(runOf(measured(12)), scenarios.handover3, 'handover', 'transition');
    expect(text.split('\n')).toEqual([
      '|  | times | median | 10 % – 90 % | × best peer | × limit |',
      '| --- | ---: | ---: | --- | ---: | ---: |',
      '| Petrel, agent | 1 | 12.0 | 12.0 – 12.0 | 1.20 | 2.40 |',
      '| Curator LeaderLatch | 1 | 30.0 | 30.0 – 30.0 | 3.00 | 6.00 |',
      '| kazoo Election | 1 | 10.0 | 10.0 – 10.0 | 1.00 | 2.00 |',
      '| etcdctl elect | 1 | 1.00 | 1.00 – 1.00 | 0.10 | 0.20 |',
      '| limit: two commits and a notification | 1 | 5.00 | 5.00 – 5.00 | 0.50 | 1.00 |',
    ]);
  });

  it('says who is missing, and nothing of what was not run', () => {
    const text = report(runOf(measured(12)));
    expect(text).toContain('there is no etcd on the PATH\n- start: it failed\n\n');
    expect(text).toContain('![Planned handover, three servers](benchmarks/handover.svg)');
    expect(text).not.toContain('## Idle');
  });

  it('takes the place of the one before', () => {
    const page = `head\n${markers.begin}\nold\n${markers.end}\nfoot\n`;
    expect(withMeasured(page, 'new')).toBe(`head\n${markers.begin}\n\nnew\n\n${markers.end}\nfoot\n`);
    expect(() => withMeasured('no place', 'new')).toThrow('no lines');
  });

  it('draws a plot of what was measured alone', () => {
    const plots = plotsOf(measured(12), sizes);
    expect([...plots.keys()]).toEqual([scenarios.handover3]);
    expect(plots.get(scenarios.handover3)).toContain('Curator LeaderLatch');
    expect(plots.get(scenarios.handover3)).not.toContain('NaN');
  });
});

it('a table has figures to the right', () => {
  expect(table(['', 'a', 'b'], [['x', '1,234', '1 – 2']]).split('\n')[1]).toBe('| --- | ---: | --- |');
});

it.each([
  [1_234.5, '1,235'],
  [99.94, '99.9'],
  [9.994, '9.99'],
  [0.004, '0.00'],
])('%d is written %s', (value, text) => {
  expect(round(value)).toBe(text);
});

describe('arguments', () => {
  it('ask for everything, or for parts', () => {
    expect(readArguments([])).toMatchObject({ rounds: null, isQuick: false, sizes: [10, 100], out: null });
    const read = readArguments(['--scenario', 'idle', '--scenario', 'start', '--rounds', '3', '--large']);
    expect(read).toMatchObject({ scenarios: ['idle', 'start'], rounds: 3, sizes: [10, 100, 500, 1_000] });
  });

  it.each([[['--scenario', 'all']], [['--rounds', '0']], [['--rounds', '1.5']], [['--fast']]])(
    '%j is refused',
    (given) => {
      expect(() => readArguments(given)).toThrow(/scenario|rounds|fast/);
    },
  );
});
