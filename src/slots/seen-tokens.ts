/**
 * The greatest fencing token that a node has seen for each slot. Tokens come from ZooKeeper's transaction
 * counter. The counter goes back if an ensemble is restored from a backup or rebuilt. A store that remembers
 * a greater token would then reject the leader.
 *
 * Invariant: under one `tokenEpoch`, no node leads with a token that is less than or equal to one that it has
 * seen. An operator raises the epoch to let tokens start over. An epoch lower than the one that the node has
 * seen is itself a sign that the configuration was restored from a backup.
 */
import { slotStates } from '../model/slots.js';
import type { GroupSnapshot } from '../model/snapshot.js';

export interface SeenTokens {
  /** The configuration's `tokenEpoch` when the tokens were seen. */
  readonly epoch: number;
  readonly bySlot: ReadonlyMap<number, bigint>;
}

export const noTokens: SeenTokens = { epoch: 0, bySlot: new Map() };

export interface TokenSeen {
  /**
   * The configuration's `tokenEpoch`. Null if the configuration is unreadable. The last known epoch applies
   * in that case.
   */
  readonly epoch: number | null;
  readonly slot: number;
  readonly token: bigint;
}

/** Adds a token to `tokens`. Returns the same object if the token is not new. */
export function withToken(tokens: SeenTokens, { epoch, slot, token }: TokenSeen): SeenTokens {
  if (epoch !== null && epoch < tokens.epoch) return tokens;
  if (epoch !== null && epoch > tokens.epoch) return { epoch, bySlot: new Map([[slot, token]]) };
  if (token <= (tokens.bySlot.get(slot) ?? 0n)) return tokens;
  return { epoch: tokens.epoch, bySlot: new Map([...tokens.bySlot, [slot, token]]) };
}

/** Returns the tokens of all claims in a snapshot, regardless of the claims' owners. */
export function tokensIn(snapshot: GroupSnapshot): TokenSeen[] {
  const epoch = snapshot.config.value?.tokenEpoch ?? null;
  return slotStates(snapshot).flatMap(({ slot, current }) =>
    current === null ? [] : [{ epoch, slot, token: current.token }],
  );
}

export interface GoneBack {
  /** What has gone back, as text for display. */
  readonly what: string;
  readonly todo: string;
}

/**
 * Returns how tokens have gone back. Returns null if they have not. In that case, a node may lead with this
 * token. If `isNew` is true, the claim was just made, and its token must be greater than all tokens that were
 * seen. The token of an existing claim may itself be among the tokens that were seen.
 */
export function goneBack(
  tokens: SeenTokens,
  { epoch, slot, token }: TokenSeen,
  isNew: boolean,
): GoneBack | null {
  const cause = 'ZooKeeper was restored from a backup or rebuilt';
  const todo = `see docs/guides/fencing.md; when no store remembers a greater token, run petrel config set tokenEpoch ${tokens.epoch + 1}`;
  if (epoch !== null && epoch < tokens.epoch) {
    const what = `tokenEpoch in the configuration is ${epoch}, but it was ${tokens.epoch} before: ${cause}, or the group's tree was deleted`;
    return { what, todo };
  }
  const greatest = tokens.bySlot.get(slot);
  if (greatest === undefined || (epoch !== null && epoch > tokens.epoch)) return null;
  if (token > greatest || (!isNew && token === greatest)) return null;
  return {
    what: `fencing token ${token} is not greater than ${greatest}, which was issued before: ${cause}`,
    todo,
  };
}

export function goneBackText({ what, todo }: GoneBack): string {
  return `${what}; ${todo}`;
}
