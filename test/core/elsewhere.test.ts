import { describe, expect, it } from 'vitest';
import { withFailuresOfOthers } from '../../src/core/backoff.js';
import { contextOf } from '../../src/core/constraint.js';
import { isGivenUp, nowhereElse } from '../../src/core/elsewhere.js';
import { config, decided, epoch0Ms, failure, instant } from './builders.js';

describe('failures that several slots record', () => {
  const at = (node: string, ms: number, reason: string) => failure(node, { failedAt: instant(ms), reason });
  const merged = (
    own: Parameters<typeof withFailuresOfOthers>[0],
    others: typeof own,
    ready: string[] = [],
  ) => withFailuresOfOthers(own, { ...nowhereElse, failures: others, ready: new Set(ready) });
  const own = [at('a1', 10, 'own'), at('b1', 0, 'own')];

  it('count here, too', () => {
    expect(merged(own, [at('c1', 5, 'other')])).toEqual([...own, at('c1', 5, 'other')]);
    expect(withFailuresOfOthers(own, nowhereElse)).toEqual(own);
    expect(withFailuresOfOthers([], nowhereElse)).toEqual([]);
  });

  it('are kept once for each node, the later one', () => {
    expect(merged(own, [at('a1', 11, 'other')])).toEqual([at('b1', 0, 'own'), at('a1', 11, 'other')]);
    expect(merged(own, [at('a1', 9, 'other')])).toEqual(own);
    expect(merged([], [at('a1', 1, 'second'), at('a1', 2, 'third')])).toEqual([at('a1', 2, 'third')]);
  });

  it('are kept once if two records describe the same failure, the own one', () => {
    expect(merged(own, [at('a1', 10, 'other')])).toEqual(own);
  });

  it('are over for a node that is READY in another slot', () => {
    expect(merged(own, [at('c1', 5, 'other')], ['a1', 'c1'])).toEqual([at('b1', 0, 'own')]);
  });
});

describe('a group with only one leadership', () => {
  it('names only the node of that leadership as elected', () => {
    const known = {
      config: config(),
      failures: [],
      epochMs: epoch0Ms,
      snapshot: {},
      elsewhere: nowhereElse,
    };
    expect(contextOf({ ...known, elected: decided({ node: 'a1' }) }).elected).toEqual(new Set(['a1']));
    expect(contextOf({ ...known, elected: decided() }).elected).toEqual(new Set());
  });
});

describe('a leadership', () => {
  it('is removed on purpose by a planned decision to elect no node, and by no other decision', () => {
    expect(isGivenUp({ node: null, cause: 'planned' })).toBe(true);
    expect(isGivenUp({ node: null, cause: 'nobody' })).toBe(false);
    expect(isGivenUp({ node: 'a1', cause: 'planned' })).toBe(false);
  });
});
