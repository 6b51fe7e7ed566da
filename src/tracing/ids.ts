/**
 * Ids that all nodes derive alike, so that their spans join into one trace, with nothing passed between them:
 * a trace is a term of a slot of a group.
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

/** The first slot's is the one of a group that has but one, so that it stays what it is when others come. */
function named({ term, slot = 1 }: TracedTerm): string[] {
  return slot === 1 ? [String(term)] : [String(term), `slot ${slot}`];
}

function digest(...parts: string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}

/** Random ids, save for the span that is started next. */
export class ChosenIds implements IdGenerator {
  readonly #random = new RandomIdGenerator();
  #next: { readonly traceId: string; readonly spanId: string } | null = null;

  /** What `start` starts has these ids. It starts one span, and does not wait. */
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
