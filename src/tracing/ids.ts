/**
 * Ids that all nodes derive in the same way. The spans of different nodes therefore form one trace without
 * any communication. Each trace represents one term of one slot of a group.
 */

import { createHash } from 'node:crypto';
import type { IdGenerator } from '@opentelemetry/sdk-trace';
import { RandomIdGenerator } from '@opentelemetry/sdk-trace';
import type { NamedSlot } from '../model/named-slot.js';

export interface TracedTerm extends NamedSlot {
  readonly term: number;
}

/** Returns the id of a term's trace: 32 hexadecimal digits. */
export function traceIdOf(root: string, of: TracedTerm): string {
  return digest('trace', root, ...named(of)).slice(0, 32);
}

/** Returns the id of a span: 16 hexadecimal digits. `what` names the transition, or one phase on one node. */
export function spanIdOf(root: string, of: TracedTerm, ...what: string[]): string {
  return digest('span', root, ...named(of), ...what).slice(0, 16);
}

/**
 * Returns the parts that identify a term. The first slot has the same ids as a group with one leader, so its
 * ids do not change when slots are added.
 */
function named({ term, slot = 1 }: TracedTerm): string[] {
  return slot === 1 ? [String(term)] : [String(term), `slot ${slot}`];
}

function digest(...parts: string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}

/** Generates random ids, except for the span that `with` starts. */
export class ChosenIds implements IdGenerator {
  readonly #random = new RandomIdGenerator();
  #next: { readonly traceId: string; readonly spanId: string } | null = null;

  /** Gives these ids to the span that `start` starts. `start` must start exactly one span, synchronously. */
  with<T>(traceId: string, spanId: string, start: () => T): T {
    this.#next = { traceId, spanId };
    try {
      return start();
    } finally {
      this.#next = null;
    }
  }

  generateTraceId(): string {
    return this.#next?.traceId ?? this.#random.generateTraceId();
  }

  generateSpanId(): string {
    return this.#next?.spanId ?? this.#random.generateSpanId();
  }
}
