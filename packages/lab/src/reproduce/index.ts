/** The parts of the literature that can be reproduced. */
import { chapter5 } from './chapter5.js';
import { pole } from './pole.js';
import { type Plan, seedsOfReproduction } from './reproduction.js';
import { rings } from './rings.js';

export { seedsOfReproduction };

export const reproductions: ReadonlyMap<string, Plan> = new Map([
  ['chapter5', chapter5],
  ['pole', pole],
  ['rings', rings],
]);
