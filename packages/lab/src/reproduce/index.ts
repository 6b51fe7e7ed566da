/** The parts of the literature that can be reproduced. */
import { departures, joiners, rounds, suppression } from './announce-listen.js';
import { chapter5 } from './chapter5.js';
import { failures } from './failures.js';
import type { ReproductionName } from './names.js';
import { pole } from './pole.js';
import { type Plan, seedsOfReproduction } from './reproduction.js';
import { rings } from './rings.js';

export { seedsOfReproduction };

export const reproductions: Readonly<Record<ReproductionName, Plan>> = {
  chapter5,
  suppression,
  rounds,
  joiners,
  departures,
  failures,
  rings,
  pole,
};
