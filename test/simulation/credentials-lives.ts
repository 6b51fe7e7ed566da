/**
 * Draws runs of a group with ACLs, in which the agents' password is replaced as docs/guides/security.md says:
 * all agents accept the new identity, then all agents get the new password, and then no agent accepts the old
 * one. Each step restarts one agent after the other.
 */
import type { Chance } from '../support/chance.js';
import type { Credentials } from './credentials.js';
import { bystander, type Fault, whoElects, whoLeads } from './faults.js';
import { at, people, plain, type ScriptedRun, settledMs, sharesDigits } from './scripted-run.js';
import type { Setup } from './setup.js';

const steps: readonly (Credentials & { readonly appliesAcl: boolean })[] = [
  { own: 0, accepted: [0, 1], appliesAcl: true },
  { own: 1, accepted: [0, 1], appliesAcl: false },
  { own: 1, accepted: [1], appliesAcl: true },
];
/** Time from one restart to the next. The node stops for half of it. */
const restartMs = 4_000;

export function rotatesCredentials(seed: number): boolean {
  return sharesDigits(seed, 1);
}

export function credentialsLifeOf({ between, odds, pick }: Chance, setup: Setup): ScriptedRun {
  const { sessionTimeoutMs } = setup;
  const nodes = ['a1', 'b1', 'a2'];
  const stepMs = restartMs * (nodes.length + 1);
  const node = pick([whoLeads, whoElects, bystander]);
  const meanwhile = pick<Fault>([
    { kind: 'kill agent', node, forMs: 300 },
    { kind: 'kill both', node, forMs: 300 },
    { kind: 'reset', node, forMs: 0 },
    { kind: 'cut', node, server: null, direction: 'both', forMs: Math.round(1.5 * sessionTimeoutMs) },
  ]);
  const endMs = settledMs + steps.length * stepMs;
  const rotation = steps.flatMap(({ own, accepted, appliesAcl }, step) => {
    const fromMs = settledMs + step * stepMs;
    const restarts = nodes.map((_, index) => {
      const forMs = Math.round(between(0.2, 0.5) * restartMs);
      return at(fromMs + index * restartMs, { kind: 'new credentials', node: index, own, accepted, forMs });
    });
    const applied = at(fromMs + nodes.length * restartMs, people({ do: 'apply acl', own, accepted }));
    return appliesAcl ? [...restarts, applied] : restarts;
  });
  const faults = [...rotation, ...(odds(0.5) ? [at(between(settledMs, endMs), meanwhile)] : [])];
  return {
    setup: { ...setup, ...plain, nodes, hasAccess: true, faultPeriodMs: endMs + 2 * sessionTimeoutMs },
    faults: faults.toSorted((one, other) => one.atMs - other.atMs),
  };
}
