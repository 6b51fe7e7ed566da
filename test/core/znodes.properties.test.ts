import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { z } from 'zod';
import { encode } from '../../src/agent/membership.js';
import { leadershipStep } from '../../src/core/leadership.js';
import { type ElectionInput, electorRound, newElector } from '../../src/core/round.js';
import { defaultGroupConfig, groupConfigSchema } from '../../src/model/group-config.js';
import { type Parsed, parseJson } from '../../src/model/names.js';
import { configProblems, parseGroupConfig, prepareStrategy } from '../../src/model/read-config.js';
import { registrationSchema } from '../../src/model/registration.js';
import type { Claim, Member, Versioned } from '../../src/model/snapshot.js';
import {
  claimSchema,
  electedSchema,
  failureRecordSchema,
  historyHeadSchema,
  historyRecordSchema,
  initialElected,
  initialHistoryHead,
  lastTerm,
  mostFailures,
} from '../../src/model/znodes.js';
import { constraints } from '../../strategies/constraints/index.js';
import { builtInRules } from '../../strategies/index.js';
import { anyJson, anyText, expectClear, holds, jsonText, nested, spoilt } from '../support/properties.js';
import { detail, examples } from '../support/znode-examples.js';
import { epoch0Ms, failure, group, instant } from './builders.js';

const json = (name: string, schema: z.ZodType<unknown>, example: unknown) =>
  [name, (text: string): Parsed<unknown> => parseJson(schema, text), example] as const;

const readers = [
  json('a registration', registrationSchema, examples.registration),
  json('elected', electedSchema, examples.elected),
  json('a claim', claimSchema, examples.claim),
  json('the history’s head', historyHeadSchema, examples.head),
  json('a transition', historyRecordSchema, examples.transition),
  json('a change', historyRecordSchema, examples.change),
  json('a failure', failureRecordSchema, failure('b1')),
  ['the configuration', parseGroupConfig, examples.config] as const,
];

describe('content of a znode', () => {
  it.each(readers)('of %s is read or refused, whatever it is', async (_, read, example) => {
    expect(read(JSON.stringify(example))).toEqual({ value: example, problem: null });
    const texts = fc.oneof(
      { weight: 4, arbitrary: spoilt(example).map(jsonText) },
      anyJson.map(jsonText),
      anyText,
      fc.nat(JSON.stringify(example).length).map((end) => JSON.stringify(example).slice(0, end)),
    );
    await holds(
      fc.property(texts, (text) => {
        const { value, problem } = read(text);
        if (problem !== null) return expectClear(problem);
        // Writing a value that was read, and reading it again, does not change it.
        expect(read(JSON.stringify(value))).toEqual({ value, problem: null });
      }),
    );
  });

  it.each(readers)('of %s that is large is refused in few words', (_, read) => {
    const keys = Object.fromEntries(Array.from({ length: 5000 }, (_each, index) => [`-${index}`, index]));
    for (const value of [
      keys,
      { sites: keys, failures: Object.values(keys), tags: keys },
      'x'.repeat(900_000),
    ]) {
      expectClear(read(JSON.stringify(value)).problem ?? '');
    }
    expectClear(read(JSON.stringify({ ['k'.repeat(900_000)]: 1, strategy: 'x' })).problem ?? '');
    expectClear(read(jsonText(nested(100_000))).problem ?? '');
  });
});

/** Returns a znode's content as a node reads it. The text is valid, or spoilt in one place. */
function read<T>(schema: z.ZodType<T>, example: unknown): fc.Arbitrary<Versioned<T>> {
  const text = fc.oneof(fc.constant(JSON.stringify(example)), spoilt(example).map(jsonText));
  return fc
    .record({
      text,
      version: fc.oneof(fc.nat(5), fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 })),
    })
    .map(({ text: content, version }) => ({
      ...parseJson(schema, content),
      version,
      modifiedAtMs: epoch0Ms,
    }));
}

/** Does the same as `read`, and also yields content that is readable but unusual. */
function readable<T>(
  schema: z.ZodType<T>,
  example: unknown,
  ...changes: object[]
): fc.Arbitrary<Versioned<T>> {
  const odd = changes.map((change) => {
    const text = JSON.stringify({ ...Object(example), ...change });
    return { ...parseJson(schema, text), version: 1, modifiedAtMs: epoch0Ms };
  });
  return fc.oneof(read(schema, example), fc.constantFrom(...odd));
}

const terms = [0, 6, 7, 8, 2 ** 31, lastTerm - 1, lastTerm, lastTerm + 1, 2 ** 53 - 1].map((term) => ({
  term,
}));
const long = 'x'.repeat(20_000);

const memberArb = (node: string, seat: number): fc.Arbitrary<Member> =>
  readable(
    registrationSchema,
    { ...examples.registration, node },
    { health: { ok: false, reason: long } },
    {
      lastFailure: {
        electedVersion: 1,
        token: '100',
        detail: { ...detail, reason: long, outputTail: Array(5000).fill('x') },
      },
    },
    { lastTakeover: { token: '100', durationMs: 1e300 } },
    { priority: Number.MAX_SAFE_INTEGER },
    { site: 'constructor' },
  ).map((content) => ({ ...content, node, owner: BigInt(seat + 1), seat }));

const claimArb: fc.Arbitrary<Claim | null> = fc.oneof(
  fc.constant(null),
  readable(claimSchema, examples.claim, ...terms, { status: 'PROGRESS' }).map((content) => ({
    ...content,
    token: 100n,
    owner: 1n,
    createdAtMs: epoch0Ms,
  })),
);

/** The schema accepts fewer failures than these. */
const manyFailures = Array.from({ length: mostFailures + 1 }, (_, index) =>
  failure(`n${index}`, { until: instant(9e9) }),
);

const situations: fc.Arbitrary<ElectionInput> = fc
  .record({
    config: read(groupConfigSchema, examples.config),
    elected: readable(
      electedSchema,
      examples.elected,
      ...terms,
      { failures: manyFailures },
      { failures: manyFailures.slice(1) },
      {
        failures: [
          failure('a1', { count: Number.MAX_SAFE_INTEGER, reason: long, until: '9999-12-31T23:59:59Z' }),
        ],
      },
      { reason: long, node: 'toString' },
      { requested: { by: 'x', overridden: Array(5000).fill('unhealthy') } },
      initialElected,
    ),
    current: claimArb,
    history: fc.oneof(
      fc.constant(null),
      readable(historyHeadSchema, examples.head, ...terms, initialHistoryHead),
    ),
    members: fc.tuple(memberArb('a1', 0), memberArb('b1', 1), memberArb('constructor', 2)),
  })
  .map(({ config, elected, current, history, members }) => {
    const settings = config.value ?? defaultGroupConfig;
    const strategy = prepareStrategy(
      { strategy: 'site-priority', strategyOptions: {} },
      builtInRules,
    ).strategy;
    if (strategy === null) throw new Error('no strategy');
    return {
      self: 'a1',
      snapshot: group({ config, elected, current, history, members }),
      members,
      config: settings,
      strategy,
      memory: newElector,
      clock: { epochMs: epoch0Ms + 60_000, atMs: 0 },
      nowMs: 0,
      constraints,
      canFence: true,
      observedSinceMs: Number.NEGATIVE_INFINITY,
    };
  });

describe('whatever the znodes hold', () => {
  it('the elector decides, and what it writes can be written, and read', async () => {
    await holds(
      fc.property(situations, (situation) => {
        const { actions } = electorRound(situation);
        for (const action of actions) {
          if (action.do === 'write-elected') {
            const text = encode(action.elected).toString();
            expect(parseJson(electedSchema, text).problem).toBeNull();
            expect(text.length).toBeLessThan(500_000);
          }
          const record = action.do === 'write-elected' || action.do === 'record' ? action.record : null;
          if (record === null) continue;
          expect(parseJson(historyRecordSchema, encode(record).toString()).problem).toBeNull();
          expect(encode(record).length).toBeLessThan(500_000);
        }
      }),
      0.4,
    );
  });

  it('a node knows its next step', async () => {
    const stages = fc.constantFrom('claimed', 'taking-over', 'taken-over', 'leading', 'released' as const);
    await holds(
      fc.property(situations, fc.option(stages), fc.boolean(), ({ snapshot, config }, stage, late) => {
        const leadership =
          stage === null ? null : ({ token: 100n, term: 7, stage, failure: null, claimedUnder: 1 } as const);
        const step = leadershipStep({
          self: 'a1',
          session: 1n,
          sessionOver: false,
          snapshot,
          config,
          leadership,
          spentToken: 0n,
          lease: { releaseAtMs: late ? 0 : 10, endsAtMs: 20 },
          nowMs: 5,
          healthy: true,
          draining: false,
          drainOverdue: false,
          prepare: null,
          handOverRefused: false,
          failedUnder: null,
        });
        expect(step === null || step.do.length > 0).toBe(true);
      }),
      0.4,
    );
  });
});

describe('a configuration that somebody wants to write', () => {
  it('is right, or everything wrong with it is said', async () => {
    const cyclic: unknown[] = [];
    cyclic.push(cyclic, [cyclic]);
    const values = fc.oneof(
      spoilt(examples.config),
      anyJson,
      fc.anything({ withBigInt: true, withDate: true, withMap: true }),
      fc.constantFrom({ strategyOptions: { a: cyclic } }, { minLeadership: cyclic }, cyclic),
    );
    await holds(
      fc.property(values, (value) => {
        const problems = configProblems(value, builtInRules);
        if (problems.length > 0) return expectClear(problems.join('; '));
        expect(
          configProblems(JSON.parse(JSON.stringify(groupConfigSchema.parse(value))), builtInRules),
        ).toEqual([]);
      }),
    );
  });
});
