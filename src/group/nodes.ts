/** Operations on single nodes. */
import { failureOf, isInBackoff } from '../core/backoff.js';
import { present, type Remedy } from '../errors.js';
import type { GroupConfig } from '../model/group-config.js';
import { toWholeSecond } from '../model/names.js';
import type { ChangeInput, Request } from './change.js';
import { mustBeKnown } from './known-names.js';

/**
 * Drains a node. The node cannot be elected until it is undrained. If the node is the leader, it hands over.
 */
export function drainNode(node: string, allowUnknown = false): Request {
  return ({ view, config, byHand }) => {
    const drained = Object.hasOwn(config.drained, node) ? config.drained[node] : undefined;
    if (drained !== undefined) {
      const since = `by ${drained.by} at ${drained.at}: ${drained.reason}`;
      return { config: null, what: `node ${node} is already drained, ${since}` };
    }
    if (!allowUnknown) mustBeKnown('node', node, registered(view), [allowing]);
    return {
      config: { ...config, drained: { ...config.drained, [node]: byHand } },
      what: `node ${node}: drained`,
    };
  };
}

/** Undrains a node. */
export function undrainNode(node: string): Request {
  return ({ view, config }) => {
    if (!Object.hasOwn(config.drained, node)) {
      mustBeKnown('node', node, [...registered(view), ...Object.keys(config.drained)]);
      return { config: null, what: `node ${node} is not drained` };
    }
    return { config: { ...config, drained: without(config.drained, node) }, what: `node ${node}: undrained` };
  };
}

/** Clears a node's failed takeovers. The node can be elected again immediately. */
export function clearFailure(node: string): Request {
  return ({ view, config, elected, nowMs, byHand }) => {
    const failure = failureOf(elected.failures, node);
    if (failure === null) mustBeKnown('node', node, registered(view));
    const isRecovered = config.clearedFailures[node]?.failedAt === failure?.failedAt;
    if (failure === null || !isInBackoff(failure, nowMs)) {
      return { config: null, what: `node ${node} is not in backoff` };
    }
    if (isRecovered) return { config: null, what: `the failure of node ${node} is already cleared` };
    const current = Object.entries(config.clearedFailures).filter(([other, { failedAt }]) => {
      return failureOf(elected.failures, other)?.failedAt === failedAt;
    });
    const clearedFailures: GroupConfig['clearedFailures'] = {
      ...Object.fromEntries(current),
      [node]: { failedAt: failure.failedAt, ...byHand },
    };
    return {
      config: { ...config, clearedFailures },
      what: `node ${node}: failure cleared; it was in backoff until ${toWholeSecond(present(failure.until, 'the end of a backoff'))} (${failure.reason})`,
    };
  };
}

function without<T>(record: Readonly<Record<string, T>>, key: string): Record<string, T> {
  return Object.fromEntries(Object.entries(record).filter(([name]) => name !== key));
}

const allowing: Remedy = { kind: 'unknown', does: 'drain the node before it joins' };

function registered({ members }: ChangeInput['view']): string[] {
  return members.map((member) => member.node);
}
