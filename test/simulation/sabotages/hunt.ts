/** Simulates a group with sabotaged code, seed after seed, until a run breaks a promise. */
import { rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { buildWorker, type Result, runCrowd } from '../crowd.js';
import { isScripted } from '../scenarios.js';
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
  /** Seeds to try first, in this order. */
  readonly known: readonly number[];
  readonly seeds: Range;
  /**
   * Ends the hunt when it is aborted. The result is then null unless a seed has already caught the sabotage.
   */
  readonly signal: AbortSignal;
}

/**
 * Returns the first seed that catches the sabotage, with the violation. Returns null if no seed catches it.
 * Throws if the sabotage does not fit the code any more, or cannot be built.
 */
export async function hunt({ sabotage, known, seeds, signal }: HuntOptions): Promise<Catch | null> {
  const program = await buildWorker([sabotagePlugin(sabotage)]);
  let found: Catch | null = null;
  const heard = ({ seed, violation }: Result) => {
    if (violation !== null) found ??= { seed, ...violation };
    return found !== null;
  };
  try {
    const { lives = 'all' } = sabotage;
    const first = lives === 'all' ? [...known, ...scripted(seeds)] : known;
    await runCrowd({ ...seeds, first, lives, program, workers: 1, heard, signal });
    return found;
  } finally {
    await rm(dirname(program), { recursive: true, force: true });
  }
}

/** Returns the seeds of scripted runs, which catch most sabotages. */
function scripted({ from, to }: Range): number[] {
  return Array.from({ length: Math.max(0, to - from + 1) }, (_, index) => from + index).filter(isScripted);
}
