/**
 * Greatest fencing tokens that a node has seen, by slot. ZooKeeper's transaction counter, which they come
 * from, goes back where an ensemble is restored from a backup or rebuilt. A store that remembers a greater
 * token would then refuse the leader.
 *
 * Invariant: under one `tokenEpoch` no node leads at or below a token that it has seen. A person raises the
 * epoch to let tokens begin anew; an epoch that is lower than the one seen is itself a sign of a restored
 * configuration.
 */
import { slotStates } from '../model/slots.js';
import type { GroupSnapshot } from '../model/snapshot.js';

export interface SeenTokens {
  /** `tokenEpoch` of the configuration that they were seen under. */
  readonly epoch: number;
  readonly bySlot: ReadonlyMap<number, bigint>;
}

export const noTokens: SeenTokens = { epoch: 0, bySlot: new Map() };

export interface TokenSeen {
  /** Null where the configuration cannot be read: that of what was seen before. */
  readonly epoch: number | null;
  readonly slot: number;
  readonly token: bigint;
}

/** The same object where the token is no news. */
export function withToken(seen: SeenTokens, { epoch, slot, token }: TokenSeen): SeenTokens {
  if (epoch !== null && epoch < seen.epoch) return seen;
  if (epoch !== null && epoch > seen.epoch) return { epoch, bySlot: new Map([[slot, token]]) };
  if (token <= (seen.bySlot.get(slot) ?? 0n)) return seen;
  return { epoch: seen.epoch, bySlot: new Map([...seen.bySlot, [slot, token]]) };
}

/** Claims of a snapshot, whoever owns them. */
export function tokensIn(snapshot: GroupSnapshot): TokenSeen[] {
  const epoch = snapshot.config.value?.tokenEpoch ?? null;
  return slotStates(snapshot).flatMap(({ slot, current }) =>
    current === null ? [] : [{ epoch, slot, token: current.token }],
  );
}

export interface GoneBack {
  /** For people. */
  readonly what: string;
  readonly todo: string;
}

/**
 * Null: nodes may lead with this token, it has not gone back. `isNew`: the claim was made just now, so its
 * token has to be greater than all that were seen. That of a claim that stood may have been seen itself.
 */
export function goneBack(
  seen: SeenTokens,
  { epoch, slot, token }: TokenSeen,
  isNew: boolean,
): GoneBack | null {
  const cause = 'ZooKeeper was restored from a backup or rebuilt';
  const todo = `see docs/guides/fencing.md; when no store remembers a greater token, run petrel config set tokenEpoch ${seen.epoch + 1}`;
  if (epoch !== null && epoch < seen.epoch) {
    const what = `tokenEpoch of the configuration is ${epoch}, but ${seen.epoch} was in force before: ${cause}, or the group's tree was deleted`;
    return { what, todo };
  }
  const greatest = seen.bySlot.get(slot);
  if (greatest === undefined || (epoch !== null && epoch > seen.epoch)) return null;
  if (token > greatest || (!isNew && token === greatest)) return null;
  return {
    what: `fencing token ${token} is not greater than ${greatest}, which was issued before: ${cause}`,
    todo,
  };
}

export function goneBackText({ what, todo }: GoneBack): string {
  return `${what}; ${todo}`;
}
