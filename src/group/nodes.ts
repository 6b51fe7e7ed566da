/** Operations on single nodes. */
import { failureOf, isInBackoff } from '../core/backoff.js';
import { PetrelError } from '../errors.js';
import type { GroupConfig } from '../model/group-config.js';
import type { Request, Scene } from './change.js';

/** Drains a node. The node is not elected until it is undrained. If it is the leader, it hands over. */
export function drainNode(node: string, evenUnknown = false): Request {
  return ({ view, config, byHand }) => {
    const drained = Object.hasOwn(config.drained, node) ? config.drained[node] : undefined;
    if (drained !== undefined) {
      const since = `by ${drained.by} at ${drained.at}: ${drained.reason}`;
      return { config: null, what: `node ${node} is already drained, ${since}` };
    }
    if (!evenUnknown) mustBeRegistered(view, node);
    return {
      config: { ...config, drained: { ...config.drained, [node]: byHand } },
      what: `node ${node}: drained`,
    };
  };
}

/** Undrains a node. */
export function undrainNode(node: string): Request {
  return ({ config }) => {
    if (!Object.hasOwn(config.drained, node)) return { config: null, what: `node ${node} is not drained` };
    return { config: { ...config, drained: without(config.drained, node) }, what: `node ${node}: undrained` };
  };
}

/** Clears a node's failed takeovers. The node can be elected again immediately. */
export function clearFailure(node: string): Request {
  return ({ config, elected, nowMs, byHand }) => {
    const failure = failureOf(elected.failures, node);
    const isRecovered = config.clearedFailures[node]?.failedAt === failure?.failedAt;
    if (failure === null || !isInBackoff(failure, nowMs)) {
      return { config: null, what: `node ${node} is not in backoff` };
    }
    if (isRecovered) return { config: null, what: `the failure of node ${node} is already cleared` };
    const standing = Object.entries(config.clearedFailures).filter(([other, { failedAt }]) => {
      return failureOf(elected.failures, other)?.failedAt === failedAt;
    });
    const clearedFailures: GroupConfig['clearedFailures'] = {
      ...Object.fromEntries(standing),
      [node]: { failedAt: failure.failedAt, ...byHand },
    };
    return {
      config: { ...config, clearedFailures },
      what: `node ${node}: failure cleared; it was in backoff until ${failure.until} (${failure.reason})`,
    };
  };
}

function without<T>(record: Readonly<Record<string, T>>, key: string): Record<string, T> {
  return Object.fromEntries(Object.entries(record).filter(([name]) => name !== key));
}

function mustBeRegistered({ members }: Scene['view'], node: string): void {
  const known = members.map((member) => member.node);
  if (known.includes(node)) return;
  throw new PetrelError('REFUSED', `unknown node ${node}`, {
    reasons: [`node ${node} is not registered; registered: ${known.join(', ') || 'none'}`],
    remedies: [{ kind: 'yes', does: 'drain the node before it returns' }],
  });
}
