/**
 * Contents of a group's znodes. Unknown fields are ignored, because a newer version of Petrel may run
 * alongside this one during an upgrade.
 */
import * as z from 'zod';
import { mostLeaders } from './group-config.js';
import { instantSchema, longSchema, nameSchema, strictObject } from './names.js';

/**
 * Greatest valid term. No group will make that many decisions. A record with a greater term is malformed.
 * Otherwise, malformed data could use up the last term.
 */
export const lastTerm = 2 ** 48;
export const termSchema = z.int().min(0).max(lastTerm);

/** Slot number. Missing for the first slot. */
export const slotSchema = z.int().min(1).max(mostLeaders).optional();

const longestTail = 20;
/**
 * Maximum length of the list of failures. A longer list is malformed, because no group has more nodes. The
 * limit prevents malformed data from making the next decision too large to write.
 */
export const mostFailures = 1000;

/** How a command or function failed. Contains only information that helps an operator. */
export const failureDetailSchema = z.object({
  /** The step that failed, such as `takeover` or `prepare`. */
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
/** Protocol of the probes. `auto` means both UDP and TCP. */
export type ProbeProtocol = (typeof probeProtocols)[number];

/** Address at which a node answers the probes of its peers. */
export const probeAddressSchema = z.object({
  /** An IPv4 address, an IPv6 address without brackets, or a host name. */
  host: z.string().min(1).max(255),
  port: z.int().min(1).max(65_535),
  protocol: z.enum(probeProtocols),
});
export type ProbeAddress = z.infer<typeof probeAddressSchema>;

export const failureRecordSchema = z.object({
  node: nameSchema,
  /**
   * The incarnation that failed. If the start of a new incarnation ended the backoff, which can happen only
   * once, this is the new incarnation.
   */
  incarnation: z.string(),
  /** Number of failures since the node was last READY. The backoff doubles with each of them. */
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
 * - `first`: no node has led before.
 * - `failure`: the node failed or disappeared.
 * - `planned`: an operator requested the change.
 * - `preference`: another node is better.
 * - `shutdown`: the node is leaving.
 * - `retry`: a node that failed, or that lost its leadership, is tried again.
 * - `nobody`: no node is eligible.
 */
export type Cause = z.infer<typeof causeSchema>;

/** Content of `leader/elected`, which only the elector writes. */
export const electedSchema = z.object({
  node: nameSchema.nullable(),
  site: nameSchema.nullable(),
  term: termSchema,
  strategy: z.string(),
  reason: z.string(),
  cause: causeSchema,
  /** The elector that made the decision. */
  by: z.string(),
  /** Last node that was READY before this decision. */
  previous: placeSchema.nullable(),
  /**
   * Priorities of the elected node's site and of the node itself when it was elected. If an operator lowers
   * one of them later, the node must hand over to a better node.
   */
  priorities: z.tuple([z.number(), z.number()]).nullable().default(null),
  /**
   * Set if an operator requested this node. No failback takes leadership away from it. `overridden` lists the
   * kinds of reasons that made the node ineligible when the operator forced its election. Each kind is
   * ignored until it no longer applies. `forced` means that the previous leader is not trusted.
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
   * Set if a planned change took leadership away from `previous`, which was working. Leadership returns to
   * `previous` if no other node becomes READY. `requested` means that an operator requested the change.
   * `previousBy` names the operator who had requested `previous`. It is missing if no operator had.
   */
  handover: z
    .object({ requested: z.boolean(), previousBy: z.string().optional() })
    .optional()
    .catch(undefined),
  /**
   * The site of the leader that failed, if this decision is about that leader's successor. The value remains
   * set until a successor is found.
   */
  failedSite: nameSchema.nullable().default(null),
  failures: z.array(failureRecordSchema).max(mostFailures).default([]),
  /** Whether a switchover that was requested in an earlier term was not carried out. */
  missedRequest: z.boolean().optional().catch(undefined),
  /**
   * Number of slots, including those that are being removed. Only the first slot's decision contains it.
   * Missing if there is only one slot.
   */
  slots: slotSchema,
});
export type Elected = z.infer<typeof electedSchema>;

/**
 * The decision that a departing leader puts into effect on its own, and the versions that the decision is
 * based on.
 */
const preparedSchema = z.object({
  decision: electedSchema.extend({ node: nameSchema, site: nameSchema }),
  /** Versions of `elected` and of `config` under which the decision was made. */
  electedVersion: z.int(),
  configVersion: z.int(),
  /** Version of the registration of the node that the decision elects. */
  nodeVersion: z.int(),
  /** Names of the election znodes of that node. A write to these znodes notifies the node. */
  seats: z.array(z.string().regex(/^[^/]+$/)).min(1),
});
export type PreparedDecision = z.infer<typeof preparedSchema>;

/**
 * Content of `leader/successor`: the node that leads next if the leader leaves. Only the elector writes it.
 */
export const successorSchema = z.object({
  /** Null if no node may lead next without a new decision by the elector. */
  prepared: preparedSchema.nullable(),
  /** Whether no node can follow. If this is false and nothing is prepared, the elector decides. */
  nobody: z.boolean().default(false),
  /** Why the node of the prepared decision ranks first, or why no decision is prepared, for display. */
  reason: z.string(),
});
export type Successor = z.infer<typeof successorSchema>;

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

/** Content of `leader/current`, which the claim's owner writes. */
export const claimSchema = z.object({
  node: nameSchema,
  site: nameSchema,
  incarnation: z.string(),
  status: z.enum(['PROGRESS', 'READY']),
  term: termSchema,
  /** Version of `elected` under which the claim was made. */
  electedVersion: z.int(),
  /**
   * The previous leadership, if this incarnation led under the same decision and lost that leadership.
   * Contains the token of the previous leadership and the reason for its end. `agoMs` is the time from its
   * end to this claim, on the node's own clock. An unreadable value affects only the history and the count of
   * lease losses.
   */
  resumes: z
    .object({
      token: longSchema,
      reason: z.string(),
      agoMs: z.number().min(0),
      /** Whether the node was disconnected until its lease had expired. */
      lostLease: z.boolean().default(false).catch(false),
      /**
       * Times from earlier lease losses of this incarnation to this claim, in milliseconds, oldest first.
       * Omits losses after which the ensemble had a new leader.
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
  /** Slot number. Missing if the group had only one slot. */
  slot: slotSchema,
  term: termSchema,
  /** Fencing token of the claim. Null if the elected node never claimed. */
  fencingToken: longSchema.nullable(),
  node: nameSchema.nullable(),
  site: nameSchema.nullable(),
  previous: placeSchema.nullable(),
  strategy: z.string(),
  reason: z.string(),
  cause: causeSchema,
  outcome: transitionOutcomeSchema,
  error: failureDetailSchema.nullable(),
  /** Time of the decision. This time and the following ones are on the ensemble's clock. */
  electedAt: instantSchema,
  claimedAt: instantSchema.nullable(),
  readyAt: instantSchema.nullable(),
  /** The elector that made the decision. Null if unknown. */
  by: z.string().nullable().default(null),
  /**
   * Set if the node had led under the same decision before and then led again. Contains the token of the
   * earlier leadership, why it ended, and when the node stopped leading. Unknown values are null.
   */
  resumes: z
    .object({ token: longSchema, reason: z.string().nullable(), endedAt: instantSchema.nullable() })
    .nullable()
    .default(null),
  /** The release by the previous leader. Null if there was none, or if that leader did not report it. */
  release: z
    .object({
      node: nameSchema,
      result: z.string(),
      error: z.string().nullable(),
      durationMs: z.number(),
      /** End of the release. Null if the release happened before this decision and not because of it. */
      endedAt: instantSchema.nullable(),
    })
    .nullable()
    .default(null),
  phases: z.object({
    /** Duration of the previous leader's release hook. */
    releaseMs: milliseconds,
    /**
     * Time from the decision to the claim, including the release and the prepare hook. If the node had
     * already led under the same decision, the time starts when it stopped leading, provided that this
     * instant is known.
     */
    claimMs: milliseconds,
    /** Time from the claim to READY, including the takeover hook. */
    takeoverMs: milliseconds,
  }),
});
export type TransitionRecord = z.infer<typeof transitionRecordSchema>;

/** A change that was made by an operator or caused by a deadline. */
export const changeRecordSchema = z.object({
  kind: z.literal('change'),
  by: z.string(),
  what: z.string(),
  reason: z.string().nullable(),
  at: instantSchema,
});
export type ChangeRecord = z.infer<typeof changeRecordSchema>;

/** Content of `history/<sequence>`. */
export const historyRecordSchema = z.discriminatedUnion('kind', [transitionRecordSchema, changeRecordSchema]);
export type HistoryRecord = z.infer<typeof historyRecordSchema>;

const recordedSchema = z.object({ term: termSchema, fencingToken: longSchema.nullable() });

/**
 * Content of the `history` znode itself. It describes what was recorded last, so that each transition is
 * recorded only once.
 */
export const historyHeadSchema = recordedSchema.extend({
  /** The same data for the slots after the first one, keyed by slot number. */
  slots: z.record(z.string(), recordedSchema).optional(),
});
export type HistoryHead = z.infer<typeof historyHeadSchema>;
export const initialHistoryHead: HistoryHead = { term: 0, fencingToken: null };

const movedSchema = strictObject({ at: instantSchema, root: z.string(), term: z.int() });
/** Content of the circuit breaker's znode: recent moves of leadership, oldest first. */
export const circuitBreakerRecordSchema = strictObject({ moved: z.array(movedSchema) });
export type CircuitBreakerRecord = z.infer<typeof circuitBreakerRecordSchema>;
