import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { planChange } from '../../src/group/change.js';
import { type Assignment, assign, configDifferences, configKeys } from '../../src/group/config-keys.js';
import { parseConfigText } from '../../src/group/config-text.js';
import { builtInRules } from '../../strategies/index.js';
import { config, newGroup, type TestGroup } from '../support/group.js';

let group: TestGroup;
beforeAll(async () => {
  group = await newGroup();
});
afterAll(() => group[Symbol.asyncDispose]());

async function planned(assignments: readonly Assignment[], before: unknown = {}) {
  await group.configure(before);
  return planChange(group.access, { by: 'eve', reason: null }, assign(assignments));
}

describe('the keys of a configuration', () => {
  it('are listed with their defaults, and say which are set', () => {
    const keys = configKeys(config({ failback: 'manual', sites: { 'eu.west': { priority: 7 } } }));
    const entry = (key: string) => keys.find((one) => one.key === key);
    expect(entry('timeouts.takeover')).toEqual({
      key: 'timeouts.takeover',
      value: '60s',
      default: '60s',
      set: false,
    });
    expect(entry('failback')).toEqual({ key: 'failback', value: 'manual', default: 'auto', set: true });
    expect(entry('sites.eu.west.priority')).toMatchObject({ value: 7, default: 100, set: true });
    expect(entry('sites.eu.west.minNodes')).toMatchObject({ value: 0, default: 0, set: false });
    expect(keys.map(({ key }) => key)).toEqual(
      expect.arrayContaining(['strategy', 'backoff.base', 'historySize', 'paused']),
    );
  });

  it('differ where a site that was never configured is as one with the defaults', () => {
    const differences = configDifferences(
      config({}),
      config({ sites: { a: { priority: 5 } }, minLeadership: '1m' }),
    );
    expect(differences).toEqual([
      { key: 'minLeadership', from: '0s', to: '1m' },
      { key: 'sites.a.priority', from: 100, to: 5 },
    ]);
  });

  it('differ where only one has a site, even with the defaults', () => {
    const [without, withSite] = [config({}), config({ sites: { a: {} } })];
    expect(configDifferences(without, withSite)).toEqual([{ key: 'sites.a', from: null, to: {} }]);
    expect(configDifferences(withSite, without)).toEqual([{ key: 'sites.a', from: {}, to: null }]);
  });
});

describe('setting keys', () => {
  it.each<[string, string, object | null]>([
    ['failback', 'after:10m', { failback: 'after:10m' }],
    ['minLeadership', '1h', { minLeadership: '1h' }],
    ['timeouts.takeover', '90s', { timeouts: { takeover: '90s', claim: '10s' } }],
    ['historySize', '7', { historySize: 7 }],
    ['sites.eu.west.priority', '3', { sites: { 'eu.west': { priority: 3, drained: null } } }],
    ['strategyOptions', '{}', null],
  ])('takes %s %s', async (key, text, expected) => {
    const plan = await planned([{ key, text }]);
    if (expected === null) expect(plan.config).toBeNull();
    else expect(plan.config).toMatchObject(expected);
  });

  it('takes several at once, where one alone would not do', async () => {
    const plan = await planned([
      { key: 'strategy', text: 'preference-list' },
      { key: 'strategyOptions.order', text: '[a1, b1]' },
    ]);
    expect(plan.config).toMatchObject({
      strategy: 'preference-list',
      strategyOptions: { order: ['a1', 'b1'] },
    });
    expect(plan.what).toBe(
      'configuration: strategy: site-priority → preference-list, strategyOptions.order: - → ["a1","b1"]',
    );
  });

  it('goes back to the default', async () => {
    const before = { failback: 'manual', sites: { a: { priority: 3 } } };
    const plan = await planned(
      [
        { key: 'failback', text: null },
        { key: 'sites.a.priority', text: null },
      ],
      before,
    );
    expect(plan.config).toMatchObject({ failback: 'auto' });
    expect(plan.config?.sites).toEqual({});
  });

  it('to the default leaves no site behind that has nothing else', async () => {
    const { config: reset } = await planned([{ key: 'sites.a.priority', text: null }], {
      sites: { a: { priority: 5 }, b: { priority: 6 } },
    });
    expect(Object.keys(reset?.sites ?? {})).toEqual(['b']);
  });

  it('to what they are changes nothing', async () => {
    expect((await planned([{ key: 'failback', text: 'auto' }])).config).toBeNull();
  });

  it.each([
    ['failbak', 'auto', 'unknown key failbak: did you mean failback?'],
    ['timeout.takeover', '1s', 'did you mean timeouts.takeover?'],
    ['quux', '1', 'unknown key quux: similar keys: '],
    ['takeover', '1s', 'unknown key takeover: similar keys: timeouts.takeover, '],
    ['minNodes', '1', 'sites.NAME.minNodes'],
    ['paused', 'true', 'to change paused, use petrel pause or petrel resume'],
    ['sites.a.override.priority', '1', 'use petrel site priority'],
    ['sites.a.drained', 'null', 'use petrel site drain'],
    ['failback', 'sometimes', 'failback: expected auto, manual, or after:DURATION'],
    ['minLeadership', '10', 'minLeadership: 10 has no unit: write 10s, 10m or 10h'],
    ['historySize', 'many', 'historySize: '],
    ['timeouts.prepare', '1h', 'timeouts.prepare < timeouts.claim is required'],
    ['strategy', 'rnadom', 'strategy: unknown strategy "rnadom": expected one of first-available'],
    ['strategyOptions.order', '[a1', 'is not a YAML value'],
    ['strategyOptions.ordr', '[a1]', 'strategyOptions'],
  ])('refuses %s %s', async (key, text, message) => {
    await expect(planned([{ key, text }])).rejects.toMatchObject({
      code: 'INVALID',
      message: expect.stringContaining(message),
    });
  });
});

describe('a configuration as text', () => {
  it('is YAML or JSON, filled in with the defaults', () => {
    expect(parseConfigText('failback: manual\n', builtInRules)).toEqual(config({ failback: 'manual' }));
    expect(parseConfigText('{"failback": "manual"}', builtInRules)).toEqual(config({ failback: 'manual' }));
    expect(parseConfigText('', builtInRules)).toEqual(config({}));
  });

  it.each([
    ['failbak: manual', 'unknown `failbak`; expected one of strategy'],
    ['failback: [', 'not YAML'],
    ['- a', 'expected keys with values'],
    ['timeouts: {claim: 1}', 'timeouts.claim: 1 has no unit'],
    ['strategy: preference-list', 'strategyOptions.order'],
    ['backoff: {base: 1h, max: 1m}', 'backoff.base <= backoff.max is required'],
    ['failback: manual\nfailback: auto', 'not YAML: Map keys must be unique'],
  ])('is refused: %j', (text, message) => {
    expect(() => parseConfigText(text, builtInRules)).toThrow(message);
  });
});

it('T7 a quorum is not reckoned from fewer nodes than are registered, nor is __proto__ taken for a key', async () => {
  await using group = await newGroup();
  for (const node of ['a1', 'b1', 'c1']) await group.node(node);
  const author = { by: 'eve', reason: null };
  const size = (text: string) =>
    assign([
      { key: 'strategy', text: 'latency' },
      { key: 'strategyOptions.size', text },
    ]);
  await expect(planChange(group.access, author, size('2'))).rejects.toThrow(
    'strategyOptions.size: 2 is less than the number of registered nodes',
  );
  expect((await planChange(group.access, author, size('3'))).config?.strategyOptions).toEqual({ size: 3 });
  expect(() => assign([{ key: 'sites.__proto__.priority', text: '1' }])).toThrow(
    '__proto__ is not allowed as a name',
  );
});

it('V4 tokenEpoch rises, and never falls: nodes that have seen it would refuse to lead', async () => {
  const epoch = (text: string) => planned([{ key: 'tokenEpoch', text }], { tokenEpoch: 2 });
  await expect(epoch('1')).rejects.toMatchObject({
    code: 'INVALID',
    message: expect.stringContaining('tokenEpoch: 1 is lower than the current value, 2'),
  });
  expect((await epoch('3')).config?.tokenEpoch).toBe(3);
});
