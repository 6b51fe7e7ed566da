import { describe, expect, it } from 'vitest';
import { findProblems, type HookEvent, hookEventSchema } from '../hook-events.js';

/**
 * Parses lines such as `a 1 takeover started`, or `a/2 1 …` for slot 2, in the order in which they happened.
 * Uses the index of a line as its time.
 */
function history(...lines: string[]): HookEvent[] {
  return lines.map((line, at) => {
    const [name = '', token = '', phase, event] = line.split(' ');
    const [node, slot = '1'] = name.split('/');
    const leadership = { node, slot: Number(slot), token: token === '-' ? '' : token };
    const times = { at, monotonicMs: at };
    return hookEventSchema.parse({
      ...leadership,
      ...times,
      phase,
      event,
      term: 1,
      exitCode: null,
      alive: [],
    });
  });
}

const leads = (name: string) => [
  `${name} takeover started`,
  `${name} takeover beat`,
  `${name} takeover ended`,
];
const released = (name: string) => [
  `${name} release started`,
  `${name} release beat`,
  `${name} release ended`,
];

describe('the checker of hook events', () => {
  it('finds nothing wrong with an orderly handover', () => {
    expect(
      findProblems(history(...leads('a 1'), 'a 1 takeover beat', ...released('a 1'), ...leads('b 2'))),
    ).toEqual([]);
  });

  it('takes the last beat for the end of a leadership that was killed', () => {
    expect(
      findProblems(history(...leads('a 1'), 'a 1 takeover beat', ...leads('b 2'), 'b 2 takeover beat')),
    ).toEqual([]);
  });

  it('catches a beat after another node’s takeover has started', () => {
    expect(findProblems(history(...leads('a 1'), 'b 2 takeover started', 'a 1 takeover beat'))).toEqual([
      'b (token 2) took over at 3 while a (token 1) was active, until takeover beat at 4',
    ]);
  });

  it('catches it even when the release has ended', () => {
    const events = history(...leads('a 1'), ...released('a 1'), ...leads('b 2'), 'a 1 takeover beat');
    expect(findProblems(events)).toHaveLength(1);
  });

  it('catches a takeover hook that is still at work', () => {
    const events = history('a 1 takeover started', 'b 2 takeover started', 'a 1 takeover ended');
    expect(findProblems(events)).toHaveLength(1);
  });

  it('catches a release that has not ended', () => {
    const events = history(...leads('a 1'), 'a 1 release started', ...leads('b 2'), 'a 1 release ended');
    expect(findProblems(events)).toEqual([
      'b (token 2) took over at 4 while a (token 1) was active, until release ended at 7',
    ]);
  });

  it('lets a release tidy up late after a workload that was killed', () => {
    expect(findProblems(history(...leads('a 1'), ...leads('b 2'), ...released('a 1')))).toEqual([]);
  });

  it('catches every leadership that a later one overlaps', () => {
    const events = history(
      ...leads('a 1'),
      ...leads('b 2'),
      ...leads('c 3'),
      'a 1 takeover beat',
      'b 2 takeover beat',
    );
    expect(findProblems(events)).toHaveLength(3);
  });

  it('catches the same node’s earlier life', () => {
    expect(findProblems(history(...leads('a 1'), ...leads('a 2'), 'a 1 takeover beat'))).toHaveLength(1);
  });

  it('catches a workload that a takeover saw alive, unless it was stopped or dead', () => {
    const [first, second] = history('a 1 takeover started', 'b 2 takeover started');
    const withState = (state: string) => {
      if (first === undefined || second === undefined) throw new Error('two events were made');
      return findProblems([first, { ...second, alive: [{ node: 'a', slot: 1, token: '1', state }] }]);
    };
    expect(withState('S')).toEqual(['b (token 2) took over at 1 while a (token 1) was alive']);
    expect(withState('R')).toHaveLength(1);
    expect([withState('T'), withState('Z')]).toEqual([[], []]);
  });

  it('counts a child run by `petrel run` as a leadership', () => {
    const run = ['a 1 run started', 'a 1 run beat'];
    expect(findProblems(history(...run, 'a 1 run ended', ...leads('b 2')))).toEqual([]);
    expect(findProblems(history(...run, ...leads('b 2'), 'a 1 run ended'))).toHaveLength(1);
  });

  it('wants fencing tokens, each greater than the one before', () => {
    expect(findProblems(history(...leads('a 10'), ...leads('b 9')))).toHaveLength(1);
    expect(findProblems(history(...leads('a 9'), ...released('a 9'), ...leads('a 9')))).toHaveLength(1);
    expect(
      findProblems(history(...leads('a 9'), ...leads('b 10'), ...leads('a 18446744073709551616'))),
    ).toEqual([]);
    expect(findProblems(history(...leads('a -')))).toEqual(['a took over at 0 without a fencing token']);
  });

  it('lets two nodes lead two slots, begun in either order', () => {
    expect(findProblems(history(...leads('a 1'), ...leads('b/2 2'), 'a 1 takeover beat'))).toEqual([]);
    expect(findProblems(history(...leads('b/2 2'), ...leads('a 1'), 'b/2 2 takeover beat'))).toEqual([]);
  });

  it('catches two nodes in one slot, and one node in two', () => {
    expect(findProblems(history(...leads('a/2 1'), ...leads('b/2 2'), 'a/2 1 takeover beat'))).toHaveLength(
      1,
    );
    expect(findProblems(history(...leads('a 1'), ...leads('a/2 2'), 'a 1 takeover beat'))).toHaveLength(1);
  });

  it('has no opinion on preparing and fencing', () => {
    const events = history('b - prepare started', ...leads('a 1'), 'b - prepare ended', 'b - fence started');
    expect(findProblems(events)).toEqual([]);
  });
});
