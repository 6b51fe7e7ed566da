/**
 * Checks the versions of users' own strategies and constraints. Every agent has its own copy of these, and no
 * other check compares the copies.
 */

import type { GroupConfig } from '../model/group-config.js';
import { constraintKey } from '../model/own-constraint.js';
import type { GroupPaths } from '../model/paths.js';
import type { Member } from '../model/snapshot.js';
import type { Problem } from './problem.js';

const none = 'unknown';

/** Returns a problem for each configured strategy or constraint whose version differs between nodes. */
export function strategyProblems(
  paths: GroupPaths,
  config: GroupConfig | null,
  members: readonly Member[],
): Problem[] {
  if (config === null) return [];
  const values = members.flatMap(({ value }) => (value === null ? [] : [value]));
  return namedBy(config).flatMap(({ what, key }) => {
    const nodes = new Map<string, string[]>();
    for (const { node, strategies } of values) {
      const version = Object.hasOwn(strategies, key) ? (strategies[key] ?? none) : none;
      nodes.set(version, [...(nodes.get(version) ?? []), node]);
    }
    if (nodes.size < 2) return [];
    const who = [...nodes].map(([version, those]) => `${version} on ${those.join(', ')}`).join('; ');
    const problem = `${what} differs between nodes, so they may elect different leaders: ${who}`;
    return [{ path: paths.config, node: null, problem }];
  });
}

interface Named {
  /** Name of the strategy or constraint in messages. */
  readonly what: string;
  /** Key under which each registration stores the version of the strategy or constraint. */
  readonly key: string;
}

function namedBy({ strategy, strategyOptions: { rules }, constraints }: GroupConfig): Named[] {
  const inner = Array.isArray(rules) ? rules.map((rule: unknown) => strategyOf(rule)) : [];
  const strategies = new Set([strategy, ...inner.filter((name) => name !== null)]);
  return [
    ...[...strategies].map((name) => ({ what: `strategy ${name}`, key: name })),
    ...[...new Set(constraints)].map((name) => ({ what: `constraint ${name}`, key: constraintKey(name) })),
  ];
}

function strategyOf(rule: unknown): string | null {
  const named = typeof rule === 'object' && rule !== null && 'strategy' in rule ? rule.strategy : null;
  return typeof named === 'string' ? named : null;
}

/**
 * Reports a `size` that is less than the number of registered nodes, because the quorum derived from it would
 * not be a majority. `size` is checked when an operator sets it. It is checked again later, because more
 * nodes may have registered since then.
 */
export function sizeProblems(config: GroupConfig | null, registered: number): string[] {
  const size = config?.strategyOptions.size;
  if (typeof size !== 'number' || size >= registered) return [];
  return [`strategyOptions.size: ${size} is less than the number of registered nodes, ${registered}`];
}
