/**
 * The files of a run's directory, and nothing about how they came to be: who checks a run knows these alone.
 * Every `…AtMs` is on CLOCK_MONOTONIC, which all processes of the machine share.
 */
import { z } from 'zod';

export const files = {
  run: 'run.json',
  hooks: 'hooks/events',
  answers: 'answers.jsonl',
  changes: 'znodes.jsonl',
  nemesis: 'nemesis.jsonl',
} as const;

/** run.json: what was run, and the lengths of time that the bound is made of. */
export const runSchema = z.object({
  seed: z.int(),
  root: z.string(),
  nodes: z.array(z.string()),
  /** Slots that the group has when nobody changes that. */
  leaders: z.int().default(1),
  sessionTimeoutMs: z.number(),
  /** Limits of the group's configuration. */
  claimMs: z.number(),
  takeoverMs: z.number(),
  releaseMs: z.number(),
  graceMs: z.number(),
  /** How soon a node whose takeover failed may be tried again. */
  backoffMs: z.number(),
  /** How long an ensemble that lost its leader may take to have another. */
  ensembleMs: z.number(),
  /** For the questions' interval and a busy machine. */
  slackMs: z.number(),
  startedAtMs: z.number(),
  endedAtMs: z.number(),
});
export type Run = z.infer<typeof runSchema>;

/** hooks/events, one line each, written by the hooks and workloads themselves. */
export const hookRecordSchema = z.object({
  monotonicMs: z.number(),
  node: z.string(),
  slot: z.int().default(1),
  phase: z.string(),
  event: z.enum(['started', 'ended', 'beat', 'killed']),
  term: z.int(),
  /** The fencing token of the leadership; empty where there is none. */
  token: z.string(),
  exitCode: z.int().nullable(),
  /** At a takeover's start: whose processes were alive, and in which state. */
  alive: z.array(
    z.object({ node: z.string(), slot: z.int().default(1), token: z.string(), state: z.string() }),
  ),
});
export type HookRecord = z.infer<typeof hookRecordSchema>;

/** answers.jsonl: what a client was told that keeps asking who leads. */
export const answerSchema = z.object({
  askedAtMs: z.number(),
  answeredAtMs: z.number(),
  /** The server that was asked. */
  server: z.int(),
  slot: z.int().default(1),
  /** Null: nobody has claimed the slot, or there was no answer. */
  leader: z
    .object({ node: z.string(), status: z.enum(['PROGRESS', 'READY']), term: z.int(), token: z.string() })
    .nullable(),
  /** Why there was no answer. */
  error: z.string().nullable(),
});
export type Answer = z.infer<typeof answerSchema>;

/** znodes.jsonl: what the ensemble committed under the group's root, in its order. */
export const changeSchema = z.object({
  zxid: z.string(),
  /** As the ensemble's leader of that moment told it. */
  atMs: z.number(),
  session: z.string(),
  /** `close`: the session has ended, and with it its ephemeral znodes. */
  op: z.enum(['create', 'set', 'delete', 'close']),
  /** Below the root; empty when a session has ended. */
  path: z.string(),
  data: z.string().nullable(),
  ephemeral: z.boolean(),
});
export type Change = z.infer<typeof changeSchema>;

/** nemesis.jsonl: what was done to the group. */
export const nemesisRecordSchema = z.discriminatedUnion('event', [
  z.object({
    event: z.literal('begin'),
    atMs: z.number(),
    id: z.string(),
    round: z.int(),
    kind: z.string(),
    detail: z.string(),
    /** Nodes that may be unable to lead because of it. */
    nodes: z.array(z.string()),
    /** Whether it is done to ZooKeeper's servers. */
    ensemble: z.boolean(),
    /** While it lasts nobody may be able to lead, or to decide. */
    blocks: z.boolean(),
    /** Somebody may have to wait for a session to expire. */
    silences: z.boolean(),
    /** Slots whose leaders it may move, whoever they are; missing: all. */
    slots: z.array(z.int()).optional(),
  }),
  z.object({ event: z.literal('end'), atMs: z.number(), id: z.string() }),
  /** Something did not go as it should: a process ended that nobody had killed, say. */
  z.object({ event: z.literal('trouble'), atMs: z.number(), what: z.string() }),
  /** A process was killed. */
  z.object({ event: z.literal('crash'), atMs: z.number(), what: z.string() }),
  /** Every fault of a round has been taken back. */
  z.object({ event: z.literal('calm'), atMs: z.number(), round: z.int() }),
  /** The group is in order again. */
  z.object({ event: z.literal('quiet'), atMs: z.number(), round: z.int() }),
  /** What could not be done, and other remarks. */
  z.object({ event: z.literal('note'), atMs: z.number(), what: z.string() }),
]);
export type NemesisRecord = z.infer<typeof nemesisRecordSchema>;

export interface RunRecords {
  readonly run: Run;
  readonly hooks: readonly HookRecord[];
  readonly answers: readonly Answer[];
  readonly changes: readonly Change[];
  readonly nemesis: readonly NemesisRecord[];
}
