import { describe, expect, it } from 'vitest';
import { monotonicMs } from '../../bench/clocks.js';
import { Hub } from '../../bench/hub.js';
import { parseLine } from '../../bench/lines.js';

describe('a line of a contender', () => {
  it.each([
    ['leads e1-2 monotonic 12.345678', { what: 'leads', name: 'e1-2', clock: 'monotonic', atMs: 12_345.678 }],
    [
      'released e1-2 epoch 1700000000.5',
      { what: 'released', name: 'e1-2', clock: 'epoch', atMs: 1_700_000_000_500 },
    ],
    ['  leaves e1-2 monotonic 0.000001\r', { what: 'leaves', name: 'e1-2', clock: 'monotonic', atMs: 0.001 }],
  ])('%j is understood', (line, said) => {
    expect(parseLine(line)).toEqual(said);
  });

  it.each([
    '',
    'leads',
    'leads e1-2 12.3',
    'leads e1-2 monotonic 12',
    'leads e1-2 sundial 12.3',
    'leads e1 2 monotonic 12.3',
    'SLF4J: leads e1-2 monotonic 12.3',
    'lost e1-2 monotonic 12.3',
  ])('%j is something else', (line) => {
    expect(parseLine(line)).toBeNull();
  });
});

describe('the hub', () => {
  it('has events of both clocks on the monotonic one', () => {
    const hub = new Hub();
    const mark = hub.mark;
    const before = monotonicMs();
    hub.take(`leads a epoch ${(Date.now() / 1000).toFixed(6)}`);
    hub.take(`released b monotonic ${(monotonicMs() / 1000).toFixed(6)}`);
    const [one, other] = hub.since(mark);
    // Date.now() truncates by up to a millisecond, so the limits leave some room.
    expect(one?.atMs).toBeGreaterThan(before - 5);
    expect(other?.atMs).toBeGreaterThan(before - 5);
    expect(Math.abs((one?.atMs ?? 0) - (other?.atMs ?? 0))).toBeLessThan(10_000);
  });

  it('finds what comes, and what has come since the mark, but nothing before it', async () => {
    const hub = new Hub();
    hub.take('leads early monotonic 1.0');
    const mark = hub.mark;
    const wanted = { mark, timeoutMs: 10_000, describe: 'a leader' };
    const coming = hub.event(({ what }) => what === 'leads', wanted);
    hub.take('leads late monotonic 2.0');
    expect((await coming).name).toBe('late');
    expect((await hub.event(({ what }) => what === 'leads', wanted)).name).toBe('late');
    await expect(hub.event(() => false, { ...wanted, timeoutMs: 1 })).rejects.toThrow('1 ms for a leader');
  });
});
