/** The proof that a process has ended, from the text of /proc/PID/stat. */
import { describe, expect, it } from 'vitest';
import { hasEnded, parseStat } from '../../src/hooks/process-state.js';

/** Returns what the system shows of process 701 in group 700. */
function stat(state: string, { name = 'sleep', threads = 1 } = {}): string {
  const before = '1 700 699 0 -1 4227084 3011 6525 5 1 12 8 16 33 20 0';
  return `701 (${name}) ${state} ${before} ${threads} 0 172417 0 0\n`;
}

describe('a process', () => {
  it.each(['Z', 'X'])('in state %s has ended', (state) => {
    expect(hasEnded(parseStat(stat(state)))).toBe(true);
    expect(hasEnded(parseStat(stat(state, { threads: 0 })))).toBe(true);
  });

  it.each(['R', 'S', 'D', 'T', 't', 'I'])('in state %s lives', (state) => {
    expect(hasEnded(parseStat(stat(state)))).toBe(false);
    expect(hasEnded(parseStat(stat(state, { threads: 0 })))).toBe(false);
  });

  it('lives while a thread of it is left, though its main thread has ended', () => {
    expect(hasEnded(parseStat(stat('Z', { threads: 2 })))).toBe(false);
  });

  it.each(['', '701', '701 (sleep)', '701 (sleep) Z', '701 (sleep) Z 1 700'])(
    'lives if the system shows only "%s" of it',
    (text) => {
      expect(hasEnded(parseStat(text))).toBe(false);
      expect(parseStat(text).startedAt).toBeNull();
    },
  );

  it.each(['a name', 'Z) Z 1 1', ') Z ', '(('])('is read correctly if it is named "%s"', (name) => {
    const expected = { state: 'S', pgid: 700, threads: 3, startedAt: '172417' };
    expect(parseStat(stat('S', { name, threads: 3 }))).toEqual(expected);
  });
});
