/** Tests elections on rings against closed forms and bounds, and tests the effects of the repairs. */
import { describe, expect, it } from 'vitest';
import { broken, experiment, mean } from './run.js';

describe('LeLann–Chang–Roberts', () => {
  it.each([
    ['falling', 'n(n+1)/2', 5050],
    ['rising', '2n−1', 199],
  ])('sends, numbers %s in the direction of the messages, %s messages', async (order, _formula, messages) => {
    const result = await experiment('lcr', { nodes: 100, order });
    expect(broken(result)).toEqual([]);
    expect(mean(result, 'election messages')).toBe(messages);
  });

  it('sends the n of the literature only where the highest alone begins', async () => {
    const alone = await experiment('lcr', { nodes: 100, order: 'rising', initiators: 'highest' });
    expect(mean(alone, 'election messages')).toBe(100);
    expect(mean(alone, 'messages')).toBe(200);
  });
});

it('LeLann–Chang–Roberts sends n·Hₙ in the mean, and takes (2n−1)Δ', async () => {
  const result = await experiment('lcr', { nodes: 50 }, 300);
  expect(result.theory.map(({ measure }) => measure)).toContain('time');
  expect(result.theory.find(({ kind }) => kind === 'mean')?.expected).toBeCloseTo(50 * 4.499, 0);
  expect(broken(result)).toEqual([]);
  for (const initiators of [3, 'highest', 'after-highest'])
    expect(broken(await experiment('lcr', { nodes: 50, initiators }, 5))).toEqual([]);
});

describe('Hirschberg–Sinclair', () => {
  it.each(['random', 'falling', 'rising'])('keeps to its bounds, numbers %s', async (order) => {
    for (const nodes of [2, 7, 64, 250]) {
      expect(broken(await experiment('hs', { nodes, order }, order === 'random' ? 5 : 1))).toEqual([]);
    }
  });
});

it('Hirschberg–Sinclair sends 4·2^k messages for each initiator of a phase at most', async () => {
  const { theory } = await experiment('hs', { nodes: 64 }, 5);
  const phases = theory.filter(({ measure }) => measure.startsWith('messages of phase'));
  expect(phases.map(({ holds }) => holds)).toEqual(Array.from({ length: 7 }, () => true));
});

describe('a synchronous ring', () => {
  it.each(['sync-ring', 'sync-ring-speeds'])('elects with O(n) messages: %s', async (name) => {
    for (const nodes of [2, 7, 64]) {
      const result = await experiment(name, { nodes }, 5);
      expect([mean(result, 'agreed'), broken(result)]).toEqual([1, []]);
    }
  });
});

describe('the ring election by attribute', () => {
  it.each(['highest', 'after-highest', 1])(
    'begun by %s sends as many messages as theory has it',
    async (initiators) => {
      for (const nodes of [2, 50])
        expect(broken(await experiment('ring', { nodes, initiators }, 5))).toEqual([]);
    },
  );

  it('does not end when the best crashes on the way; repaired, it does', async () => {
    const given = { nodes: 20, scenario: 'midway', limitMs: 60_000 };
    expect(mean(await experiment('ring', given, 40), 'agreed')).toBeLessThan(1);
    for (const name of ['ring-timeouts', 'ring-detector']) {
      expect(mean(await experiment(name, given, 40), 'agreed')).toBe(1);
    }
  });

  it('loses safety where crashes are missed: some go on following the dead', async () => {
    const given = { nodes: 10, scenario: 'crash', missed: 0.5, limitMs: 30_000 };
    expect(mean(await experiment('ring-detector', given, 40), 'misled')).toBeGreaterThan(0);
    expect(mean(await experiment('ring-detector', { ...given, missed: 0 }, 40), 'misled')).toBe(0);
  });

  it('loses liveness where the detector errs more often than a message goes round', async () => {
    const given = { nodes: 100, limitMs: 60_000 };
    expect(mean(await experiment('ring-detector', { ...given, mistakesPerS: 20 }, 5), 'agreed')).toBeLessThan(
      0.5,
    );
    expect(mean(await experiment('ring-detector', given, 5), 'agreed')).toBe(1);
  });
});

it('a ring without ids never elects one: all lead, or nobody', async () => {
  for (const nodes of [2, 3, 12]) {
    const { measures } = await experiment('anonymous', { nodes }, 40);
    expect(measures.agreed?.most).toBe(0);
    const seen = new Set([measures.leaders?.least, measures.leaders?.most]);
    expect([...seen].filter((leaders) => leaders !== 0 && leaders !== nodes)).toEqual([]);
  }
});

describe('Bully', () => {
  it.each(['lowest', 'highest'])('where the %s notices the crash is as theory has it', async (noticedBy) => {
    for (const nodes of [4, 30]) {
      expect(broken(await experiment('bully', { nodes, scenario: 'crash', noticedBy }))).toEqual([]);
    }
  });
});
