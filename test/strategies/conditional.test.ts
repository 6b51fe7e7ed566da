import { describe, expect, it } from 'vitest';
import { configProblems } from '../../src/model/read-config.js';
import { builtInRules } from '../../strategies/index.js';
import { Bench } from '../core/bench.js';
import { ask, byHand, config, decided, epoch0Ms, members } from '../core/builders.js';

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
    ['one never reached', [priority, priority], 'the rules after usual are never reached'],
    [
      'an unknown strategy',
      [{ ...priority, strategy: 'best' }],
      'unknown strategy "best": expected one of first-available',
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
  });
});
