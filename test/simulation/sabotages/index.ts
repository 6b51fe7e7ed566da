/** All sabotages. The simulation must catch each of them. */

import { electingSabotages } from './electing.js';
import { ensembleSabotages } from './ensembles.js';
import { failureSabotages } from './failures.js';
import { leadershipSabotages } from './leadership.js';
import { leaseSabotages } from './lease.js';
import { membershipSabotages } from './membership.js';
import type { Sabotage } from './sabotage.js';
import { siteSabotages } from './sites.js';
import { slotSabotages } from './slots.js';
import { workloadSabotages } from './workload.js';

export const sabotages: readonly Sabotage[] = [
  ...leaseSabotages,
  ...leadershipSabotages,
  ...workloadSabotages,
  ...electingSabotages,
  ...failureSabotages,
  ...membershipSabotages,
  ...ensembleSabotages,
  ...siteSabotages,
  ...slotSabotages,
];
