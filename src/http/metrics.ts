/**
 * Metrics of an agent in one group. They follow the conventions of Prometheus. Gauges read the agent's state
 * when the page is rendered. Counters count the agent's events. Rendering sends no requests to ZooKeeper.
 *
 * Promised: `petrel_leader` is correct when rendering ends. If this node has gained or lost leadership in the
 * meantime, for example because its lease has ended, everything is rendered again.
 */
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import * as z from 'zod';
import type { AgentEvent } from '../agent/events.js';
import { failureOf } from '../core/backoff.js';
import { isGivenUp } from '../core/elsewhere.js';
import { preparedDecision } from '../core/prepared-decision.js';
import { phasesInTurn } from '../core/records.js';
import { fromInstant } from '../model/names.js';
import { slotStates, slotView } from '../model/slots.js';
import type { GroupSnapshot, SlotState } from '../model/snapshot.js';
import { causeSchema, transitionOutcomeSchema } from '../model/znodes.js';
import type { ServedGroup } from '../node/served-groups.js';
import type { Clock } from '../ports/clock.js';
import type { StoreState } from '../ports/store.js';
import { version } from '../version.js';
import type { App } from './app.js';
import { LeaderlessTime } from './leaderless.js';
import { reading, unread } from './route.js';

export interface MetricsOptions extends ServedGroup {
  readonly clock: Clock;
}

const phaseBuckets = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];
const electionBuckets = [0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
/** Upper bounds of the buckets, in seconds. A margin of 0 or less means that the lease had already ended. */
const marginBuckets = [0, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

const phases = ['release', 'claim', 'takeover'] as const;
const states = [
  'CONNECTING',
  'CONNECTED',
  'SUSPENDED',
  'LOST',
  'CLOSED',
] as const satisfies readonly StoreState[];

export class Metrics {
  readonly #options: MetricsOptions;
  readonly #registry = new Registry();
  /** Time without a leader, keyed by slot. The time of a removed slot is kept. */
  readonly #leaderless = new Map([[1, new LeaderlessTime()]]);
  readonly #unlisten: readonly (() => void)[];
  readonly #counted: Counted;

  constructor(options: MetricsOptions) {
    const { agent, root, site } = options;
    this.#options = options;
    this.#registry.setDefaultLabels({ root, node: agent.status.node });
    this.#counted = new Counted(this.#registry);
    this.#addGauges();
    const info = {
      name: 'petrel_info',
      help: 'Always 1. The labels describe this agent.',
      labelNames: ['version', 'site'],
    };
    new Gauge({ ...info, registers: [this.#registry] }).set({ version, site }, 1);
    this.#unlisten = [
      agent.onStatus(() => this.#look()),
      agent.onEvent((event) => (event.kind === 'round' ? this.#look() : this.#counted.count(event))),
    ];
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  /**
   * Renders the metrics. The leadership that they show is still current at the end of the event-loop turn in
   * which the promise resolves.
   */
  async text(): Promise<string> {
    for (;;) {
      const leads = this.leads;
      const text = await this.#registry.metrics();
      if (leads === this.leads) return text;
    }
  }

  close(): void {
    for (const unlisten of this.#unlisten) unlisten();
  }

  get leads(): boolean {
    return this.#options.agent.status.leads;
  }

  #look(): void {
    const { agent, clock } = this.#options;
    const { elector, joined } = agent.status;
    const nowMs = clock.monotonicMs();
    if (agent.snapshot === null) {
      for (const time of this.#leaderless.values()) time.loseSight(nowMs);
      return;
    }
    const sight = {
      isElector: elector,
      inTouch: joined,
      sessionTimeoutMs: agent.session?.negotiatedTimeoutMs ?? 0,
    };
    const states = slotStates(agent.snapshot);
    for (const state of states) this.#leaderlessIn(state.slot).see({ ...sight, isLed: isLed(state) }, nowMs);
    const gone = [...this.#leaderless].filter(([slot]) => !states.some((state) => state.slot === slot));
    for (const [, time] of gone) time.see({ ...sight, isLed: true }, nowMs);
  }

  #leaderlessIn(slot: number): LeaderlessTime {
    const known = this.#leaderless.get(slot) ?? new LeaderlessTime();
    this.#leaderless.set(slot, known);
    return known;
  }

  #addGauges(): void {
    const { agent, clock } = this.#options;
    const flag = (name: string, help: string, holds: () => boolean | null) =>
      this.#gauge(name, help, () => {
        const value = holds();
        return value === null ? null : Number(value);
      });
    flag(
      'petrel_leader',
      '1 if this node is the leader (READY with a valid lease), else 0. The sum over a group should equal petrel_leaders.',
      () => this.leads,
    );
    this.#gauge(
      'petrel_leaders',
      'Number of leaders that the group should have: its slots, including slots that are being removed.',
      () => ofSnapshot(agent.snapshot, ({ elected }) => elected.value && (elected.value.slots ?? 1)),
    );
    flag('petrel_elector', '1 if this node is the elector, as far as it knows, else 0.', () => {
      return agent.status.joined && agent.status.elector;
    });
    flag(
      'petrel_joined',
      '1 if this node is registered, has a seat, and is connected to ZooKeeper, else 0.',
      () => agent.status.joined,
    );
    flag(
      'petrel_paused',
      '1 if the group is paused, else 0, as last read by this node: at most 30 s ago while petrel_joined is 1.',
      () => ofSnapshot(agent.snapshot, ({ config }) => config.value && config.value.paused !== null),
    );
    flag(
      'petrel_backoff',
      '1 if this node is in backoff after failed takeovers, else 0. The clock of this machine determines when the backoff ends.',
      () => ofSnapshot(agent.snapshot, (snapshot) => backsOff(snapshot, agent.status.node, clock.wallMs())),
    );
    this.#gauge(
      'petrel_term',
      'Term of the last decision that this node has read: for the slot that it has claimed, or else for the first slot.',
      () =>
        ofSnapshot(
          agent.snapshot,
          (snapshot) => slotView(snapshot, agent.status.slot ?? 1).elected.value?.term ?? null,
        ),
    );
    this.#gauge(
      'petrel_slot',
      'Slot that this node has claimed; missing while it has claimed none.',
      () => agent.status.slot,
    );
    flag(
      'petrel_successor',
      '1 if this leader could hand over to a published successor without the elector, else 0; missing while this node does not lead.',
      () =>
        ofSnapshot(agent.snapshot, (snapshot) =>
          this.leads ? preparedDecision(snapshot, agent.status.node) !== null : null,
        ),
    );
    this.#addTimes();
    this.#addSessionState();
  }

  #addTimes(): void {
    const { agent, clock } = this.#options;
    this.#gauge(
      'petrel_lease_remaining_seconds',
      'Time for which this node may still lead without contact with ZooKeeper; 0 if it has no lease.',
      () => {
        const { lease } = agent.status;
        return lease === null ? 0 : Math.max(0, lease.releaseAtMs - clock.monotonicMs()) / 1000;
      },
    );
    this.#gauge(
      'petrel_store_last_commit_seconds',
      'Time since a committed write last proved that this session is alive. A leader writes continuously.',
      () => {
        const ageMs = clock.monotonicMs() - (agent.session?.provenAliveAtMs() ?? Number.NEGATIVE_INFINITY);
        return Number.isFinite(ageMs) ? ageMs / 1000 : null;
      },
    );
    const leaderless = this.#leaderless;
    new Counter({
      name: 'petrel_leaderless_seconds_total',
      help: 'Lower bound of the time without a READY leader in the slot, as seen by this node while it was the elector. Excludes the time until the loss of a leader is detected, up to the session timeout. Sum it over the nodes of the group.',
      labelNames: ['slot'],
      registers: [this.#registry],
      collect() {
        this.reset();
        for (const [slot, time] of leaderless) this.inc({ slot }, time.totalMs(clock.monotonicMs()) / 1000);
      },
    });
  }

  #addSessionState(): void {
    const { agent } = this.#options;
    new Gauge({
      name: 'petrel_session_state',
      help: "State of this node's session with ZooKeeper: 1 for the current state, 0 for the others.",
      labelNames: ['state'],
      registers: [this.#registry],
      collect() {
        const at = agent.session?.state ?? 'CONNECTING';
        for (const state of states) this.set({ state: state.toLowerCase() }, Number(state === at));
      },
    });
  }

  /** Adds a gauge. `read` returns null if there is no value to show. */
  #gauge(name: string, help: string, read: () => number | null): void {
    new Gauge({
      name,
      help,
      registers: [this.#registry],
      collect() {
        const value = read();
        if (value === null) this.remove();
        else this.set(value);
      },
    });
  }
}

/** Metrics that count events. Every series that an alert uses exists from the start. */
class Counted {
  readonly #transitions;
  readonly #phases;
  readonly #elections;
  readonly #hooks;
  readonly #margins;
  readonly #missed;

  constructor(registry: Registry) {
    const registers = [registry];
    this.#transitions = new Counter({
      name: 'petrel_transitions_total',
      help: 'Transitions that this node has recorded as the elector, by cause and outcome.',
      labelNames: ['reason', 'outcome'],
      registers,
    });
    this.#phases = new Histogram({
      name: 'petrel_transition_phase_seconds',
      help: 'Duration of the phases of recorded transitions, as measured by the clock of ZooKeeper.',
      labelNames: ['phase'],
      buckets: phaseBuckets,
      registers,
    });
    this.#elections = new Histogram({
      name: 'petrel_election_seconds',
      help: 'Time from the event that woke this node, as the elector, until its decision was committed.',
      buckets: electionBuckets,
      registers,
    });
    this.#hooks = new Histogram({
      name: 'petrel_hook_seconds',
      help: 'Duration of hooks on this node.',
      labelNames: ['phase', 'outcome'],
      buckets: phaseBuckets,
      registers,
    });
    this.#margins = new Histogram({
      name: 'petrel_self_fence_margin_seconds',
      help: 'Time left on the lease at the end of a release that was started because renewals were missed. Must be above 0.',
      buckets: marginBuckets,
      registers,
    });
    this.#missed = new Counter({
      name: 'petrel_switchovers_missed_total',
      help: 'Switchovers that were requested but not carried out, because their term ended first.',
      registers,
    });
    for (const reason of causeSchema.options) {
      for (const outcome of transitionOutcomeSchema.options) {
        this.#transitions.inc({ reason, outcome: outcome.toLowerCase() }, 0);
      }
    }
    for (const phase of phases) this.#phases.zero({ phase });
  }

  count(event: Exclude<AgentEvent, { kind: 'round' }>): void {
    switch (event.kind) {
      case 'stage':
        return;
      case 'elected':
        this.#elections.observe(event.tookMs / 1000);
        return;
      case 'ran':
        this.#hooks.observe(
          { phase: event.context.phase, outcome: event.outcome.result },
          event.outcome.durationMs / 1000,
        );
        return;
      case 'request-missed':
        this.#missed.inc();
        return;
      case 'self-fenced':
        this.#margins.observe(event.leaseLeftMs / 1000);
        return;
      case 'recorded': {
        const { cause: reason, outcome } = event.record;
        this.#transitions.inc({ reason, outcome: outcome.toLowerCase() });
        const { releaseMs: release, claimMs: claim, takeoverMs: takeover } = phasesInTurn(event.record);
        const tookMs = { release, claim, takeover };
        for (const phase of phases) {
          if (tookMs[phase] !== null) this.#phases.observe({ phase }, tookMs[phase] / 1000);
        }
      }
    }
  }
}

function ofSnapshot<T>(
  snapshot: GroupSnapshot | null,
  read: (snapshot: GroupSnapshot) => T | null,
): T | null {
  return snapshot === null ? null : read(snapshot);
}

/** Whether the slot has a leader. An abandoned slot needs no leader, and counts as having one. */
function isLed({ current, elected }: SlotState): boolean {
  return current?.value?.status === 'READY' || (elected.value !== null && isGivenUp(elected.value));
}

/** Whether the node is in backoff. Considers all slots, because a takeover may have failed in any of them. */
function backsOff(snapshot: GroupSnapshot, node: string, nowMs: number): boolean | null {
  if (snapshot.elected.value === null) return null;
  const ends = slotStates(snapshot).map(
    ({ elected }) => failureOf(elected.value?.failures ?? [], node)?.until ?? null,
  );
  return ends.some((until) => until !== null && fromInstant(until) > nowMs);
}

/** Rendered metrics, and their content type. */
export interface Rendered {
  readonly contentType: string;
  text(): Promise<string>;
}

export function addMetrics(app: App, metrics: Rendered): void {
  app.add({
    ...unread,
    methods: reading,
    path: '/metrics',
    summary: 'for Prometheus',
    tags: ['node'],
    responses: { 200: { description: 'its text format', content: { 'text/plain': z.string() } } },
    // The response is written in the same event-loop turn in which the text is completed, so it is still
    // current.
    answer: async () => ({
      headers: { 'content-type': metrics.contentType },
      content: await metrics.text(),
    }),
  });
}
