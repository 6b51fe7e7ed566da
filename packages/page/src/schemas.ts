/**
 * The parts of the agent's responses that the page reads. They are defined a second time here, in zod's small
 * variant. If the page used the agent's own schemas (`src/group`, `src/http`), a browser would load more code
 * for them than for the rest of the page. Tests ensure that both versions agree.
 */
import * as z from 'zod/mini';

// Without this option, zod would try to generate code from text, which the page's content security policy
// forbids.
z.config({ jitless: true });

/**
 * Makes invisible characters visible, for example as `<U+202E>`. Such characters can change the direction of
 * text, or hide where words end.
 */
export function visible(characters: string): string {
  return characters.replaceAll(
    /[\p{Cc}\p{Cf}]/gu,
    (one) => `<U+${(one.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}>`,
  );
}

/** Text from the agent. Much of it originates from other users, so it may contain invisible characters. */
const text = z.pipe(z.string(), z.transform(visible));
const orNull = z.nullable;

const byHand = z.object({ by: text, reason: text, at: text });

const nodeStates = [
  'STANDBY',
  'ELECTED',
  'PROGRESS',
  'READY',
  'RELEASING',
  'DRAINING',
  'BACKOFF',
  'UNHEALTHY',
] as const;
export type NodeState = (typeof nodeStates)[number];

const site = z.object({
  site: text,
  priority: z.number(),
  drained: orNull(z.object({ by: text, reason: text, at: text })),
  failed: orNull(z.object({ byRule: z.boolean(), by: text, reason: text, at: text })),
  override: orNull(z.object({ priority: z.number(), until: orNull(text), reason: text, by: text })),
});
export type SiteStatus = z.infer<typeof site>;

const node = z.object({
  node: text,
  site: orNull(text),
  host: orNull(text),
  pid: orNull(z.number()),
  roles: z.array(z.enum(['elector', 'leader', 'candidate'])),
  state: z.enum(nodeStates),
  priority: orNull(z.number()),
  score: orNull(z.number()),
  scores: z.record(text, z.union([z.number(), text])),
  slot: orNull(z.number()),
  seat: orNull(z.number()),
  eligible: z.boolean(),
  reasons: z.array(text),
});
export type NodeStatus = z.infer<typeof node>;

export const phases = ['releasing', 'claiming', 'taking-over'] as const;
export type Phase = (typeof phases)[number];

const transition = z.object({
  term: z.number(),
  phase: z.enum(phases),
  node: orNull(text),
  to: orNull(text),
  since: text,
  elapsedMs: z.number(),
  limitMs: z.number(),
});
export type Transition = z.infer<typeof transition>;

const target = z.union([z.literal('best-other'), z.object({ node: text }), z.object({ site: text })]);
const switchover = z.object({
  ...byHand.shape,
  to: target,
  notBefore: orNull(text),
  force: z.boolean(),
  slot: z.optional(z.number()),
});
export type WaitingSwitchover = z.infer<typeof switchover>;

const elected = z.object({ node: orNull(text), term: z.number(), reason: text });
const leader = z.object({
  node: orNull(text),
  site: orNull(text),
  status: orNull(z.enum(['PROGRESS', 'READY'])),
  term: orNull(z.number()),
  fencingToken: text,
  since: text,
});
const preferred = z.object({ node: text, reason: text });
const slot = z.object({
  slot: z.number(),
  elected,
  leader: orNull(leader),
  transition: orNull(transition),
  preferred: orNull(preferred),
});

/** Response from `/status`, and content of the event `status`. */
export const statusShape = z.object({
  asOf: text,
  root: text,
  strategy: text,
  paused: orNull(byHand),
  elector: orNull(text),
  elected,
  leader: orNull(leader),
  transition: orNull(transition),
  leaders: z.array(slot),
  switchover: orNull(switchover),
  preferred: orNull(preferred),
  successor: orNull(z.object({ node: orNull(text), nobody: z.boolean(), reason: text })),
  sites: z.array(site),
  nodes: z.array(node),
  problems: z.array(z.object({ path: text, node: orNull(text), problem: text })),
});
export type Status = z.infer<typeof statusShape>;

/** Response from `/agent`. */
export const agentInfoShape = z.object({
  version: text,
  node: text,
  host: text,
  pid: z.number(),
  changes: z.boolean(),
  session: orNull(text),
  servers: z.array(z.object({ server: text, mode: orNull(text), problem: orNull(text) })),
});
export type AgentInfo = z.infer<typeof agentInfoShape>;

/** Content of the events `out-of-touch` and `refused`. */
export const outOfTouchShape = z.object({ reason: text });

/** Response from `/explain`. */
export const explanationShape = z.object({
  slot: z.number(),
  without: z.object({ nodes: z.array(text), sites: z.array(text) }),
  elected: z.object({ node: orNull(text), term: z.number() }),
  choice: z.object({ node: orNull(text), changes: z.boolean(), cause: text, reason: text }),
  ranking: z.array(z.object({ rank: z.number(), node: text, site: text, grade: z.number(), reason: text })),
  ineligible: z.array(
    z.object({
      node: text,
      site: orNull(text),
      ineligibleReasons: z.array(z.object({ kind: text, reason: text })),
    }),
  ),
});
export type Explanation = z.infer<typeof explanationShape>;

const place = z.object({ node: text, site: text });
const transitionRecord = z.object({
  kind: z.literal('transition'),
  slot: z.optional(z.number()),
  term: z.number(),
  fencingToken: orNull(text),
  node: orNull(text),
  site: orNull(text),
  previous: orNull(place),
  reason: text,
  cause: text,
  outcome: z.enum(['READY', 'FAILED', 'NOBODY']),
  error: orNull(
    z.object({
      phase: text,
      reason: text,
      command: orNull(text),
      exitCode: orNull(z.number()),
      signal: orNull(text),
      durationMs: orNull(z.number()),
      outputTail: z.array(text),
    }),
  ),
  electedAt: text,
  claimedAt: orNull(text),
  readyAt: orNull(text),
  resumes: orNull(z.object({ endedAt: orNull(text) })),
  release: orNull(z.object({ endedAt: orNull(text) })),
  phases: z.object({
    releaseMs: orNull(z.number()),
    claimMs: orNull(z.number()),
    takeoverMs: orNull(z.number()),
  }),
  leaderlessMs: orNull(z.number()),
  leaderlessAtLeast: z.boolean(),
});
export type TransitionRecord = z.infer<typeof transitionRecord>;

const changeRecord = z.object({
  kind: z.literal('change'),
  by: text,
  what: text,
  reason: orNull(text),
  at: text,
});
export type ChangeRecord = z.infer<typeof changeRecord>;

/** Response from `/history`. */
export const historyShape = z.object({
  records: z.array(z.discriminatedUnion('kind', [transitionRecord, changeRecord])),
  gaps: z.array(
    z.object({ slot: z.optional(z.number()), from: text, to: orNull(text), lengthMs: orNull(z.number()) }),
  ),
  problems: z.array(z.object({ path: text, problem: text })),
});
export type History = z.infer<typeof historyShape>;

/** The result of a change, or its preview. */
export const changeAnswerShape = z.object({
  what: text,
  changed: z.boolean(),
  dryRun: z.boolean(),
  changes: z.array(z.object({ key: text, from: z.unknown(), to: z.unknown() })),
  follows: orNull(z.object({ node: orNull(text), changes: z.boolean(), cause: text, reason: text })),
  slot: z.number(),
  term: orNull(z.number()),
});
export type ChangeAnswer = z.infer<typeof changeAnswerShape>;

/** Response from `/terms/N`. */
export const termShape = z.object({
  term: z.number(),
  outcome: orNull(
    z.object({
      state: z.enum(['READY', 'FAILED', 'SUPERSEDED', 'NOBODY']),
      node: orNull(text),
      reason: text,
    }),
  ),
});
export type Term = z.infer<typeof termShape>;

/** Content of every response with an HTTP status of 400 or higher. */
export const failureShape = z.object({
  error: z.object({ code: text, message: text, reasons: z.array(text) }),
});
