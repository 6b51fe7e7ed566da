/** The list of groups in a node's settings. */
import * as z from 'zod';
import { strictObject } from '../model/names.js';
import { quoted, UnusableKey, usableKey } from '../model/outside.js';
import type { GroupFields } from './node-settings.js';

const mostGroups = 5_000;

/**
 * Returns the schema of the list. Each entry contains the root of a group, and the settings that differ from
 * those at the top level.
 */
export function groupList(of: GroupFields) {
  const hooks = strictObject({
    onTakeover: of.onTakeover.unwrap().optional(),
    onRelease: of.onRelease.unwrap().optional(),
    onFence: of.onFence.unwrap().optional(),
    onPrepare: of.onPrepare.unwrap().optional(),
    healthCheck: of.healthCheck.unwrap().optional(),
    healthCheckInterval: of.healthCheckIntervalMs.unwrap().optional(),
    healthCheckTimeout: of.healthCheckTimeoutMs.unwrap().optional(),
    healthCheckFailures: of.healthCheckFailures.unwrap().optional(),
  });
  const entry = strictObject({
    root: of.root.unwrap(),
    priority: of.priority.unwrap().optional(),
    tags: of.tags.unwrap().optional(),
    scores: of.scores.unwrap().optional(),
    hooks: hooks.optional(),
  }).transform(({ hooks: given = {}, ...own }) => {
    const { healthCheckInterval, healthCheckTimeout, ...commands } = given;
    const times = { healthCheckIntervalMs: healthCheckInterval, healthCheckTimeoutMs: healthCheckTimeout };
    return { ...own, ...commands, ...times };
  });
  return z
    .array(entry, 'expected a list of groups, each with its root, such as - root: /services/db')
    .max(mostGroups, `expected at most ${mostGroups} groups`)
    .superRefine((entries, context) => {
      const problem = rootProblem(entries.map(({ root }) => root));
      if (problem !== null) context.addIssue({ code: 'custom', message: problem, input: entries });
    });
}

/**
 * Returns an error if a root is listed twice or is below another root. A group's znodes are below its root,
 * so the znodes of two such groups would be mixed. Returns null if there is no error.
 */
function rootProblem(roots: readonly string[]): string | null {
  const seen = new Set(roots);
  if (seen.size < roots.length) {
    const twice = roots.find((root, index) => roots.indexOf(root) !== index);
    return `${quoted(twice)} is listed twice`;
  }
  for (const root of roots) {
    const above = ancestors(root).find((path) => seen.has(path));
    if (above !== undefined) return `${quoted(root)} is below ${quoted(above)}, which is a group itself`;
  }
  return null;
}

export function ancestors(root: string): string[] {
  const names = root.split('/').slice(1);
  return names.slice(0, -1).map((_, index) => `/${names.slice(0, index + 1).join('/')}`);
}

/** Parses the list from environment variables. */
export function groupsFromText(texts: readonly string[]): unknown {
  try {
    return JSON.parse(texts.at(-1) ?? '', (key, value: unknown) => {
      usableKey(key);
      return value;
    });
  } catch (error) {
    if (error instanceof UnusableKey) throw error;
    throw new Error('expected a JSON list, such as [{"root": "/services/db"}]');
  }
}
