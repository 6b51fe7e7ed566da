/** What the znodes tell: who claimed, who was elected when that became READY, what the history says of it. */
import { z } from 'zod';
import type { Change, HookRecord } from '../records.js';
import type { Violation } from './violation.js';

export interface Claim {
  readonly node: string;
  /** The transaction that created it. */
  readonly token: string;
  readonly session: string;
  readonly atMs: number;
  readyAtMs: number | null;
  /** Null: it stood to the end of the run. */
  endedAtMs: number | null;
  /** It was not deleted, but went with its owner's session. */
  expired: boolean;
}

const electedSchema = z.object({ node: z.string().nullable() });
const currentSchema = z.object({ node: z.string(), status: z.enum(['PROGRESS', 'READY']) });
const recordSchema = z.object({
  kind: z.string(),
  term: z.int().optional(),
  fencingToken: z.string().nullable().optional(),
});

export interface ClaimsFound {
  readonly claims: readonly Claim[];
  readonly violations: readonly Violation[];
}

const electedPath = '/leader/elected';
const currentPath = '/leader/current';

/** Every claim there was. All changes of one transaction happen at once. */
export function readClaims(changes: readonly Change[]): ClaimsFound {
  const reader = new ClaimReader();
  for (const transaction of byTransaction(changes)) reader.read(transaction);
  return reader;
}

class ClaimReader implements ClaimsFound {
  readonly claims: Claim[] = [];
  readonly violations: Violation[] = [];
  #elected: string | null = null;
  #present: Claim | null = null;

  read(transaction: readonly Change[]): void {
    for (const { path, data } of transaction) {
      if (path === electedPath) this.#elected = parse(electedSchema, data)?.node ?? null;
    }
    for (const change of transaction) {
      const gone = change.op === 'close' && change.session === this.#present?.session;
      if (gone && this.#present !== null) this.#present.expired = true;
      if (gone || (change.op === 'delete' && change.path === currentPath)) {
        if (this.#present !== null) this.#present.endedAtMs = change.atMs;
        this.#present = null;
      } else if (change.path === currentPath) this.#written(change);
    }
  }

  #written(change: Change): void {
    const content = parse(currentSchema, change.data);
    if (content === null) {
      this.#violate(change, 'claims are sound', `a claim that cannot be read: ${change.data}`);
      return;
    }
    const { node, status } = content;
    const byOther = node !== this.#elected;
    if (change.op === 'create') this.#created(change, node);
    else if (change.session !== this.#present?.session)
      this.#violate(change, 'claims are sound', `${node} wrote to the claim of ${this.#present?.node}`);
    if (status !== 'READY') return;
    if (byOther)
      this.#violate(change, 'READY by the elected', `${node} is READY while ${this.#elected} is elected`);
    if (this.#present !== null) this.#present.readyAtMs ??= change.atMs;
  }

  #created(change: Change, node: string): void {
    const { zxid: token, session, atMs } = change;
    if (this.#present !== null)
      this.#violate(change, 'one claim', `${node} claims what ${this.#present.node} holds`);
    if (node !== this.#elected)
      this.#violate(change, 'claims by the elected', `${node} claims while ${this.#elected} is elected`);
    this.#present = { node, token, session, atMs, readyAtMs: null, endedAtMs: null, expired: false };
    this.claims.push(this.#present);
  }

  #violate({ atMs }: Change, rule: string, what: string): void {
    this.violations.push({ rule, what, atMs });
  }
}

function byTransaction(changes: readonly Change[]): Change[][] {
  const groups = new Map<string, Change[]>();
  for (const change of changes) groups.set(change.zxid, [...(groups.get(change.zxid) ?? []), change]);
  return [...groups.values()];
}

/** A takeover's token is that of a claim of its node; so no two nodes ever take over under one token. */
export function takeoversWithoutClaim(hooks: readonly HookRecord[], claims: readonly Claim[]): Violation[] {
  const owners = new Map(claims.map(({ token, node }) => [token, node]));
  return hooks
    .filter(({ phase, event, node, token }) => {
      return phase === 'takeover' && event === 'started' && owners.get(token) !== node;
    })
    .map(({ node, token, monotonicMs }) => {
      const what = `${node} took over under token ${token}, which is that of ${owners.get(token) ?? 'no claim'}`;
      return { rule: 'takeovers have claims', what, atMs: monotonicMs };
    });
}

/** One record a term and token, in an order in which tokens grow. */
export function historyProblems(changes: readonly Change[]): Violation[] {
  const rule = 'history in order';
  const found: Violation[] = [];
  const known = new Set<string>();
  let newest = -1n;
  for (const { op, path, data, atMs } of changes) {
    if (op !== 'create' || !/^\/history\/[^/]+$/.test(path)) continue;
    const record = parse(recordSchema, data);
    if (record === null) found.push({ rule, what: `a record that cannot be read: ${data}`, atMs });
    if (record?.kind !== 'transition') continue;
    const key = `term ${record.term}, token ${record.fencingToken}`;
    if (known.has(key)) found.push({ rule, what: `two records of ${key}`, atMs });
    known.add(key);
    if (record.fencingToken == null) continue;
    const token = BigInt(record.fencingToken);
    if (token < newest)
      found.push({ rule, what: `the record of ${key} comes after that of ${newest}`, atMs });
    newest = token;
  }
  return found;
}

function parse<T>(schema: z.ZodType<T>, data: string | null): T | null {
  try {
    return schema.safeParse(JSON.parse(data ?? '')).data ?? null;
  } catch {
    return null;
  }
}
