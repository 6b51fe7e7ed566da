/**
 * Defines the files of a run's directory, independently of how they are written. The checks depend on nothing
 * else. Every `…AtMs` is on CLOCK_MONOTONIC, which all processes of the machine share.
 */
import { z } from 'zod';

export const files = {
  run: 'run.json',
  hooks: 'hooks/events',
  answers: 'answers.jsonl',
  changes: 'znodes.jsonl',
  nemesis: 'nemesis.jsonl',
} as const;

/** run.json: what was run, and the durations that make up the bound. */
export const runSchema = z.object({
  seed: z.int(),
  root: z.string(),
  nodes: z.array(z.string()),
  /** Number of slots at the start of the run. */
  leaders: z.int().default(1),
  sessionTimeoutMs: z.number(),
  /** Deadlines from the group's configuration. */
  claimMs: z.number(),
  takeoverMs: z.number(),
  releaseMs: z.number(),
  graceMs: z.number(),
  /** Time after which a node whose takeover failed may be tried again. */
  backoffMs: z.number(),
  /** Time that an ensemble may take to replace a lost leader. */
  ensembleMs: z.number(),
  /** Allowance for the client's polling interval and a busy machine. */
  slackMs: z.number(),
  startedAtMs: z.number(),
  endedAtMs: z.number(),
});
export type Run = z.infer<typeof runSchema>;

/** hooks/events: one line each, written by the hooks and workloads themselves. */
export const hookRecordSchema = z.object({
  monotonicMs: z.number(),
  node: z.string(),
  slot: z.int().default(1),
  phase: z.string(),
  event: z.enum(['started', 'ended', 'beat', 'killed']),
  term: z.int(),
  /** Fencing token of the leadership. Empty if there is none. */
  token: z.string(),
  exitCode: z.int().nullable(),
  /** At a takeover's start: the workload processes that were alive, and their states. */
  alive: z.array(
    z.object({ node: z.string(), slot: z.int().default(1), token: z.string(), state: z.string() }),
  ),
});
export type HookRecord = z.infer<typeof hookRecordSchema>;

/** answers.jsonl: the answers to a client that keeps requesting the leader. */
export const answerSchema = z.object({
  askedAtMs: z.number(),
  answeredAtMs: z.number(),
  /** Index of the queried server. */
  server: z.int(),
  slot: z.int().default(1),
  /** Null if the slot had no claim or there was no answer. */
  leader: z
    .object({ node: z.string(), status: z.enum(['PROGRESS', 'READY']), term: z.int(), token: z.string() })
    .nullable(),
  /** Why there was no answer. Null if there was one. */
  error: z.string().nullable(),
});
export type Answer = z.infer<typeof answerSchema>;

/** znodes.jsonl: what the ensemble committed under the group's root, in commit order. */
export const changeSchema = z.object({
  zxid: z.string(),
  /** As reported by the ensemble's leader at that time. */
  atMs: z.number(),
  session: z.string(),
  /** `close` means that the session, and so its ephemeral znodes, ended. */
  op: z.enum(['create', 'set', 'delete', 'close']),
  /** Relative to the root. Empty if a session ended. */
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
    /** Nodes that the fault may keep from leading. */
    nodes: z.array(z.string()),
    /** Whether the fault affects ZooKeeper's servers. */
    ensemble: z.boolean(),
    /** Whether the fault may leave no node able to lead, or to decide. */
    blocks: z.boolean(),
    /** Whether the group may have to wait for a session to expire. */
    silences: z.boolean(),
    /** Slots whose leaders the fault may move, whatever the node. Undefined means all slots. */
    slots: z.array(z.int()).optional(),
  }),
  z.object({ event: z.literal('end'), atMs: z.number(), id: z.string() }),
  /** Something went wrong: for example, a process exited that the nemesis had not killed. */
  z.object({ event: z.literal('trouble'), atMs: z.number(), what: z.string() }),
  /** A process was killed. */
  z.object({ event: z.literal('crash'), atMs: z.number(), what: z.string() }),
  /** Every fault of a round has been reverted. */
  z.object({ event: z.literal('calm'), atMs: z.number(), round: z.int() }),
  /** The group is in order again. */
  z.object({ event: z.literal('quiet'), atMs: z.number(), round: z.int() }),
  /** A remark, for example that something could not be done. */
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
