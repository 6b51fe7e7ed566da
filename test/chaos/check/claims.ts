/**
 * Checks the znodes: which node claimed, which node was elected when the claim became READY, and what the
 * history records.
 */
import { z } from 'zod';
import type { Change, HookRecord } from '../records.js';
import { inSlot, type Violation } from './violation.js';

export interface Claim {
  readonly slot: number;
  readonly node: string;
  /** Zxid of the transaction that created the claim. */
  readonly token: string;
  readonly session: string;
  readonly atMs: number;
  readyAtMs: number | null;
  /** Null if the claim existed until the end of the run. */
  endedAtMs: number | null;
  /** Whether the claim ended with its owner's session. If not, the claim was deleted. */
  expired: boolean;
}

const electedSchema = z.object({ node: z.string().nullable() });
const currentSchema = z.object({ node: z.string(), status: z.enum(['PROGRESS', 'READY']) });
const recordSchema = z.object({
  kind: z.string(),
  slot: z.int().default(1),
  term: z.int().optional(),
  fencingToken: z.string().nullable().optional(),
});

export interface ClaimsFound {
  readonly claims: readonly Claim[];
  readonly violations: readonly Violation[];
}

/**
 * Returns the slot of the decision or the claim at a path. Null for any other path. A path of slot 1 has no
 * number.
 */
function placeOf(path: string): { holds: string; slot: number } | null {
  const [, holds, slot = '1'] = /^\/leader\/(elected|current)(?:-([1-9]\d*))?$/.exec(path) ?? [];
  return holds === undefined ? null : { holds, slot: Number(slot) };
}

/** Reads every claim. All changes of one transaction take effect together. */
export function readClaims(changes: readonly Change[]): ClaimsFound {
  const reader = new ClaimReader();
  for (const transaction of byTransaction(changes)) reader.read(transaction);
  return reader;
}

class ClaimReader implements ClaimsFound {
  readonly claims: Claim[] = [];
  readonly violations: Violation[] = [];
  /** Elected node of each slot. `#present` has the current claim of each slot. */
  readonly #elected = new Map<number, string>();
  readonly #present = new Map<number, Claim>();

  read(transaction: readonly Change[]): void {
    for (const change of transaction) {
      const place = placeOf(change.path);
      if (place?.holds === 'elected') this.#decided(change, place.slot);
    }
    for (const change of transaction) {
      const place = placeOf(change.path);
      if (change.op === 'close') this.#closed(change);
      else if (place?.holds === 'current') this.#claimChanged(change, place.slot);
    }
    const last = transaction.at(-1);
    if (last !== undefined) this.#oneSlotEach(last, transaction);
  }

  #decided({ data }: Change, slot: number): void {
    const node = parse(electedSchema, data)?.node ?? null;
    if (node === null) this.#elected.delete(slot);
    else this.#elected.set(slot, node);
  }

  #closed({ session, atMs }: Change): void {
    for (const claim of this.#present.values()) {
      if (claim.session !== session) continue;
      claim.expired = true;
      this.#end(claim, atMs);
    }
  }

  #claimChanged(change: Change, slot: number): void {
    const present = this.#present.get(slot);
    if (change.op !== 'delete') this.#written(change, slot);
    else if (present !== undefined) this.#end(present, change.atMs);
  }

  #end(claim: Claim, atMs: number): void {
    claim.endedAtMs = atMs;
    this.#present.delete(claim.slot);
  }

  #written(change: Change, slot: number): void {
    const content = parse(currentSchema, change.data);
    if (content === null) {
      this.#violate(change, 'claims are sound', `a claim${inSlot(slot)} that cannot be read: ${change.data}`);
      return;
    }
    const { node, status } = content;
    const elected = this.#elected.get(slot) ?? null;
    const owner = this.#present.get(slot);
    if (change.op === 'create') this.#created(change, slot, node);
    else if (change.session !== owner?.session)
      this.#violate(
        change,
        'claims are sound',
        `${node} wrote to the claim${inSlot(slot)} of ${owner?.node}`,
      );
    if (status !== 'READY') return;
    if (node !== elected)
      this.#violate(
        change,
        'READY by the elected',
        `${node} is READY${inSlot(slot)} while ${elected} is elected`,
      );
    const claim = this.#present.get(slot);
    if (claim !== undefined) claim.readyAtMs ??= change.atMs;
  }

  #created(change: Change, slot: number, node: string): void {
    const { zxid: token, session, atMs } = change;
    const holder = this.#present.get(slot);
    if (holder !== undefined)
      this.#violate(change, 'one claim', `${node} claims what ${holder.node} holds${inSlot(slot)}`);
    const elected = this.#elected.get(slot) ?? null;
    if (node !== elected)
      this.#violate(
        change,
        'claims by the elected',
        `${node} claims${inSlot(slot)} while ${elected} is elected`,
      );
    const claim = { slot, node, token, session, atMs, readyAtMs: null, endedAtMs: null, expired: false };
    this.#present.set(slot, claim);
    this.claims.push(claim);
  }

  /**
   * Checks that no node is elected in two slots or owns the claims of two slots. Looks only at
   * transactions that decide or claim, so a later one that does may report the violation again.
   */
  #oneSlotEach(last: Change, transaction: readonly Change[]): void {
    const decides = transaction.some(({ path }) => placeOf(path)?.holds === 'elected');
    const claims = transaction.some(({ op, path }) => op === 'create' && placeOf(path)?.holds === 'current');
    const sessions = [...this.#present].map(([slot, { session }]): [number, string] => [slot, session]);
    const nodeOf = (slot: number) => this.#present.get(slot)?.node;
    if (decides)
      for (const [slot, other, node] of doubles([...this.#elected]))
        this.#violate(last, 'one slot a node', `${node} is elected in slots ${slot} and ${other}`);
    if (claims)
      for (const [slot, other] of doubles(sessions))
        this.#violate(
          last,
          'one slot a node',
          `${nodeOf(slot)} owns the claims of slots ${slot} and ${other}`,
        );
  }

  #violate({ atMs }: Change, rule: string, what: string): void {
    this.violations.push({ rule, what, atMs });
  }
}

/** Returns each pair of slots with the same value, and that value. */
function doubles(held: readonly (readonly [number, string])[]): [number, number, string][] {
  return held.flatMap(([slot, what], index) => {
    return held
      .slice(index + 1)
      .filter(([, other]) => other === what)
      .map(([other]): [number, number, string] => [slot, other, what]);
  });
}

function byTransaction(changes: readonly Change[]): Change[][] {
  const groups = new Map<string, Change[]>();
  for (const change of changes) groups.set(change.zxid, [...(groups.get(change.zxid) ?? []), change]);
  return [...groups.values()];
}

/**
 * Checks that a node takes over a slot only under the token of its own claim of that slot. This implies that
 * no two nodes take over under the same token.
 */
export function takeoversWithoutClaim(hooks: readonly HookRecord[], claims: readonly Claim[]): Violation[] {
  const owners = new Map(claims.map(({ token, node, slot }) => [token, `${node}${inSlot(slot)}`]));
  return hooks
    .filter(({ phase, event, node, slot, token }) => {
      return phase === 'takeover' && event === 'started' && owners.get(token) !== `${node}${inSlot(slot)}`;
    })
    .map(({ node, slot, token, monotonicMs }) => {
      const whose = owners.get(token) ?? 'no claim';
      const what = `${node}${inSlot(slot)} took over under token ${token}, which is that of ${whose}`;
      return { rule: 'takeovers have claims', what, atMs: monotonicMs };
    });
}

/**
 * Checks that the history has only one record per slot, term and token. Checks, too, that the tokens of each
 * slot never fall from record to record.
 */
export function historyProblems(changes: readonly Change[]): Violation[] {
  const rule = 'history in order';
  const found: Violation[] = [];
  const known = new Set<string>();
  const newestOf = new Map<number, bigint>();
  for (const { op, path, data, atMs } of changes) {
    if (op !== 'create' || !/^\/history\/[^/]+$/.test(path)) continue;
    const record = parse(recordSchema, data);
    if (record === null) found.push({ rule, what: `a record that cannot be read: ${data}`, atMs });
    if (record?.kind !== 'transition') continue;
    const { slot } = record;
    const key = `term ${record.term}, token ${record.fencingToken}${inSlot(slot)}`;
    if (known.has(key)) found.push({ rule, what: `two records of ${key}`, atMs });
    known.add(key);
    if (record.fencingToken == null) continue;
    const token = BigInt(record.fencingToken);
    const newest = newestOf.get(slot) ?? -1n;
    if (token < newest)
      found.push({ rule, what: `the record of ${key} comes after that of ${newest}`, atMs });
    newestOf.set(slot, token);
  }
  return found;
}

/** Parses JSON data. Returns null if the data does not match the schema. */
export function parse<T>(schema: z.ZodType<T>, data: string | null): T | null {
  try {
    return schema.safeParse(JSON.parse(data ?? '')).data ?? null;
  } catch {
    return null;
  }
}
