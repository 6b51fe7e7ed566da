import { describe, expect, it } from 'vitest';
import {
  defaultGroupConfig,
  failbackDelayMs,
  type GroupConfig,
  overrideInForce,
  priorityAfter,
  siteConfig,
  sitePriority,
  withOverride,
  withSites,
} from '../../src/model/group-config.js';
import { configProblems, parseGroupConfig, prepareStrategy } from '../../src/model/read-config.js';
import { builtInRules } from '../../strategies/index.js';
import { byHand, config, epoch0Ms, instant } from './builders.js';

describe('a group’s configuration', () => {
  it('is complete when it says nothing', () => {
    expect(parseGroupConfig('{}')).toEqual({ value: defaultGroupConfig, problem: null });
    expect(configProblems({}, builtInRules)).toEqual([]);
    expect(prepareStrategy(defaultGroupConfig, builtInRules).strategy?.name).toBe('site-priority');
  });

  it('reads back as it was written', () => {
    const full = config({
      failback: 'after:1.5h',
      sites: { a: { override: { priority: 1, until: null, ...byHand } } },
      switchover: { to: { site: 'a' }, replacesTerm: 1, ...byHand },
      drained: { a1: byHand },
      clearedFailures: { a1: { failedAt: instant(0), ...byHand } },
      paused: byHand,
    });
    expect(parseGroupConfig(JSON.stringify(full)).value).toEqual(full);
  });

  it.each<[string, string, string]>([
    ['nothing', '', 'empty content'],
    ['garbage', '{', 'invalid JSON'],
    ['a list', '[]', 'expected keys with values'],
  ])('that is %s says so', (_, text, problem) => {
    const parsed = parseGroupConfig(text);
    expect(parsed.value).toBeNull();
    expect(parsed.problem).toContain(problem);
  });

  it.each<[unknown, string]>([
    [{ failbak: 'auto' }, 'unknown `failbak`; expected one of strategy, strategyOptions, sites, failback,'],
    [{ sites: { a: { prio: 1 } } }, 'sites.a: unknown `prio`; expected one of priority, drained, override'],
    [{ timeouts: { claims: '1s' } }, 'timeouts: unknown `claims`; expected one of claim, prepare,'],
    [{ minLeadership: 5 }, 'minLeadership: 5 has no unit: write 5s, 5m or 5h'],
    [{ circuitBreaker: { within: 'soon' } }, 'circuitBreaker.within: "soon" is not a duration'],
    [{ sites: { 'a/b': {} } }, 'sites.a/b: expected a name of 1 to 128 letters'],
    [{ sites: { a: { priority: -1 } } }, 'sites.a.priority: '],
    [
      { switchover: { to: 'anybody', replacesTerm: 1, ...byHand } },
      'switchover.to: expected {"node": ID}, {"site": NAME} or "best-other"',
    ],
    [{ backoff: { base: '2h', max: '1h' } }, 'backoff.base <= backoff.max is required, but found 2h and 1h'],
    [{ backoff: { base: '0s' } }, '0 < backoff.base is required'],
    [{ timeouts: { prepare: '10s', claim: '10s' } }, 'timeouts.prepare < timeouts.claim is required'],
    [{ timeouts: { grace: '31s' } }, 'timeouts.grace <= timeouts.release is required'],
    [{ timeouts: { takeover: '0s' } }, '0 < timeouts.takeover is required'],
  ])('refuses %j', (value, problem) => {
    expect(configProblems(value, builtInRules).join('\n')).toContain(problem);
    expect(parseGroupConfig(JSON.stringify(value)).problem).toContain(problem);
  });

  it.each(['sometimes', 'after', 'after:', 'after:10', 'after:10x', 'after:0.5ms', 'after:9999d', 'auto '])(
    'refuses failback %j, and says what would be right',
    (failback) => {
      expect(configProblems({ failback }, builtInRules)).toEqual([
        expect.stringMatching(/^failback: expected auto, manual, or after:DURATION/),
      ]);
    },
  );

  it('a strategy unknown here is no reason to refuse what another version wrote', () => {
    expect(parseGroupConfig('{"strategy":"newest"}').value?.strategy).toBe('newest');
    expect(configProblems({ strategy: 'newest' }, builtInRules)).toHaveLength(1);
  });
});

describe('what it says', () => {
  it('when leadership returns to a better node', () => {
    const delay = (failback: string) => failbackDelayMs(config({ failback, failbackHold: '3s' }));
    expect([delay('manual'), delay('auto'), delay('after:10m'), delay('after:0s')]).toEqual([
      null,
      3_000,
      600_000,
      0,
    ]);
  });

  it('of a site: an override while it lasts, else what is set, else the default', () => {
    const override = { priority: 7, until: instant(1_000), ...byHand };
    const settings = config({ sites: { a: { priority: 50, override }, b: { priority: 60 } } });
    const at = (site: string, ms: number) => sitePriority(settings, site, epoch0Ms + ms);
    expect([at('a', 999), at('a', 1_000), at('b', 0), at('c', 0), at('constructor', 0)]).toEqual([
      7, 50, 60, 100, 100,
    ]);
    expect(overrideInForce(siteConfig(settings, 'a'), epoch0Ms)).toEqual(override);
    const later = { ...override, priority: 8, until: instant(2_000) };
    const last = { ...override, priority: 9, until: null };
    const nested = config({ sites: { a: { override: { ...override, suspended: [later, last] } } } });
    const inNested = (ms: number) => overrideInForce(siteConfig(nested, 'a'), epoch0Ms + ms);
    expect(inNested(999)).toMatchObject({ priority: 7, suspended: [later, last] });
    expect(inNested(1_000)).toEqual({ ...later, suspended: [last] });
    expect(inNested(2_000)).toEqual(last);
    const endless = { ...override, until: null };
    expect(overrideInForce(siteConfig(config({ sites: { a: { override: endless } } }), 'a'), 1e15)).toEqual(
      endless,
    );
  });
});

describe('an override', () => {
  const override = (priority: number, untilMs: number | null) => ({
    priority,
    until: untilMs === null ? null : instant(untilMs),
    ...byHand,
  });
  const [short, long, lasting] = [override(1, 1_000), override(2, 2_000), override(3, null)];

  it('suspends those that last longer, and replaces the others', () => {
    expect(withOverride(null, short)).toEqual(short);
    expect(withOverride(lasting, short)).toEqual({ ...short, suspended: [lasting] });
    expect(withOverride({ ...long, suspended: [lasting] }, short)).toEqual({
      ...short,
      suspended: [long, lasting],
    });
    expect(withOverride({ ...short, suspended: [lasting] }, long)).toEqual({ ...long, suspended: [lasting] });
    expect(withOverride({ ...short, suspended: [lasting] }, override(4, null))).toEqual(override(4, null));
  });

  it('ends in the priority that is then in force', () => {
    const afterEnd = (one: GroupConfig['sites'][string]['override']) =>
      priorityAfter(siteConfig(config({ sites: { a: { priority: 50, override: one } } }), 'a'));
    expect([
      afterEnd(short),
      afterEnd({ ...short, suspended: [lasting] }),
      afterEnd(lasting),
      afterEnd(null),
    ]).toEqual([50, 3, null, null]);
  });
});

describe('a site', () => {
  it('has no entry once it has only default settings', () => {
    const settings = config({
      sites: { a: { drained: byHand }, b: { priority: 5, drained: byHand }, c: {} },
    });
    const undrained = withSites(settings, [
      { site: 'a', settings: { drained: null } },
      { site: 'b', settings: { drained: null } },
    ]);
    expect(Object.keys(undrained.sites)).toEqual(['b', 'c']);
  });
});
