/** Tests how a process group is ended and proven dead, in time that only the test moves. */
import { describe, expect, it } from 'vitest';
import { endGroup, endGroupsWith } from '../../src/hooks/process-group.js';
import { machineWith } from './hand-machine.js';

const pgid = 1234;
const never = () => Number.POSITIVE_INFINITY;

/** Records the outcome of a promise. The value is undefined until the promise resolves. */
function watched<T>(promise: Promise<T>): { value?: T } {
  const record: { value?: T } = {};
  void promise.then((value) => {
    record.value = value;
  });
  return record;
}

/** Returns a function that gives one answer at each call, and the last answer from then on. */
function answers<T>(first: T, ...others: T[]): () => T {
  let last = first;
  const queue = [first, ...others];
  return () => {
    last = queue.shift() ?? last;
    return last;
  };
}

describe('a process group', () => {
  it('that is gone already receives no signal, because its id may belong to others', async () => {
    const { machine, signals } = machineWith({ groupExists: () => false });
    expect(await endGroup(machine, pgid, () => 0)).toBe(true);
    expect(signals).toEqual([]);
  });

  it('is asked to stop, also if it is suspended, and is not killed before its time', async () => {
    const { clock, machine, signals } = machineWith({});
    void endGroup(machine, pgid, () => 1_000);
    await clock.advance(999);
    expect(signals).toEqual(['0: SIGTERM 1234', '0: SIGCONT 1234']);
    await clock.advance(1);
    expect(signals.at(-1)).toBe('1000: SIGKILL 1234');
  });

  it('that stops is not killed, and its end is noticed within 50 ms', async () => {
    let exists = true;
    const { clock, machine, signals } = machineWith({ groupExists: () => exists });
    const ended = watched(endGroup(machine, pgid, never));
    await clock.advance(500);
    expect(ended.value).toBeUndefined();
    exists = false;
    await clock.advance(50);
    expect(ended.value).toBe(true);
    expect(signals).toHaveLength(2);
  });

  it('that stops at once is noticed after 2 ms', async () => {
    const { clock, machine } = machineWith({ groupExists: answers(true, false) });
    const ended = watched(endGroup(machine, pgid, never));
    await clock.advance(2);
    expect(ended.value).toBe(true);
  });

  it('that stops quickly costs no scan', async () => {
    let scans = 0;
    const groupIsAlive = () => {
      scans += 1;
      return true;
    };
    const { clock, machine } = machineWith({ groupIsAlive });
    void endGroup(machine, pgid, never);
    await clock.advance(2);
    expect(scans).toBe(0);
    await clock.advance(4);
    expect(scans).toBeGreaterThan(0);
  });

  it('is killed earlier if its time is brought forward', async () => {
    const { clock, machine, signals } = machineWith({});
    let killAtMs = 10_000;
    void endGroup(machine, pgid, () => killAtMs);
    await clock.advance(1_000);
    killAtMs = 1_000;
    await clock.advance(50);
    expect(signals.at(-1)).toMatch(/: SIGKILL 1234$/);
  });

  it('that survives its kill is killed again and again, and given up 2 s later', async () => {
    const { clock, machine, signals } = machineWith({});
    const ended = watched(endGroup(machine, pgid, () => 0));
    await clock.advance(2_000);
    expect(ended.value).toBeUndefined();
    await clock.advance(60);
    expect(ended.value).toBe(false);
    expect(signals.filter((signal) => signal.includes('SIGKILL')).length).toBeGreaterThan(10);
  });

  it('of which only zombies are left is dead, however long nobody reaps them', async () => {
    const { clock, machine } = machineWith({ groupIsAlive: () => false });
    const ended = watched(endGroup(machine, pgid, never));
    await clock.advance(10);
    expect(ended.value).toBe(true);
  });

  it.each([
    ['the second', [false, true]],
    ['the third', [false, false, true]],
  ])('is not dead if one scan missed a process, and %s finds it', async (_, [first = false, ...others]) => {
    const { clock, machine } = machineWith({ groupIsAlive: answers<boolean>(first, ...others) });
    const ended = watched(endGroup(machine, pgid, never));
    await clock.advance(1_000);
    expect(ended.value).toBeUndefined();
  });

  it('that two scans did not find is killed before it counts as dead', async () => {
    const { clock, machine, signals } = machineWith({ groupIsAlive: () => false });
    void endGroup(machine, pgid, never);
    await clock.advance(10);
    expect(signals.at(-1)).toMatch(/: SIGKILL 1234$/);
  });
});

describe('the groups of a run', () => {
  it('are looked for twice, because a process that has just started is not found at first', async () => {
    const { clock, machine } = machineWith({ groupsWith: answers<number[]>([1], [2, 3]) });
    const ended: number[] = [];
    const all = watched(
      endGroupsWith(machine, 'NAME', 'value', async (group) => {
        ended.push(group);
        return true;
      }),
    );
    await clock.advance(49);
    expect(ended).toEqual([1]);
    expect(all.value).toBeUndefined();
    await clock.advance(1);
    expect(ended).toEqual([1, 2, 3]);
    expect(all.value).toBe(true);
  });

  it('are not proven dead if one of them is not', async () => {
    const { clock, machine } = machineWith({ groupsWith: () => [1, 2] });
    const all = watched(endGroupsWith(machine, 'NAME', 'value', async (group) => group === 1));
    await clock.advance(50);
    expect(all.value).toBe(false);
  });

  it('are not proven dead if they cannot be looked for', async () => {
    const { clock, machine } = machineWith({ groupsWith: () => null });
    const all = watched(endGroupsWith(machine, 'NAME', 'value', async () => true));
    await clock.advance(50);
    expect(all.value).toBe(false);
  });
});
