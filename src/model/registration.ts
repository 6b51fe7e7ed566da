/** What a node publishes about itself, and the initial registration of an incarnation. */
import * as z from 'zod';
import { instantSchema, longSchema, nameSchema } from './names.js';
import {
  failureDetailSchema,
  type ProbeAddress,
  probeAddressSchema,
  slotSchema,
  termSchema,
} from './znodes.js';

/** Content of `nodes/<nodeId>`, which the node itself writes. */
export const registrationSchema = z.object({
  node: nameSchema,
  site: nameSchema,
  priority: z.int().min(0),
  host: z.string(),
  pid: z.int(),
  /** Identifier of the incarnation. It is generated randomly at each start of the agent. */
  incarnation: z.string().min(1),
  /** Start of the incarnation on the node's own wall clock, for display. */
  startedAt: instantSchema,
  version: z.string(),
  tags: z.record(z.string(), z.string()).default({}),
  /**
   * Versions of the user-defined rules that the node knows. Strategies are listed by name, and constraints by
   * `constraintKey`.
   */
  strategies: z.record(z.string(), z.string()).default({}),
  health: z.object({ ok: z.boolean(), reason: z.string().nullable() }),
  /**
   * Address at which the node answers probes. Null if it does not answer probes. An unreadable value affects
   * only the measurements.
   */
  probe: probeAddressSchema.nullable().default(null).catch(null),
  /** Whether the node is leaving on purpose. Another node is then elected. */
  draining: z.boolean().default(false),
  /** Whether the node runs a prepare hook before it claims. Missing if it does not. */
  prepares: z.boolean().optional().catch(undefined),
  /**
   * The version of `elected` under which the node last claimed. Each claim updates this field, so each claim
   * changes the version of this znode.
   */
  claimedUnder: z.int().nullable().default(null),
  /** The slot of the `elected` znode that `claimedUnder` refers to. */
  claimedSlot: slotSchema,
  /**
   * The last failed takeover. It counts only as long as `electedVersion` is the version of `elected`. `token`
   * is the token of the claim that the node released, or null if the node had no claim.
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
      /**
       * Term of the decision that caused the release. If there was no such decision yet, this is the
       * leadership's own term.
       */
      term: termSchema.nullable().default(null),
      result: z.string(),
      durationMs: z.number(),
      error: z.string().nullable(),
    })
    .nullable()
    .default(null),
  /**
   * Why the node, as the elector, handed over its role. The reason counts only as long as `configVersion` is
   * the version of `config`.
   */
  gaveUp: z.object({ configVersion: z.int(), reason: z.string() }).nullable().default(null),
});
export type Registration = z.infer<typeof registrationSchema>;

/**
 * Fields of a registration that commands and HTTP responses show. Each is null if the registration is
 * unreadable.
 */
export const listedShape = {
  site: nameSchema.nullable(),
  /** The machine on which the agent is running. `pid` is the agent's process on that machine. */
  host: z.string().nullable(),
  pid: z.int().nullable(),
  priority: z.int().nullable(),
};

export function listedFields(registration: Registration | null) {
  const { site = null, host = null, pid = null, priority = null } = registration ?? {};
  return { site, host, pid, priority };
}

/** Description of a node, taken from its settings and its machine. */
export interface NodeDescription {
  readonly node: string;
  readonly site: string;
  readonly priority: number;
  readonly tags: Readonly<Record<string, string>>;
  /** Versions of the user-defined strategies that the node knows, by name. */
  readonly strategies: Readonly<Record<string, string>>;
  readonly probe?: { readonly address: ProbeAddress } | null | undefined;
  readonly version: string;
  readonly host: { readonly name: string; readonly pid: number };
}

/** Returns the registration of a new incarnation. */
export function newRegistration(
  described: NodeDescription,
  process: Pick<Registration, 'incarnation' | 'startedAt'>,
): Registration {
  const { node, site, priority, tags, strategies, probe, version, host } = described;
  return {
    node,
    site,
    priority,
    host: host.name,
    pid: host.pid,
    ...process,
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
