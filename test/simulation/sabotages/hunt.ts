/** Simulates a sabotaged group, seed after seed, until one breaks a promise. */
import { rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { buildWorker, type Result, runCrowd } from '../crowd.js';
import { type Sabotage, sabotagePlugin } from './sabotage.js';

export interface Range {
  readonly from: number;
  readonly to: number;
}

export interface Catch {
  readonly seed: number;
  readonly invariant: number;
  readonly what: string;
}

export interface HuntOptions {
  readonly sabotage: Sabotage;
  /** Tried first, in this order. */
  readonly known: readonly number[];
  readonly seeds: Range;
  /** Ends the hunt: nothing is caught then. */
  readonly signal: AbortSignal;
}

/** Null: no seed caught it. Throws where the sabotage is stale, or does not let itself be built. */
export async function hunt({ sabotage, known, seeds, signal }: HuntOptions): Promise<Catch | null> {
  const program = await buildWorker([sabotagePlugin(sabotage)]);
  try {
    const ranges = [...known.map((seed) => ({ from: seed, to: seed })), seeds];
    for (const range of ranges) {
      if (signal.aborted) return null;
      const found = await firstCatch(program, range, signal);
      if (found !== null) return found;
    }
    return null;
  } finally {
    await rm(dirname(program), { recursive: true, force: true });
  }
}

async function firstCatch(program: string, range: Range, signal: AbortSignal): Promise<Catch | null> {
  let found: Catch | null = null;
  const heard = ({ seed, violation }: Result) => {
    if (violation === null || found !== null) return found !== null || signal.aborted;
    found = { seed, ...violation };
    return true;
  };
  await runCrowd({ ...range, program, workers: 1, heard, signal });
  return found;
}
