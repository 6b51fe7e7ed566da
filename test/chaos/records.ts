/**
 * Defines the files in the directory of a run, independently of the code that writes them. The checks depend
 * on nothing else. Every `…AtMs` is on CLOCK_MONOTONIC, which all processes of the machine share.
 */
import { z } from 'zod';

export const files = {
  run: 'run.json',
  hooks: 'hooks/events',
  answers: 'answers.jsonl',
  changes: 'znodes.jsonl',
  nemesis: 'nemesis.jsonl',
} as const;

/** run.json: the parameters of the run, and the durations that make up the bound. */
export const runSchema = z.object({
  seed: z.int(),
  root: z.string(),
  nodes: z.array(z.string()),
  /** Number of slots at the start of the run. */
  leaders: z.int().default(1),
  sessionTimeoutMs: z.number(),
  /** Time limits from the group's configuration. */
  claimMs: z.number(),
  takeoverMs: z.number(),
  releaseMs: z.number(),
  graceMs: z.number(),
  /** Time after which a node may be elected again if its takeover failed. */
  backoffMs: z.number(),
  /** Maximum time that the ensemble needs to replace a lost leader. */
  ensembleMs: z.number(),
  /** Extra time, because the client polls at intervals and the machine may be busy. */
  slackMs: z.number(),
  startedAtMs: z.number(),
  endedAtMs: z.number(),
});
export type Run = z.infer<typeof runSchema>;

/** hooks/events: one line for each event. The hooks and workloads write these lines themselves. */
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
  /**
   * The workload processes that were alive when a takeover started, with their states. Empty for other
   * events.
   */
  alive: z.array(
    z.object({ node: z.string(), slot: z.int().default(1), token: z.string(), state: z.string() }),
  ),
});
export type HookRecord = z.infer<typeof hookRecordSchema>;

/** answers.jsonl: the answers to a client that requests the leader again and again. */
export const answerSchema = z.object({
  requestedAtMs: z.number(),
  answeredAtMs: z.number(),
  /** Index of the queried server. */
  server: z.int(),
  slot: z.int().default(1),
  /** Null if the slot had no claim, or if there was no answer. */
  leader: z
    .object({ node: z.string(), status: z.enum(['PROGRESS', 'READY']), term: z.int(), token: z.string() })
    .nullable(),
  /** The reason why there was no answer. Null if there was an answer. */
  error: z.string().nullable(),
});
export type Answer = z.infer<typeof answerSchema>;

/** znodes.jsonl: the changes that the ensemble committed under the group's root, in commit order. */
export const changeSchema = z.object({
  zxid: z.string(),
  /** Time that the ensemble's leader assigned to the change. */
  atMs: z.number(),
  session: z.string(),
  /** Kind of the change. `close` means that a session has ended, and with it its ephemeral znodes. */
  op: z.enum(['create', 'set', 'delete', 'close']),
  /** Path relative to the root. Empty if a session ended. */
  path: z.string(),
  data: z.string().nullable(),
  ephemeral: z.boolean(),
});
export type Change = z.infer<typeof changeSchema>;

/** nemesis.jsonl: the faults that the nemesis applied, and what it observed. */
export const nemesisRecordSchema = z.discriminatedUnion('event', [
  z.object({
    event: z.literal('begin'),
    atMs: z.number(),
    id: z.string(),
    round: z.int(),
    kind: z.string(),
    detail: z.string(),
    /** Nodes that this fault may keep from leading. */
    nodes: z.array(z.string()),
    /** Whether the fault affects ZooKeeper's servers. */
    ensemble: z.boolean(),
    /** Whether the fault may leave no node that can lead, or no node that can decide. */
    blocks: z.boolean(),
    /** Whether the group may have to wait for a session to expire. */
    silences: z.boolean(),
    /**
     * Slots whose leaders the fault may move even if those leaders are not in `nodes`. Undefined means all
     * slots.
     */
    slots: z.array(z.int()).optional(),
  }),
  z.object({ event: z.literal('end'), atMs: z.number(), id: z.string() }),
  /** Something went wrong. For example, a process exited that the nemesis had not killed. */
  z.object({ event: z.literal('problem'), atMs: z.number(), what: z.string() }),
  /** A process was killed. */
  z.object({ event: z.literal('crash'), atMs: z.number(), what: z.string() }),
  /** Every fault of a round has been reverted. */
  z.object({ event: z.literal('calm'), atMs: z.number(), round: z.int() }),
  /** The group has recovered: all nodes have seats, and each slot has its leader. */
  z.object({ event: z.literal('quiet'), atMs: z.number(), round: z.int() }),
  /** The answer of a node to a request for `/leader`, at `atMs`. `code` is null if there was no answer. */
  z.object({
    event: z.literal('http'),
    atMs: z.number(),
    node: z.string(),
    code: z.int().nullable(),
    requestedAtMs: z.number(),
  }),
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
