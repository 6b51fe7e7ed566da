/** All sabotages: each must be caught by the simulation. */
import { dutySabotages } from './duty.js';
import { electingSabotages } from './electing.js';
import { failureSabotages } from './failures.js';
import { leaseSabotages } from './lease.js';
import { membershipSabotages } from './membership.js';
import type { Sabotage } from './sabotage.js';
import { siteSabotages } from './sites.js';
import { slotSabotages } from './slots.js';
import { tenureSabotages } from './tenure.js';

export const sabotages: readonly Sabotage[] = [
  ...leaseSabotages,
  ...tenureSabotages,
  ...dutySabotages,
  ...electingSabotages,
  ...failureSabotages,
  ...membershipSabotages,
  ...siteSabotages,
  ...slotSabotages,
];
