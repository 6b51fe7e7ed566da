/**
 * Reports an agent's part in a transition as OpenTelemetry spans. There are spans for the elector's decision,
 * the old leader's release, the candidate's takeover up to READY, and their hooks. The elector also reports
 * the transition as a whole.
 *
 * Times come from each machine's own clock, so spans from different nodes are offset by the difference
 * between their clocks. Not traced: the actions of a guardian whose agent has died.
 */

import {
  type Attributes,
  type Context,
  ROOT_CONTEXT,
  SpanStatusCode,
  TraceFlags,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import type { AgentEvent } from '../agent/events.js';
import { hookNames } from '../hooks/command.js';
import { mostLeaders } from '../model/group-config.js';
import type { LogContext } from '../model/log-context.js';
import { named } from '../model/named-slot.js';
import { fromInstant } from '../model/names.js';
import { slotOf } from '../model/slots.js';
import type { Elected, TransitionRecord } from '../model/znodes.js';
import type { Clock } from '../ports/clock.js';
import type { HookContext, HookResult } from '../ports/workload.js';
import { type ChosenIds, spanIdOf, type TracedTerm, traceIdOf } from './ids.js';

export interface TransitionTracerOptions {
  readonly root: string;
  readonly node: string;
  readonly site: string;
  readonly tracer: Tracer;
  /** The id generator that `tracer` uses. */
  readonly ids: ChosenIds;
  readonly clock: Clock;
}

type Phase = 'takeover' | 'release';

interface OpenPhase {
  readonly phase: Phase;
  readonly of: TracedTerm;
  /**
   * Start of the phase: `wallMs` in milliseconds since the epoch, and `monotonicMs` on the monotonic clock.
   */
  readonly wallMs: number;
  readonly monotonicMs: number;
  readonly attributes: Attributes;
}

interface SpanOf {
  readonly name: string;
  readonly of: TracedTerm;
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: Attributes;
  /** Reason why the phase failed. Null if it succeeded. */
  readonly failure: string | null;
}

/**
 * Maximum number of decisions that are kept until they are recorded. Usually there is one per slot. More are
 * kept only if some have failed.
 */
const mostDecisions = 8 * mostLeaders;
const whole = 'transition';

export class TransitionTracer {
  readonly #options: TransitionTracerOptions;
  /** Start of each decision, keyed by trace id. */
  readonly #decidedMs = new Map<string, number>();
  #open: OpenPhase | null = null;
  /** The last recorded term of each slot. */
  readonly #recorded = new Map<number, number>();

  constructor(options: TransitionTracerOptions) {
    this.#options = options;
  }

  hear(event: AgentEvent): void {
    if (event.kind === 'elected') this.#decision(event);
    else if (event.kind === 'ran') this.#hook(event.context, event.outcome);
    else if (event.kind === 'recorded') this.#transition(event.record);
    else if (event.kind === 'stage') this.#stage(event);
  }

  #decision({ elected, slot, slots, tookMs }: Extract<AgentEvent, { kind: 'elected' }>): void {
    const { term, strategy } = elected;
    const of = { ...named(slot, slots), term };
    const endMs = this.#options.clock.wallMs();
    const startMs = endMs - tookMs;
    this.#decidedMs.set(traceIdOf(this.#options.root, of), startMs);
    for (const old of [...this.#decidedMs.keys()].slice(0, -mostDecisions)) this.#decidedMs.delete(old);
    const attributes = { ...ofDecision(elected), 'petrel.strategy': strategy };
    const span = { name: 'decision', of, startMs, endMs, attributes, failure: null };
    this.#make(span, this.#within(of, whole));
  }

  #stage({ stage, logContext }: Extract<AgentEvent, { kind: 'stage' }>): void {
    if (stage === 'claimed') this.#begin('takeover', logContext);
    else if (stage === 'leading') this.#end(null);
    else if (stage === 'releasing') {
      this.#end(logContext.reason ?? 'leadership is being released');
      this.#begin('release', logContext);
    } else if (stage === null)
      this.#end(this.#open?.phase === 'takeover' ? 'the node did not become READY' : null);
  }

  #begin(phase: Phase, { slot, term, reason = '', endsTerm }: Partial<LogContext>): void {
    if (term === undefined) return;
    const ends = endsTerm === undefined ? {} : { 'petrel.ends_term': endsTerm };
    const { clock } = this.#options;
    const begun = { wallMs: clock.wallMs(), monotonicMs: clock.monotonicMs() };
    const of = { ...(slot === undefined ? {} : { slot }), term };
    this.#open = { phase, of, attributes: { 'petrel.reason': reason, ...ends }, ...begun };
  }

  #end(failure: string | null): void {
    if (this.#open === null) return;
    const { root, node, clock, ids } = this.#options;
    const { phase: name, of, attributes, wallMs: startMs, monotonicMs } = this.#open;
    this.#open = null;
    const span = {
      name,
      of,
      startMs,
      endMs: startMs + clock.monotonicMs() - monotonicMs,
      attributes,
      failure,
    };
    ids.with(traceIdOf(root, of), spanIdOf(root, of, name, node), () =>
      this.#make(span, this.#within(of, whole)),
    );
  }

  #hook(context: HookContext, { result, error, exitCode, durationMs }: HookResult): void {
    const { node, clock } = this.#options;
    const { phase, slot, slots, term: own, endedByTerm: term = own, reason } = context;
    const of = { ...named(slot, slots), term };
    const endMs = clock.wallMs();
    const attributes = {
      'petrel.reason': reason,
      'petrel.hook.result': result,
      ...(exitCode === null ? {} : { 'petrel.hook.exit_code': exitCode }),
    };
    const failure = result === 'ok' ? null : (error ?? result);
    const span = { name: hookNames[phase], of, startMs: endMs - durationMs, endMs, attributes, failure };
    const isOfPhase = phase === 'takeover' || phase === 'release';
    this.#make(span, isOfPhase ? this.#within(of, phase, node) : this.#within(of, whole));
  }

  /**
   * Reports the whole transition. This is done by the node that is the elector when the transition ends, even
   * if another node made the decision.
   */
  #transition(record: TransitionRecord): void {
    const { root, clock, ids } = this.#options;
    const { slot, term, electedAt, claimedAt, outcome, fencingToken, error, resumes } = record;
    const of = { ...(slot === undefined ? {} : { slot }), term };
    const startMs =
      resumes === null
        ? (this.#decidedMs.get(traceIdOf(root, of)) ?? fromInstant(electedAt))
        : fromInstant(resumes.endedAt ?? claimedAt ?? electedAt);
    const attributes = {
      ...ofDecision(record),
      'petrel.outcome': outcome,
      'petrel.fencing_token': fencingToken ?? '',
    };
    const failure = outcome === 'FAILED' ? (error?.reason ?? outcome) : null;
    const endMs = Math.max(startMs, clock.wallMs());
    const span = { name: whole, of, startMs, endMs, attributes, failure };
    // If the node has already become READY in this term, the transition's span already exists. A second READY
    // in the same term is reported in a separate span.
    if (this.#recorded.get(slotOf(record)) === term) this.#make(span, this.#within(of, whole));
    else ids.with(traceIdOf(root, of), spanIdOf(root, of, whole), () => this.#make(span, ROOT_CONTEXT));
    this.#recorded.set(slotOf(record), term);
  }

  /** Returns the parent of a term's spans. The parent is the same on every node. */
  #within(of: TracedTerm, ...what: string[]): Context {
    const { root } = this.#options;
    const spanId = spanIdOf(root, of, ...what);
    const parent = { traceId: traceIdOf(root, of), spanId, traceFlags: TraceFlags.SAMPLED, isRemote: true };
    return trace.setSpanContext(ROOT_CONTEXT, parent);
  }

  #make({ name, of: { slot, term }, startMs, endMs, attributes, failure }: SpanOf, context: Context): void {
    const { tracer, root, node, site } = this.#options;
    const inSlot = slot === undefined ? {} : { 'petrel.slot': slot };
    const where = {
      'petrel.root': root,
      'petrel.node': node,
      'petrel.site': site,
      'petrel.term': term,
      ...inSlot,
    };
    const span = tracer.startSpan(
      name,
      { startTime: startMs, attributes: { ...where, ...attributes } },
      context,
    );
    if (failure !== null) span.setStatus({ code: SpanStatusCode.ERROR, message: failure });
    span.end(endMs);
  }
}

/** Returns the attributes that the spans of a decision and of its transition have in common. */
function ofDecision({
  reason,
  cause,
  node,
  previous,
}: Pick<Elected, 'reason' | 'cause' | 'node' | 'previous'>) {
  return {
    'petrel.reason': reason,
    'petrel.cause': cause,
    'petrel.elected': node ?? '',
    'petrel.previous_leader': previous?.node ?? '',
  };
}
