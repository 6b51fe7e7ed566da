/**
 * What the znodes of a group hold. Fields that are not known are let pass: a newer version of Petrel may run
 * beside this one during an upgrade.
 */
import * as z from 'zod';
import { mostLeaders } from './group-config.js';
import { instantSchema, longSchema, nameSchema, strictObject } from './names.js';

/**
 * More decisions than any group will take. What names a later one is malformed, and must not become the last.
 */
export const lastTerm = 2 ** 48;
export const termSchema = z.int().min(0).max(lastTerm);

/** Missing: the first. */
export const slotSchema = z.int().min(1).max(mostLeaders).optional();

const longestTail = 20;
/**
 * What lists more is malformed: a group has no more nodes, and garbage must not make the next decision too
 * large to write.
 */
export const mostFailures = 1000;

/** How a command or function ended badly, as far as it helps a person. */
export const failureDetailSchema = z.object({
  /** What was tried: `takeover`, `prepare`, … */
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

/** What a failure says of a command where none was involved. */
export const noCommand = { command: null, exitCode: null, signal: null, durationMs: null, outputTail: [] };

export const probeProtocols = ['auto', 'udp', 'tcp'] as const;
/** auto: both. */
export type ProbeProtocol = (typeof probeProtocols)[number];

/** Where a node answers the probes of its peers. */
export const probeAddressSchema = z.object({
  /** An address, IPv4 or IPv6 (without brackets), or a name. */
  host: z.string().min(1).max(255),
  port: z.int().min(1).max(65_535),
  protocol: z.enum(probeProtocols),
});
export type ProbeAddress = z.infer<typeof probeAddressSchema>;

export const failureRecordSchema = z.object({
  node: nameSchema,
  /** The life in which it failed: once, a new life ends the backoff. */
  incarnation: z.string(),
  /** Failures since it was last READY: the back-off doubles with each. */
  count: z.int().min(1),
  reason: z.string(),
  failedAt: instantSchema,
  /** Excluded until then; null once it was let try again. */
  until: instantSchema.nullable(),
  /** A new life ended a backoff already. */
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
 * Why the elected node changed: nobody led; it failed or vanished; a person asked; a better node; it is
 * leaving; the same node tries again; no node is eligible.
 */
export type Cause = z.infer<typeof causeSchema>;

/** `leader/elected`, written by the elector alone. */
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
   * The elected node's priorities when it was elected, [site, node]: a later fall is a person's wish that it
   * leave.
   */
  priorities: z.tuple([z.number(), z.number()]).nullable().default(null),
  /**
   * Set where a person asked for this node: no failback takes leadership away from it. `overridden` is what
   * kept it from leading when it was forced (kinds of reasons), each of which does not count until it has
   * ended. `forced`: the leader before is distrusted.
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
   * The site of the leader that failed, where this decision is about its successor; until one is found, it
   * stays.
   */
  failedSite: nameSchema.nullable().default(null),
  failures: z.array(failureRecordSchema).max(mostFailures).default([]),
  /** A switchover that was requested in an earlier term was not carried out. */
  missedRequest: z.boolean().optional().catch(undefined),
  /** In the first slot's: how many there are, those that are being given up too. Missing: the one. */
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
   * The leadership before, where this life of the node led by the same decision and lost that: its token, why
   * it ended, and how long before this claim the node stopped leading, by its own clock. What cannot be read
   * harms the telling alone.
   */
  resumes: z
    .object({
      token: longSchema,
      reason: z.string(),
      agoMs: z.number().min(0),
      /** The node was out of touch until its lease had run out. */
      lostLease: z.boolean().default(false).catch(false),
      /**
       * How long before this claim that had happened to this life of the node before, the oldest first; not
       * where the ensemble had another leader afterwards.
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
  /** Of which slot; missing where the group had but one. */
  slot: slotSchema,
  term: termSchema,
  /** Null when the elected node never claimed. */
  fencingToken: longSchema.nullable(),
  node: nameSchema.nullable(),
  site: nameSchema.nullable(),
  previous: placeSchema.nullable(),
  strategy: z.string(),
  reason: z.string(),
  cause: causeSchema,
  outcome: transitionOutcomeSchema,
  error: failureDetailSchema.nullable(),
  /** On the ensemble's clock, as the next ones. */
  electedAt: instantSchema,
  claimedAt: instantSchema.nullable(),
  readyAt: instantSchema.nullable(),
  /** The elector that decided; null where nobody is known to have. */
  by: z.string().nullable().default(null),
  /**
   * Set where the node had led by the same decision before, and came back: that leadership's token, why it
   * ended and when the node stopped leading; null where nobody tells.
   */
  resumes: z
    .object({ token: longSchema, reason: z.string().nullable(), endedAt: instantSchema.nullable() })
    .nullable()
    .default(null),
  /** How the previous leader let go; null where it did not get to, or does not tell. */
  release: z
    .object({
      node: nameSchema,
      result: z.string(),
      error: z.string().nullable(),
      durationMs: z.number(),
      /** Null where it was not for this decision, but before. */
      endedAt: instantSchema.nullable(),
    })
    .nullable()
    .default(null),
  phases: z.object({
    /** The previous leader's release hook. */
    releaseMs: milliseconds,
    /**
     * From the decision to the claim; holds the release and the prepare hook. Of one that came back: from
     * when it stopped leading, where that is told.
     */
    claimMs: milliseconds,
    /** From the claim to READY; holds the takeover hook. */
    takeoverMs: milliseconds,
  }),
});
export type TransitionRecord = z.infer<typeof transitionRecordSchema>;

/** Something that a person or a time limit changed. */
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

/** `history` itself: what was recorded last, so that each transition is recorded once. */
export const historyHeadSchema = recordedSchema.extend({
  /** Of the slots beyond the first, by their numbers. */
  slots: z.record(z.string(), recordedSchema).optional(),
});
export type HistoryHead = z.infer<typeof historyHeadSchema>;
export const initialHistoryHead: HistoryHead = { term: 0, fencingToken: null };

const movedSchema = strictObject({ at: instantSchema, root: z.string(), term: z.int() });
/** What the shared znode holds: who moved lately, the oldest first. */
export const circuitBreakerRecordSchema = strictObject({ moved: z.array(movedSchema) });
export type CircuitBreakerRecord = z.infer<typeof circuitBreakerRecordSchema>;
