/** A machine whose answers a test chooses, in time that only the test moves. */
import type { Machine, Processes } from '../../src/ports/processes.js';
import { HandClock } from '../support/hand-clock.js';

/** Returns a machine with these processes, and a record of the signals that were sent. */
export function machineWith(processes: Partial<Processes>) {
  const clock = new HandClock();
  const signals: string[] = [];
  const machine: Machine = {
    clock,
    processes: {
      start: () => {
        throw new Error('nothing is to be started');
      },
      signalGroup: (group, signal) => signals.push(`${clock.monotonicMs()}: ${signal} ${group}`),
      groupExists: () => true,
      groupIsAlive: () => true,
      groupsWith: () => [],
      ...processes,
    },
  };
  return { clock, machine, signals };
}
