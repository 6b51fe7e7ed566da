import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { endGroup, endGroupsWith } from '../../src/hooks/process-group.js';
import { type Clock, systemClock } from '../../src/ports/clock.js';
import { eventually, machine } from './support.js';

const variable = 'PETREL_TEST_FOUND_BY';

const kill = (pgid: number) => endGroup(machine, pgid, () => 0);

/** Time that passes only while somebody waits for it. */
function waitedClock(): Clock {
  let nowMs = 0;
  return {
    ...systemClock,
    monotonicMs: () => nowMs,
    timer(delayMs, fire) {
      nowMs += delayMs;
      queueMicrotask(fire);
      return () => {};
    },
  };
}

function start(value: string, script: string) {
  const child = spawn('/bin/sh', ['-c', script], {
    detached: true,
    stdio: 'ignore',
    env: { ...process.env, [variable]: value },
  });
  return { child, ended: once(child, 'exit') };
}

describe('process groups found by what is in their environment', () => {
  it('are all that have it, each once, and are ended with everything in them', async () => {
    const value = `mine-${process.pid}`;
    const one = start(value, 'sleep 1000 & sleep 1000 & wait');
    const other = start(`${value}0`, 'exec sleep 1000');
    try {
      await eventually(() => machine.processes.groupsWith(variable, value)).toEqual([one.child.pid]);
      expect(await endGroupsWith(machine, variable, value, kill)).toBe(true);
      await one.ended;
      expect(machine.processes.groupsWith(variable, value)).toEqual([]);
      expect(machine.processes.groupsWith(variable, `${value}0`)).toEqual([other.child.pid]);
    } finally {
      other.child.kill('SIGKILL');
      await other.ended;
    }
  });

  it('may be none', async () => {
    expect(await endGroupsWith(machine, variable, 'nobody', kill)).toBe(true);
  });
});

describe('a process group whose zombies nobody reaps', () => {
  /** A group of which scans find a living process as `alive` says, and then none. */
  function machineWith(alive: boolean[]) {
    const signals: string[] = [];
    const clock = waitedClock();
    const processes = {
      ...machine.processes,
      signalGroup: (_: number, signal: string) => signals.push(`${signal} at ${clock.monotonicMs()}`),
      groupExists: () => true,
      groupIsAlive: () => alive.shift() ?? false,
    };
    return { clock, processes, signals };
  }

  it('is soon proven dead', async () => {
    const { clock, processes } = machineWith([]);
    expect(await endGroup({ clock, processes }, 1, () => 60_000)).toBe(true);
    expect(clock.monotonicMs()).toBeLessThan(10);
  });

  it('is not killed because of a process that one scan missed', async () => {
    const { clock, processes, signals } = machineWith([false, true, true, false, true]);
    expect(await endGroup({ clock, processes }, 1, () => 60_000)).toBe(true);
    expect(signals).toEqual(['SIGTERM at 0', 'SIGCONT at 0', 'SIGKILL at 62']);
  });
});
