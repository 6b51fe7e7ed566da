import { describe, expect, it } from 'vitest';
import { configProblems, usesScores } from '../../src/model/read-config.js';
import { conditional } from '../../strategies/conditional.js';
import { builtInRules } from '../../strategies/index.js';
import { Bench } from '../core/bench.js';
import { ask, byHand, config, decided, epoch0Ms, members, ordinary } from '../core/builders.js';
import { inputOf } from './deployments.js';

const sites = { a: { priority: 100 }, b: { priority: 50 }, c: { priority: 10 } };
const hour = 3_600_000;
const priority = { name: 'usual', strategy: 'site-priority' };

function byRules(...rules: object[]) {
  return { sites, strategy: 'conditional', strategyOptions: { rules } };
}

function list(name: string, ...nodes: string[]) {
  return { name, strategy: 'preference-list', options: { order: nodes } };
}

describe('the first rule that applies', () => {
  const night = { ...list('night', 'c1'), when: { between: ['22:00', '06:00'] } };
  const few = { ...list('few', 'b1'), when: { eligible: { atMost: 2 } } };
  const settings = config(byRules(night, few, priority));
  const at = (hours: number) => epoch0Ms + hours * hour;

  it.each<[string, number, string[], string, string]>([
    ['by day', 12, ['a1', 'b1', 'c1'], 'a1', 'by rule usual (site-priority): site a has priority 100'],
    ['with few nodes left', 12, ['a1', 'b1'], 'b1', 'by rule few (preference-list): '],
    ['at the first minute of the night', 22, ['a1', 'b1', 'c1'], 'c1', 'by rule night (preference-list): '],
    ['after midnight', 5.99, ['a1', 'c1'], 'c1', 'by rule night (preference-list): '],
    ['at its end', 6, ['a1', 'b1', 'c1'], 'a1', 'by rule usual (site-priority): '],
  ])('%s', (_, hours, nodes, node, why) => {
    const choice = ask({ members: members(...nodes), config: settings, epochMs: at(hours) });
    expect(choice).toMatchObject({ node, reason: expect.stringContaining(why) });
  });

  it('goes by a flag while an operator has it set', () => {
    const flagged = byRules({ ...list('sale', 'b1'), when: { flag: 'sale' } }, priority);
    const choose = (flags: object) =>
      ask({ members: members('a1', 'b1'), config: config({ ...flagged, ...flags }) }).node;
    expect(choose({})).toBe('a1');
    expect(choose({ flags: { sale: byHand } })).toBe('b1');
    expect(choose({ flags: { other: byHand } })).toBe('a1');
  });
});

describe('a condition', () => {
  const choice = (when: object, now: object): string | undefined => {
    const first = { name: 'first', when, strategy: 'first-available' };
    const { strategy } = conditional.prepare({ rules: [first, priority] }, builtInRules);
    const input = inputOf({ a1: {} }, { conditions: { ...ordinary, ...now } });
    return strategy?.rank(input)[0]?.reason.split(' ')[2];
  };

  it.each<[object, applies: readonly object[], applicable: readonly object[]]>([
    [{ after: 'failure' }, [{ after: 'failure' }], [{ after: 'planned' }]],
    [{ after: 'planned' }, [{ after: 'planned' }], [{ after: 'failure' }]],
    [{ failedSite: 'a' }, [{ failedSite: 'a' }], [{ failedSite: 'b' }, { failedSite: null }]],
    [{ failedSite: ['a', 'b'] }, [{ failedSite: 'a' }, { failedSite: 'b' }], [{ failedSite: 'c' }]],
    [
      { between: ['10:30', '11:15'] },
      [{ minuteOfDay: 630 }, { minuteOfDay: 674 }],
      [{ minuteOfDay: 629 }, { minuteOfDay: 675 }],
    ],
    [
      { between: ['23:59', '00:01'] },
      [{ minuteOfDay: 1439 }, { minuteOfDay: 0 }],
      [{ minuteOfDay: 1 }, { minuteOfDay: 1438 }],
    ],
    [{ between: ['10:00', '10:00'] }, [], [{ minuteOfDay: 600 }, { minuteOfDay: 0 }]],
    [{ eligible: { atLeast: 2 } }, [{ eligible: 2 }, { eligible: 3 }], [{ eligible: 1 }]],
    [{ eligible: { atMost: 2 } }, [{ eligible: 2 }, { eligible: 1 }], [{ eligible: 3 }]],
    [{ flag: 'sale' }, [{ flags: ['other', 'sale'] }], [{ flags: [] }, { flags: ['other'] }]],
    [
      { after: 'failure', flag: 'sale' },
      [{ after: 'failure', flags: ['sale'] }],
      [{ after: 'failure' }, { flags: ['sale'] }],
    ],
  ])('%j is judged at its edges', (when, applies, others) => {
    expect(applies.map((now) => choice(when, now))).toEqual(applies.map(() => 'first'));
    expect(others.map((now) => choice(when, now))).toEqual(others.map(() => 'usual'));
  });
});

describe('what the group learns from the rules', () => {
  const scored = { name: 'scored', strategy: 'history', when: { flag: 'sale' } };

  it('is that scores are compared, if one of the rules compares them', () => {
    for (const [rules, isScored] of [
      [[scored, priority], true],
      [[priority], false],
    ] as const) {
      expect(usesScores({ strategy: 'conditional', strategyOptions: { rules } }, builtInRules)).toBe(
        isScored,
      );
      expect(conditional.prepare({ rules }, builtInRules).strategy?.usesScores).toBe(isScored);
    }
    const unknown = [{ ...priority, strategy: 'best' }];
    for (const strategyOptions of [{}, { rules: unknown }])
      expect(usesScores({ strategy: 'conditional', strategyOptions }, builtInRules)).toBe(false);
  });

  it('is at which minutes of the day its choice may change', () => {
    const night = { name: 'night', strategy: 'history', when: { between: ['22:05', '06:00'] } };
    const minutes = (...rules: object[]) =>
      conditional.prepare({ rules }, builtInRules).strategy?.minutes?.toSorted((a, b) => a - b);
    expect(minutes(night, priority)).toEqual([360, 1325]);
    expect(minutes(priority)).toEqual([]);
  });
});

describe('after a failure', () => {
  const rules = byRules(
    { ...list('a-lost', 'c1'), when: { after: 'failure', failedSite: 'a' } },
    { ...list('lost', 'a1'), when: { after: 'failure' } },
    priority,
  );

  it('its rule decides, by the site that failed', () => {
    const bench = new Bench(['a1', 'a2', 'b1', 'c1'], rules);
    bench.lead();
    expect(bench.node).toBe('a1');
    bench.crash('a1');
    bench.lead();
    expect(bench.node).toBe('c1');
    expect(bench.reason).toContain('by rule a-lost (preference-list)');
  });

  it('goes on deciding while that leader leads: it is not left for no more than that the failure is over', () => {
    const bench = new Bench(['a1', 'a2', 'c1'], rules);
    bench.lead();
    bench.crash('a1');
    bench.lead();
    expect(bench.advance(hour)).toEqual([]);
    expect(bench.node).toBe('c1');
  });

  it('does not when people move the leader', () => {
    const bench = new Bench(['a1', 'a2', 'c1'], rules);
    bench.lead();
    bench.crash('a1');
    bench.lead();
    bench.configure({ ...rules, switchover: { to: 'best-other', replacesTerm: bench.term, ...byHand } });
    bench.settle();
    expect(bench.node).toBe('a2');
    const drained = ask({
      members: members('a1', 'a2', 'c1'),
      config: config({ ...rules, drained: { a1: byHand } }),
      elected: decided({ node: 'a1', term: 3, cause: 'first' }),
    });
    expect(drained.node).toBe('a2');
  });
});

it('a time of day that comes moves leadership without anything else happening, as the failback policy has it', () => {
  const night = { ...list('night', 'b1'), when: { between: ['01:00', '02:00'] } };
  const bench = new Bench(['a1', 'b1'], byRules(night, priority));
  bench.lead();
  bench.advance(hour - 1_000);
  expect(bench.node).toBe('a1');
  bench.advance(1_000);
  expect(bench.node).toBe('b1');
  expect(bench.handOver()).toBe(true);
  bench.advance(hour - 1_000);
  expect(bench.node).toBe('b1');
  bench.advance(2_000);
  expect(bench.node).toBe('a1');
});

describe('rules that will not do', () => {
  it.each<[string, unknown, string]>([
    ['none', [], 'rules'],
    [
      'none for every condition',
      [{ ...priority, when: { flag: 'x' } }],
      'the last rule must apply under all conditions',
    ],
    [
      'none for every condition, of several',
      [
        { ...priority, when: { flag: 'x' } },
        { ...priority, when: { flag: 'y' } },
      ],
      'strategyOptions.rules.1: the last rule must apply under all conditions: remove its `when`',
    ],
    [
      'one never reached',
      [priority, { ...priority, name: 'other' }, { ...priority, name: 'third' }],
      'strategyOptions.rules.1: the rules after usual are never reached: usual has no `when`',
    ],
    [
      'one never reached, after another',
      [{ ...priority, name: 'night', when: { flag: 'x' } }, priority, priority],
      'strategyOptions.rules.2: the rules after usual are never reached',
    ],
    [
      'an unknown strategy',
      [{ ...priority, strategy: 'best' }],
      'unknown strategy "best": expected one of first-available, oldest, preference-list, round-robin, ' +
        'site-priority, history, request, consensus, latency, worst-case, rotating, pole',
    ],
    ['rules within rules', [{ ...priority, strategy: 'conditional' }], 'unknown strategy "conditional"'],
    ['a wrong option', [{ ...priority, options: { x: 1 } }], 'rules.0: strategyOptions: unknown `x`'],
    [
      'no time of day',
      [{ ...priority, when: { between: ['24:00', '1:00'] } }, priority],
      'a time of day in UTC',
    ],
  ])('%s', (_, rules, problem) => {
    const settings = { strategy: 'conditional', strategyOptions: { rules } };
    expect(configProblems(settings, builtInRules).join('; ')).toContain(problem);
    expect(configProblems(settings, builtInRules).join('; ')).not.toContain('pole, conditional');
  });
});
