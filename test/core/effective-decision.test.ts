import { describe, expect, it } from 'vitest';
import { effectiveDecision, isFallback } from '../../src/core/effective-decision.js';
import type { GroupSnapshot } from '../../src/model/snapshot.js';
import { claim, decided, group, unreadable, versioned } from './builders.js';

const head = (term: number) => versioned({ term, fencingToken: null });

describe('a decision', () => {
  it('that can be read, and is not older than what is known, is what it says', () => {
    for (const current of [null, claim('a1', { term: 3 }), claim('a1', { term: 2 })]) {
      const seen = group({ elected: versioned(decided({ node: 'b1', term: 3 })), current, history: head(3) });
      const elected = effectiveDecision(seen);
      expect(elected).toBe(seen.elected.value);
      expect(isFallback(seen, elected)).toBe(false);
    }
  });

  it.each<[string, Partial<GroupSnapshot>, string | null, number]>([
    ['the claim knows a later term', { current: claim('a1', { term: 5 }), history: head(2) }, 'a1', 5],
    ['the claim and the history know it', { current: claim('a1', { term: 5 }), history: head(5) }, 'a1', 6],
    ['the history knows a later term', { history: head(5) }, null, 6],
    [
      'the history knows a later one than the claim',
      { current: claim('a1', { term: 4 }), history: head(7) },
      'a1',
      8,
    ],
    ['there is no history', { current: claim('a1', { term: 5 }), history: null }, 'a1', 9],
    ['the history cannot be read', { current: claim('a1', { term: 12 }), history: unreadable() }, 'a1', 12],
  ])('that is lost: %s', (_, change, node, term) => {
    for (const elected of [versioned(decided({ node: 'b1', term: 1 }), 9), unreadable(9)]) {
      const seen = group({ elected, ...change });
      const restored = effectiveDecision(seen);
      expect(restored).toMatchObject({
        node,
        site: node === null ? null : 'a',
        term,
        strategy: 'none',
        by: 'none',
        failures: [],
        requested: null,
        failedSite: null,
      });
      expect(restored.cause).toBe(node === null ? 'nobody' : 'retry');
      expect(restored.previous).toEqual(node === null ? null : { node, site: 'a' });
      expect(isFallback(seen, restored)).toBe(true);
    }
  });

  it('says how it was lost', () => {
    const reason = (elected: GroupSnapshot['elected']) =>
      effectiveDecision(group({ elected, history: head(5) })).reason;
    expect(reason(unreadable())).toBe('the decision in leader/elected is lost (invalid JSON)');
    expect(reason(versioned(decided()))).toBe(
      'the decision in leader/elected is lost (its term is 0, but there has already been a term 5)',
    );
  });
});
