/**
 * The transition watchdog: what stands in a transition's way, since when, and whom it is held against. Times
 * run from when this elector first saw the condition, so that a candidate is not punished for an old leader
 * that released late, nor for an elector that died; nor a new life for what an earlier one did not do.
 */
import { durationMs } from '../model/duration.js';
import type { GroupConfig } from '../model/group-config.js';
import { claimOwner, type GroupSnapshot, ownerName, type SessionId, writeOf } from '../model/snapshot.js';
import type { Elected } from '../model/znodes.js';

export type Condition =
  /** Elected, and `current` is free, but it has not claimed. */
  | { readonly kind: 'unclaimed'; readonly node: string }
  /** The elected node claimed and is not READY. */
  | { readonly kind: 'taking-over'; readonly node: string }
  /** Another than the elected node owns `current`. Never held against the candidate. */
  | { readonly kind: 'holding'; readonly node: string | null };

export interface Watched {
  readonly condition: Condition;
  /** Tells one condition from the next of the same kind. */
  readonly key: string;
  /** When this elector first saw it, monotonic. */
  readonly firstMs: number;
  /**
   * The session that it is held against: a node that begins a new life has its time anew, though not for
   * ever.
   */
  readonly session: SessionId | null;
  /** When this elector first saw it of this session. */
  readonly sinceMs: number;
  readonly limitMs: number;
}

/** The condition that holds in `snapshot`, with its beginning kept from `before` where it is the same one. */
export function watch(
  snapshot: GroupSnapshot,
  elected: Elected,
  config: GroupConfig,
  before: Watched | null,
  nowMs: number,
): Watched | null {
  const { members } = snapshot;
  const condition = conditionOf(snapshot, elected, config);
  if (condition === null) return null;
  const key = keyOf(condition, snapshot);
  const session = members?.find(({ node }) => node === condition.node)?.owner ?? null;
  const known = before?.key === key ? before : null;
  const firstMs = known?.firstMs ?? nowMs;
  const sinceMs =
    known !== null && (condition.kind === 'holding' || known.session === session) ? known.sinceMs : nowMs;
  return { condition, key, firstMs, session, sinceMs, limitMs: limitMs(condition, config) };
}

/**
 * A claim that is held on to is the same one whatever is decided meanwhile about who comes next. Between two
 * looks the elected node may have claimed, led, and lost its claim: it tells itself, or, once it lives anew,
 * the history.
 */
function keyOf({ kind, node }: Condition, { elected, current, members, history }: GroupSnapshot): string {
  if (kind === 'holding') return `${kind} ${current?.token}`;
  const candidate = members?.find((member) => member.node === node);
  const recorded = history?.value?.fencingToken ?? 'none';
  const token = current?.token ?? candidate?.value?.lastTakeover?.token ?? recorded;
  return `${kind} ${node} ${writeOf(elected)} ${token}`;
}

function conditionOf(
  { current, members }: GroupSnapshot,
  elected: Elected,
  config: GroupConfig,
): Condition | null {
  const candidate = members?.find(({ node }) => node === elected.node) ?? null;
  if (current === null) {
    const waits = candidate !== null && config.paused === null;
    return waits ? { kind: 'unclaimed', node: candidate.node } : null;
  }
  const owner = claimOwner(current, members ?? []);
  if (owner === null || owner.node !== elected.node) {
    return { kind: 'holding', node: ownerName(current, members ?? []) };
  }
  return current.value?.status === 'READY' ? null : { kind: 'taking-over', node: owner.node };
}

/** The node itself gives up at its hook's own time limit and says why; the watchdog comes after that. */
function limitMs(condition: Condition, { timeouts }: GroupConfig): number {
  const graceMs = durationMs(timeouts.grace);
  switch (condition.kind) {
    case 'unclaimed':
      return durationMs(timeouts.claim);
    case 'taking-over':
      return durationMs(timeouts.takeover) + 2 * graceMs;
    case 'holding':
      return durationMs(timeouts.release) + 2 * graceMs;
  }
}

/** How many times its limit a condition may last, however often whoever it is held against begins anew. */
const mostLimits = 2;

/** Not negative once the condition has outlived its time. */
export function overdueMs({ firstMs, sinceMs, limitMs }: Watched, nowMs: number): number {
  return nowMs - Math.min(sinceMs + limitMs, firstMs + mostLimits * limitMs);
}
