import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { PetrelError } from '../../src/errors.js';
import { assign, configDifferences, configKeys, settableKeys } from '../../src/group/config-keys.js';
import { parseConfigText } from '../../src/group/config-text.js';
import { type GroupConfig, groupConfigSchema } from '../../src/model/group-config.js';
import { groupPaths } from '../../src/model/paths.js';
import { configProblems } from '../../src/model/read-config.js';
import { initialElected } from '../../src/model/znodes.js';
import { builtInRules } from '../../strategies/index.js';
import { anyText, expectClear, holds, spoilt, yamlText } from '../support/properties.js';

const byHand = { by: 'ops', reason: 'maintenance', at: '2026-01-01T00:00:00.000Z' };
const example = groupConfigSchema.parse({
  sites: { 'eu.west': { priority: 5, override: { priority: 1, until: null, ...byHand } }, b: {} },
  failback: 'after:10m',
  drained: { b1: byHand },
  strategy: 'preference-list',
  strategyOptions: { order: ['a1'] },
});

function invalid(error: unknown): void {
  if (!(error instanceof PetrelError)) throw error;
  expect(error.code).toBe('INVALID');
  expectClear(error.message, 50_000);
}

/** Returns the example with these keys set, or null if that changes nothing. */
function assigned(wanted: Parameters<typeof assign>[0]): GroupConfig | null {
  const nothing = { value: null, problem: 'the znode does not exist', version: -1, modifiedAtMs: 0 } as const;
  const config = { value: example, problem: null, version: 1, modifiedAtMs: 0 } as const;
  const parts = {
    current: null,
    members: [],
    history: null,
    self: null,
    seat: null,
    seats: [],
    problems: [],
  };
  const view = {
    paths: groupPaths('/group'),
    rules: builtInRules,
    config,
    elected: nothing,
    ...parts,
    newestChangeMs: 0,
  };
  return assign(wanted)({ view, config: example, elected: initialElected, nowMs: 0, byHand }).config;
}

function everyKey(config: GroupConfig): void {
  for (const entry of configKeys(config)) expect(JSON.stringify(entry).length).toBeGreaterThan(0);
  expect(configDifferences(config, config)).toEqual([]);
  expect(Array.isArray(configDifferences(config, example))).toBe(true);
}

describe('a configuration as text', () => {
  it('reads back as it was written', () => {
    expect(parseConfigText(stringify(example), builtInRules)).toEqual(example);
  });

  it('is read, or refused with what is wrong, whatever it is', async () => {
    await holds(
      fc.property(yamlText(spoilt(example)), (text) => {
        let config: GroupConfig;
        try {
          config = parseConfigText(text, builtInRules);
        } catch (error) {
          return invalid(error);
        }
        expect(configProblems(config, builtInRules)).toEqual([]);
        expect(parseConfigText(stringify(config), builtInRules)).toEqual(config);
        everyKey(config);
      }),
    );
  });
});

describe('a text that is long', () => {
  it.each([
    ['of keys', Array.from({ length: 10_000 }, (_, index) => `key${index}: 1`).join('\n')],
    ['of keys that are all the same', 'a: 1\n'.repeat(10_000)],
    ['of brackets that close nothing', ']'.repeat(30_000)],
    ['of brackets that are never closed', '['.repeat(30_000)],
    ['of quotes', '"'.repeat(30_000)],
    ['of aliases to nothing', '*a '.repeat(10_000)],
  ])('%s is refused in no more time than it takes to read it', (_, text) => {
    const started = process.cpuUsage();
    expect(() => parseConfigText(text, builtInRules)).toThrow(PetrelError);
    expect(process.cpuUsage(started).user).toBeLessThan(2_000_000);
  });
});

describe('a key that is set', () => {
  it('makes a valid configuration or is refused, whatever key and value', async () => {
    const keys = fc.oneof(
      fc.constantFrom(
        ...settableKeys,
        'sites.eu.west.priority',
        'sites.__proto__.priority',
        'strategyOptions.__proto__',
      ),
      fc.constantFrom(
        '__proto__',
        'constructor.prototype.polluted',
        'timeouts.__proto__',
        'sites.a.priority.polluted',
      ),
      anyText.map((text) => `sites.${text}.priority`),
      anyText.map((text) => `strategyOptions.${text}`),
      anyText,
    );
    const texts = fc.option(
      fc.oneof(
        yamlText(fc.jsonValue({ maxDepth: 2 })),
        fc.constantFrom('5s', '7', 'auto', '{polluted: 1}', '[a1]'),
      ),
    );
    const assignments = fc.array(fc.record({ key: keys, text: texts }), { minLength: 1, maxLength: 3 });
    await holds(
      fc.property(assignments, (wanted) => {
        try {
          const config = assigned(wanted);
          if (config !== null) everyKey(config);
        } catch (error) {
          invalid(error);
        }
      }),
    );
  });
});
