/**
 * Ids that all nodes derive in the same way. Their spans thus join into one trace without any communication.
 * A trace is a term of a slot of a group.
 */

import { createHash } from 'node:crypto';
import type { IdGenerator } from '@opentelemetry/sdk-trace';
import { RandomIdGenerator } from '@opentelemetry/sdk-trace';
import type { NamedSlot } from '../model/named-slot.js';

export interface TracedTerm extends NamedSlot {
  readonly term: number;
}

/** 32 hexadecimal digits. */
export function traceIdOf(root: string, of: TracedTerm): string {
  return digest('trace', root, ...named(of)).slice(0, 32);
}

/** 16 hexadecimal digits. `what`: the transition, or one phase on one node. */
export function spanIdOf(root: string, of: TracedTerm, ...what: string[]): string {
  return digest('span', root, ...named(of), ...what).slice(0, 16);
}

/**
 * The first slot has the ids of a group with one leader, so that they remain the same when slots are added.
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

  /** The span that `start` starts gets these ids. `start` must start one span, synchronously. */
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
