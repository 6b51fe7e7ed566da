/** Faults that malformed znodes have caused in the past. docs/reports/faults.md describes each of them. */

import { describe, expect, it } from 'vitest';
import { withFailure } from '../../src/core/backoff.js';
import { effectiveDecision } from '../../src/core/effective-decision.js';
import { electorRound, newElector } from '../../src/core/round.js';
import { parseJson } from '../../src/model/names.js';
import { oneLine, quoted, visibleJson } from '../../src/model/outside.js';
import { rootSchema } from '../../src/model/paths.js';
import { configProblems, parseGroupConfig } from '../../src/model/read-config.js';
import { registrationSchema } from '../../src/model/registration.js';
import { electedSchema, lastTerm, mostFailures } from '../../src/model/znodes.js';
import { constraints } from '../../strategies/constraints/index.js';
import { builtInRules } from '../../strategies/index.js';
import {
  config,
  decided,
  epoch0Ms,
  failure,
  group,
  instant,
  members,
  registration,
  strategyOf,
  versioned,
} from './builders.js';

const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;

describe('a value that nests without end', () => {
  it('is a problem of its znode, whatever stands in its place', () => {
    for (const text of [`{"minLeadership":${deep}}`, `{"strategyOptions":{"order":${deep}}}`, deep]) {
      expect(parseGroupConfig(text)).toEqual({
        value: null,
        problem: 'the content is nested deeper than 64 levels',
      });
    }
  });

  it('is one that holds itself, too', () => {
    const cyclic: unknown[] = [];
    cyclic.push(cyclic, cyclic);
    expect(configProblems({ strategyOptions: { order: cyclic } }, builtInRules)).toEqual([
      'the content is nested deeper than 64 levels',
    ]);
  });
});

describe('a thousand problems', () => {
  it('are described by the first of them', () => {
    const sites = Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`-${index}`, 1]));
    const { problem } = parseGroupConfig(JSON.stringify({ sites }));
    expect(problem).toContain('sites.-0: ');
    expect(problem).toContain('; and 980 more');
    expect(problem?.length).toBeLessThan(4000);
  });

  it('of unknown keys likewise, cut where they are long', () => {
    const { problem } = parseGroupConfig(JSON.stringify({ ['k'.repeat(10_000)]: 1 }));
    expect(problem).toContain(`unknown \`${'k'.repeat(120)}…\`; expected one of strategy`);
  });
});

describe('a number that cannot rise', () => {
  const decideOn = (term: number) =>
    electorRound({
      self: 'a1',
      snapshot: group({ elected: versioned(decided({ term })) }),
      members: members('a1'),
      config: config(),
      strategy: strategyOf(config()),
      memory: newElector,
      clock: { epochMs: epoch0Ms, atMs: 0 },
      nowMs: 0,
      constraints,
      canFence: false,
      observedSinceMs: Number.NEGATIVE_INFINITY,
    }).actions;

  it('as a term: the next decision can be read all the same', () => {
    const [action] = decideOn(lastTerm);
    if (action?.do !== 'write-elected') throw new Error('nothing decided');
    expect(action.elected).toMatchObject({ node: 'a1', term: lastTerm });
    expect(parseJson(electedSchema, JSON.stringify(action.elected)).problem).toBeNull();
  });

  it('as a term beyond all: it is malformed, and does not become the group’s', () => {
    const read = parseJson(electedSchema, JSON.stringify(decided({ term: lastTerm + 1 })));
    expect(read.problem).toContain('term: ');
    const elected = { ...read, version: 5, modifiedAtMs: 0 };
    expect(effectiveDecision({ elected, current: null, history: null }).term).toBe(5);
  });

  it('as a count of failures: the record can be read all the same', () => {
    const before = [failure('a1', { count: Number.MAX_SAFE_INTEGER })];
    const again = { node: 'a1', incarnation: 'a1-life1', reason: 'exit code 1' };
    const failures = withFailure(before, again, config(), epoch0Ms);
    expect(parseJson(electedSchema, JSON.stringify(decided({ failures }))).problem).toBeNull();
  });
});

describe('lists without end', () => {
  it('of failures: they are malformed, and one more never makes a list unreadable', () => {
    const many = Array.from({ length: mostFailures }, (_, index) =>
      failure(`n${index}`, { until: instant(9e9) }),
    );
    const next = { node: 'a1', incarnation: 'x', reason: 'x' };
    const failures = withFailure(many, next, config(), epoch0Ms);
    expect(parseJson(electedSchema, JSON.stringify(decided({ failures }))).value?.failures.at(-1)?.node).toBe(
      'a1',
    );
    const tooMany = decided({ failures: [...many, failure('a1')] });
    expect(parseJson(electedSchema, JSON.stringify(tooMany)).problem).toContain('failures: ');
  });

  it('of output: the last lines are enough', () => {
    const outputTail = Array.from({ length: 50_000 }, (_, index) => String(index));
    const detail = { phase: 'takeover', reason: 'x', command: null, exitCode: 1, signal: null, outputTail };
    const text = JSON.stringify(registration('a1', {}));
    const malformed = JSON.stringify({ ...JSON.parse(text), lastFailure: { electedVersion: 1, detail } });
    expect(parseJson(registrationSchema, malformed).value?.lastFailure?.detail.outputTail).toHaveLength(20);
  });
});

describe('a text with characters that are not seen', () => {
  const text = 'pay\u202Etxt.exe\u2066a\u2069\u200F\u200B\uFEFF\u{E0041}';

  it('is shown with these spelt out', () => {
    const visible = 'pay<U+202E>txt.exe<U+2066>a<U+2069><U+200F><U+200B><U+FEFF><U+E0041>';
    expect(oneLine(text)).toBe(visible);
    expect(quoted(text)).toBe(`"${visible}"`);
    expect(oneLine('\u001b[31mred\nline')).toBe(' [31mred line');
  });

  it('is the same in JSON, which has none of them', () => {
    const json = visibleJson(JSON.stringify({ text }));
    expect(json).not.toMatch(/\p{Cf}/u);
    expect(JSON.parse(json)).toEqual({ text });
  });

  it('is no root', () => {
    expect(rootSchema.safeParse('/a\u202Eb').success).toBe(false);
  });
});
