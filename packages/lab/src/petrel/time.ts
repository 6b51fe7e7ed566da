/** Presents the laboratory's simulated time as Petrel's clock. */

import type { Clock } from 'petrel/internals';
import type { Context } from '../protocol.js';

/** The wall clock at instant 0 of a run. Any value works. */
const epochMs = 1_700_000_000_000;

export function wallMs(nowMs: number): number {
  return Math.floor(epochMs + nowMs);
}

const ticksOfMs = 1e6;

export function clockOf<Message>(context: Context<Message>): Clock {
  const after = (delayMs: number, fire: () => void) => {
    const timer = context.timer(fire);
    timer.set(delayMs);
    return () => timer.stop();
  };
  return {
    monotonicMs: () => context.nowMs(),
    wallMs: () => wallMs(context.nowMs()),
    // Rounding must not make the timer fire early. A caller that wakes too early would repeatedly wait for
    // zero time.
    timer: (delayMs, fire) => after((Math.ceil(Math.max(0, delayMs) * ticksOfMs) + 1) / ticksOfMs, fire),
    turn: (fire) => after(0, fire),
  };
}
