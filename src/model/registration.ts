/** What a node tells the others of itself, and what a life of it begins with. */
import * as z from 'zod';
import { instantSchema, longSchema, nameSchema } from './names.js';
import {
  failureDetailSchema,
  type ProbeAddress,
  probeAddressSchema,
  slotSchema,
  termSchema,
} from './znodes.js';

/** `nodes/<nodeId>`, written by that node. */
export const registrationSchema = z.object({
  node: nameSchema,
  site: nameSchema,
  priority: z.int().min(0),
  host: z.string(),
  pid: z.int(),
  /** Random for each start of the agent: tells one life of a node from another. */
  incarnation: z.string().min(1),
  /** The node's own wall clock, for people. */
  startedAt: instantSchema,
  version: z.string(),
  tags: z.record(z.string(), z.string()).default({}),
  /**
   * Versions of the strategies of users' own that the node knows, by name, and of constraints, by
   * `constraintKey`.
   */
  strategies: z.record(z.string(), z.string()).default({}),
  health: z.object({ ok: z.boolean(), reason: z.string().nullable() }),
  /** Null where it answers none. What cannot be read harms the measuring alone. */
  probe: probeAddressSchema.nullable().default(null).catch(null),
  /** Leaving on purpose: elects somebody else. */
  draining: z.boolean().default(false),
  /**
   * The version of `elected` under which the node claimed last; moves the znode's version with every claim.
   */
  claimedUnder: z.int().nullable().default(null),
  /** The slot of that `elected`. */
  claimedSlot: slotSchema,
  /**
   * The last failed takeover. It counts only under the version of `elected` that it names. The token is that
   * of the claim it gave away; null when it had none.
   */
  lastFailure: z
    .object({
      electedVersion: z.int(),
      slot: slotSchema,
      token: longSchema.nullable().default(null),
      detail: failureDetailSchema,
    })
    .nullable()
    .default(null),
  lastTakeover: z.object({ token: longSchema, durationMs: z.number() }).nullable().default(null),
  lastRelease: z
    .object({
      token: longSchema,
      /** Of the decision that it answered; its own leadership's where there was none yet. */
      term: termSchema.nullable().default(null),
      result: z.string(),
      durationMs: z.number(),
      error: z.string().nullable(),
    })
    .nullable()
    .default(null),
  /** Why the node, as elector, gave the seat up: it counts under the version of `config` that it names. */
  gaveUp: z.object({ configVersion: z.int(), reason: z.string() }).nullable().default(null),
});
export type Registration = z.infer<typeof registrationSchema>;

/** What commands and HTTP tell of a registration as it stands; null where it cannot be read. */
export const listedShape = {
  site: nameSchema.nullable(),
  /** The machine it runs on, and the agent's process there. */
  host: z.string().nullable(),
  pid: z.int().nullable(),
  priority: z.int().nullable(),
};

export function listedFields(registration: Registration | null) {
  const { site = null, host = null, pid = null, priority = null } = registration ?? {};
  return { site, host, pid, priority };
}

/** A node as its settings and its machine describe it. */
export interface NodeDescription {
  readonly node: string;
  readonly site: string;
  readonly priority: number;
  readonly tags: Readonly<Record<string, string>>;
  /** Versions of the strategies of users' own that it knows, by name. */
  readonly strategies: Readonly<Record<string, string>>;
  readonly probe?: { readonly address: ProbeAddress } | null | undefined;
  readonly version: string;
  readonly host: { readonly name: string; readonly pid: number };
}

/** The registration of a life that has done nothing yet. */
export function newRegistration(
  described: NodeDescription,
  life: Pick<Registration, 'incarnation' | 'startedAt'>,
): Registration {
  const { node, site, priority, tags, strategies, probe, version, host } = described;
  return {
    node,
    site,
    priority,
    host: host.name,
    pid: host.pid,
    ...life,
    version,
    tags: { ...tags },
    strategies: { ...strategies },
    health: { ok: true, reason: null },
    probe: probe?.address ?? null,
    draining: false,
    claimedUnder: null,
    lastFailure: null,
    lastTakeover: null,
    lastRelease: null,
    gaveUp: null,
  };
}
