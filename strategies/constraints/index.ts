/** The constraints that ship with Petrel, in the order in which they are reported. */
import { type Constraint, kindOfMalformed } from '../../src/core/constraint.js';
import { affinity } from './affinity.js';
import { backoff } from './backoff.js';
import { busy } from './busy.js';
import { drained } from './drained.js';
import { leaving } from './leaving.js';
import { nodePriorityZero, sitePriorityZero } from './priority-zero.js';
import { siteDrained } from './site-drained.js';
import { siteFailed } from './site-failed.js';
import { siteNotAllowed } from './site-not-allowed.js';
import { spread } from './spread.js';
import { unhealthy } from './unhealthy.js';

export const constraints: readonly Constraint[] = [
  unhealthy,
  leaving,
  drained,
  siteDrained,
  siteNotAllowed,
  siteFailed,
  sitePriorityZero,
  nodePriorityZero,
  affinity,
  backoff,
  busy,
  spread,
];

/** Kinds of all built-in reasons for ineligibility. User-defined constraints have other kinds. */
export const builtInKinds: ReadonlySet<string> = new Set([
  kindOfMalformed,
  ...constraints.map(({ kind }) => kind),
]);
