/** The registry of all election algorithms in the laboratory. */
import type { Algorithm } from '../algorithm.js';
import { announceListen } from './announce-listen.js';
import { anonymousRing } from './anonymous-ring.js';
import { bully } from './bully.js';
import { hirschbergSinclair } from './hirschberg-sinclair.js';
import { lelannChangRoberts } from './lelann-chang-roberts.js';
import { majorityLease } from './majority-lease.js';
import { petrel } from './petrel.js';
import { pole } from './pole.js';
import { ringByAttribute } from './ring-by-attribute.js';
import { synchronousRings } from './synchronous-ring.js';
import { zooKeeperRecipes } from './zookeeper-recipe.js';

/** All algorithms, in the order in which tables show them. */
const all: readonly Algorithm[] = [
  anonymousRing,
  ...synchronousRings,
  lelannChangRoberts,
  hirschbergSinclair,
  ...ringByAttribute,
  bully,
  majorityLease,
  ...pole,
  ...zooKeeperRecipes,
  petrel,
  ...announceListen,
];

export const algorithms: ReadonlyMap<string, Algorithm> = new Map(all.map((one) => [one.name, one]));
