/**
 * Random runs of an agent, each drawn from a seed. PETREL_TEST_SEED sets the first seed, and
 * PETREL_TEST_LIVES the number of runs.
 */
import { expect } from 'vitest';

export interface DrawnLife {
  readonly logContext: readonly string[];
  /** Promises that were broken, one line each. */
  readonly wrong: readonly string[];
  run(): Promise<void>;
}

/** Runs the lives, and fails if one of them breaks a promise. */
export async function liveAll(draw: (seed: number) => DrawnLife, usually: number): Promise<void> {
  const first = Number(process.env.PETREL_TEST_SEED ?? 1);
  const lives = Number(process.env.PETREL_TEST_LIVES ?? usually);
  for (let seed = first; seed < first + lives; seed++) {
    const life = draw(seed);
    await life.run();
    expect(life.wrong, `PETREL_TEST_SEED=${seed}\n${life.logContext.join('\n')}`).toEqual([]);
  }
}
