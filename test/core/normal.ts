import type { Chance } from '../support/chance.js';

/** Draws from the standard normal distribution, by the method of Box and Muller. */
export function normal(draw: Chance): number {
  return Math.sqrt(-2 * Math.log(1 - draw.next())) * Math.cos(2 * Math.PI * draw.next());
}
