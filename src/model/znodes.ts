/**
 * Contents of a group's znodes. Unknown fields are ignored: during an upgrade, a newer version of Petrel may
 * run next to this one.
 */
import * as z from 'zod';
import { mostLeaders } from './group-config.js';
import { instantSchema, longSchema, nameSchema, strictObject } from './names.js';

/**
 * More decisions than any group will make. A record with a later term is malformed, and must not use up the
 * last term.
 */
export const lastTerm = 2 ** 48;
export const termSchema = z.int().min(0).max(lastTerm);

/** Missing for the first slot. */
export const slotSchema = z.int().min(1).max(mostLeaders).optional();

const longestTail = 20;
/**
 * A longer list is malformed: no group has more nodes, and malformed data must not make the next decision too
 * large to write.
 */
export const mostFailures = 1000;

/** How a command or function failed, as far as it helps an operator. */
export const failureDetailSchema = z.object({
  /** The step that failed: `takeover`, `prepare`, … */
  phase: z.string(),
  reason: z.string(),
  command: z.string().nullable().default(null),
  exitCode: z.int().nullable().default(null),
  signal: z.string().nullable().default(null),
  durationMs: z.number().nullable().default(null),
  outputTail: z
    .array(z.string())
    .transform((lines) => lines.slice(-longestTail))
    .default([]),
});
export type FailureDetail = z.infer<typeof failureDetailSchema>;

/** Command fields of a failure that did not involve a command. */
export const noCommand = { command: null, exitCode: null, signal: null, durationMs: null, outputTail: [] };

export const probeProtocols = ['auto', 'udp', 'tcp'] as const;
/** auto: both. */
export type ProbeProtocol = (typeof probeProtocols)[number];

/** Where a node answers the probes of its peers. */
export const probeAddressSchema = z.object({
  /** An IPv4 or IPv6 address (without brackets), or a name. */
  host: z.string().min(1).max(255),
  port: z.int().min(1).max(65_535),
  protocol: z.enum(probeProtocols),
});
export type ProbeAddress = z.infer<typeof probeAddressSchema>;

export const failureRecordSchema = z.object({
  node: nameSchema,
  /** The incarnation that failed. A new incarnation ends the backoff once. */
  incarnation: z.string(),
  /** Failures since it was last READY. The backoff doubles with each. */
  count: z.int().min(1),
  reason: z.string(),
  failedAt: instantSchema,
  /** End of the backoff. Null once the node may be tried again. */
  until: instantSchema.nullable(),
  /** Whether a new incarnation has already ended a backoff. */
  restarted: z.boolean().default(false),
});
export type FailureRecord = z.infer<typeof failureRecordSchema>;

const placeSchema = z.object({ node: nameSchema, site: nameSchema });
export type Place = z.infer<typeof placeSchema>;

export const causeSchema = z.enum([
  'first',
  'failure',
  'planned',
  'preference',
  'shutdown',
  'retry',
  'nobody',
]);
/**
 * Why the elected node changed:
 * - `first`: no node led.
 * - `failure`: it failed or vanished.
 * - `planned`: an operator requested it.
 * - `preference`: another node is better.
 * - `shutdown`: it is leaving.
 * - `retry`: the same node tries again.
 * - `nobody`: no node is eligible.
 */
export type Cause = z.infer<typeof causeSchema>;

/** `leader/elected`, written only by the elector. */
export const electedSchema = z.object({
  node: nameSchema.nullable(),
  site: nameSchema.nullable(),
  term: termSchema,
  strategy: z.string(),
  reason: z.string(),
  cause: causeSchema,
  /** The elector that decided. */
  by: z.string(),
  /** Last node that was READY. */
  previous: placeSchema.nullable(),
  /**
   * The elected node's priorities when it was elected, [site, node]. If an operator lowers one later, the
   * node must leave.
   */
  priorities: z.tuple([z.number(), z.number()]).nullable().default(null),
  /**
   * Set if an operator requested this node: no failback takes leadership away from it. `overridden` lists the
   * kinds of reasons that made it ineligible when it was forced. Each of them is ignored until it has ended.
   * `forced`: the previous leader is not trusted.
   */
  requested: z
    .object({
      by: z.string(),
      overridden: z.array(z.string()).max(longestTail),
      forced: z.boolean().optional().catch(undefined),
    })
    .nullable()
    .default(null),
  /**
   * The site of the leader that failed, if this decision is about its successor. It remains set until a
   * successor is found.
   */
  failedSite: nameSchema.nullable().default(null),
  failures: z.array(failureRecordSchema).max(mostFailures).default([]),
  /** Whether a switchover requested in an earlier term was not carried out. */
  missedRequest: z.boolean().optional().catch(undefined),
  /**
   * In the first slot's decision: the number of slots, including those that are being removed. Missing if
   * there is one.
   */
  slots: slotSchema,
});
export type Elected = z.infer<typeof electedSchema>;

export const initialElected: Elected = {
  node: null,
  site: null,
  term: 0,
  strategy: 'none',
  reason: 'no election has been held yet',
  cause: 'nobody',
  by: 'none',
  previous: null,
  priorities: null,
  requested: null,
  failedSite: null,
  failures: [],
};

/** `leader/current`, written by its owner. */
export const claimSchema = z.object({
  node: nameSchema,
  site: nameSchema,
  incarnation: z.string(),
  status: z.enum(['PROGRESS', 'READY']),
  term: termSchema,
  /** Version of `elected` that the claim was made under. */
  electedVersion: z.int(),
  /**
   * The leadership before, if this incarnation led under the same decision and lost that leadership. Contains
   * its token, why it ended, and how long before this claim the node stopped leading, by its own clock. An
   * unreadable value affects only what is reported.
   */
  resumes: z
    .object({
      token: longSchema,
      reason: z.string(),
      agoMs: z.number().min(0),
      /** Whether the node was disconnected until its lease had expired. */
      lostLease: z.boolean().default(false).catch(false),
      /**
       * How long before this claim this incarnation had earlier lost its lease, oldest first. Omits losses
       * after which the ensemble had a new leader.
       */
      earlierAgoMs: z.array(z.number().min(0)).max(longestTail).default([]).catch([]),
    })
    .nullable()
    .default(null)
    .catch(null),
});
export type ClaimContent = z.infer<typeof claimSchema>;

const milliseconds = z.number().nullable();

export const transitionOutcomeSchema = z.enum(['READY', 'FAILED', 'NOBODY']);

export const transitionRecordSchema = z.object({
  kind: z.literal('transition'),
  /** The slot. Missing if the group had only one. */
  slot: slotSchema,
  term: termSchema,
  /** Null if the elected node never claimed. */
  fencingToken: longSchema.nullable(),
  node: nameSchema.nullable(),
  site: nameSchema.nullable(),
  previous: placeSchema.nullable(),
  strategy: z.string(),
  reason: z.string(),
  cause: causeSchema,
  outcome: transitionOutcomeSchema,
  error: failureDetailSchema.nullable(),
  /** On the ensemble's clock, like the next ones. */
  electedAt: instantSchema,
  claimedAt: instantSchema.nullable(),
  readyAt: instantSchema.nullable(),
  /** The elector that decided. Null if unknown. */
  by: z.string().nullable().default(null),
  /**
   * Set if the node had led before under the same decision and returned. Contains that leadership's token,
   * why it ended, and when the node stopped leading. Null where unknown.
   */
  resumes: z
    .object({ token: longSchema, reason: z.string().nullable(), endedAt: instantSchema.nullable() })
    .nullable()
    .default(null),
  /** How the previous leader released. Null if it did not release or does not report it. */
  release: z
    .object({
      node: nameSchema,
      result: z.string(),
      error: z.string().nullable(),
      durationMs: z.number(),
      /** Null if the release happened before this decision, not because of it. */
      endedAt: instantSchema.nullable(),
    })
    .nullable()
    .default(null),
  phases: z.object({
    /** The previous leader's release hook. */
    releaseMs: milliseconds,
    /**
     * From the decision to the claim. Includes the release and the prepare hook. For a node that returned:
     * from when it stopped leading, if known.
     */
    claimMs: milliseconds,
    /** From the claim to READY. Includes the takeover hook. */
    takeoverMs: milliseconds,
  }),
});
export type TransitionRecord = z.infer<typeof transitionRecordSchema>;

/** A change made by an operator or caused by a deadline. */
export const changeRecordSchema = z.object({
  kind: z.literal('change'),
  by: z.string(),
  what: z.string(),
  reason: z.string().nullable(),
  at: instantSchema,
});
export type ChangeRecord = z.infer<typeof changeRecordSchema>;

/** `history/<sequence>` */
export const historyRecordSchema = z.discriminatedUnion('kind', [transitionRecordSchema, changeRecordSchema]);
export type HistoryRecord = z.infer<typeof historyRecordSchema>;

const recordedSchema = z.object({ term: termSchema, fencingToken: longSchema.nullable() });

/** `history` itself: what was recorded last, so that each transition is recorded only once. */
export const historyHeadSchema = recordedSchema.extend({
  /** The slots after the first, by number. */
  slots: z.record(z.string(), recordedSchema).optional(),
});
export type HistoryHead = z.infer<typeof historyHeadSchema>;
export const initialHistoryHead: HistoryHead = { term: 0, fencingToken: null };

const movedSchema = strictObject({ at: instantSchema, root: z.string(), term: z.int() });
/** Content of the shared znode: recent moves of leadership, oldest first. */
export const circuitBreakerRecordSchema = strictObject({ moved: z.array(movedSchema) });
export type CircuitBreakerRecord = z.infer<typeof circuitBreakerRecordSchema>;
