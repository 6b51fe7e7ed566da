/** Tests which process groups stay alive, and when their end is noticed, in time that only the test moves. */
import { describe, expect, it } from 'vitest';
import { GroupRegister } from '../../src/hooks/group-register.js';
import { machineWith } from './hand-machine.js';

/** Returns a register on a machine where the groups in `alive` are alive, and a record of what it does. */
function registerWith(...groups: number[]) {
  const alive = new Set(groups);
  const checks: string[] = [];
  const look = (pgid: number) => {
    checks.push(`${clock.monotonicMs()}: ${pgid}`);
    return alive.has(pgid);
  };
  const { clock, machine, signals } = machineWith({ groupExists: look, groupIsAlive: look });
  const gone: number[] = [];
  const register = new GroupRegister(machine, (pgid) => gone.push(pgid));
  return { register, clock, alive, signals, checks, gone };
}

describe('a registered process group', () => {
  it('of the current leadership is not killed, and its end is noticed within 5 s', async () => {
    const { register, clock, alive, signals, checks, gone } = registerWith(7);
    register.add(7, 1);
    register.settled(7, false);
    register.spare(1);
    await clock.advance(4_999);
    expect(checks).toEqual(['0: 7']);
    alive.delete(7);
    await clock.advance(1);
    expect(gone).toEqual([7]);
    expect(register.size).toBe(0);
    expect(signals).toEqual([]);
  });

  it('of another leadership is killed again every 50 ms until it is gone', async () => {
    const { register, clock, alive, signals, gone } = registerWith(7, 8);
    register.add(7, 1);
    register.settled(7, false);
    register.spare(2);
    await clock.advance(49);
    register.add(8, 2);
    await clock.advance(51);
    expect(signals).toEqual(['0: SIGKILL 7', '50: SIGKILL 7', '100: SIGKILL 7']);
    alive.delete(7);
    await clock.advance(50);
    expect(gone).toEqual([7]);
    expect(register.size).toBe(1);
    expect(signals).toHaveLength(4);
  });

  it('in which a command runs is not killed, even if it belongs to no leadership', async () => {
    const { register, clock, signals } = registerWith(7, 8);
    register.add(7, 1);
    register.settled(7, false);
    register.add(8, 0);
    register.spare(1);
    register.settled(7, true);
    await clock.advance(10_000);
    expect(signals).toEqual([]);
    register.settled(8, false);
    await clock.advance(5_000);
    expect(signals[0]).toBe('15000: SIGKILL 8');
  });

  it('that an earlier supervisor left behind is killed at once', async () => {
    const { register, clock, signals } = registerWith(7);
    register.spare(1);
    register.adopt(7);
    await clock.advance(0);
    expect(signals).toEqual(['0: SIGKILL 7']);
  });
});

describe('the end of some leaderships', () => {
  it('ends their groups and no others, and reports each group once', async () => {
    const { register, clock, alive, signals, gone } = registerWith(7, 8, 9);
    for (const pgid of [7, 8, 9]) register.add(pgid, pgid - 6);
    const results: boolean[] = [];
    void register
      .end(
        (leadership) => leadership !== 2,
        () => Number.POSITIVE_INFINITY,
      )
      .then((dead) => results.push(dead));
    expect(signals).toEqual(['0: SIGTERM 7', '0: SIGCONT 7']);
    alive.delete(7);
    await clock.advance(2);
    expect(results).toEqual([true]);
    expect(gone).toEqual([7]);
    expect(register.size).toBe(2);
    register.settled(7, true);
    expect(gone).toEqual([7]);
  });

  it('is not proven if a process survives its kill', async () => {
    const { register, clock, gone } = registerWith(7);
    register.add(7, 1);
    register.settled(7, false);
    const results: boolean[] = [];
    void register
      .end(
        () => true,
        () => 0,
      )
      .then((dead) => results.push(dead));
    await clock.advance(3_000);
    expect(results).toEqual([false]);
    expect(gone).toEqual([]);
  });
});

it('without process groups, nothing wakes the process', async () => {
  const { register, clock, alive, gone } = registerWith(7);
  register.add(7, 1);
  register.settled(7, false);
  register.spare(2);
  alive.delete(7);
  await clock.advance(10_000);
  expect(gone).toEqual([7]);
  expect(clock.armed).toBe(0);
});
