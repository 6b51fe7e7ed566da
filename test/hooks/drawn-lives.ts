/** Random lives, one for each seed. PETREL_TEST_SEED and PETREL_TEST_LIVES try others. */
import { expect } from 'vitest';

export interface DrawnLife {
  readonly logContext: readonly string[];
  /** Broken promises. */
  readonly wrong: readonly string[];
  run(): Promise<void>;
}

/** Runs the lives, and expects no broken promise in any of them. */
export async function liveAll(draw: (seed: number) => DrawnLife, usually: number): Promise<void> {
  const first = Number(process.env.PETREL_TEST_SEED ?? 1);
  const lives = Number(process.env.PETREL_TEST_LIVES ?? usually);
  for (let seed = first; seed < first + lives; seed++) {
    const life = draw(seed);
    await life.run();
    expect(life.wrong, `PETREL_TEST_SEED=${seed}\n${life.logContext.join('\n')}`).toEqual([]);
  }
}
