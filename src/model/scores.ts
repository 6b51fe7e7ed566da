/**
 * Measurements of a node: its own scores, which its application provides, and the round-trip times to its
 * peers. The node writes them to `scores/<nodeId>`, an ephemeral znode that is separate from the
 * registration. A changed score therefore does not trigger other nodes' watches, and does not change a
 * version that a claim or a fence depends on. Only electors read this znode.
 *
 * By default, strategies use two scores. `history` is the position that the node's log has reached.
 * `requests` is the rate of client requests. Both follow Becker, Junqueira and Serafini, *Leader Election for
 * Replicated Services Using Application Scores* (2011).
 */
import * as z from 'zod';
import { longSchema, nameSchema } from './names.js';

/** Name of the score that contains the number of client requests per second. */
export const requestsScore = 'requests';

/** A score. A position in a log may need 64 bits. In that case, the znode stores it as a string of digits. */
export type Score = number | bigint;

const scoreSchema = z.union([z.number(), longSchema.transform(BigInt)]);

/**
 * Maximum number of entries in a report. A report with more entries is malformed, because no group has more
 * nodes, and no node has more scores.
 */
const mostEntries = 1000;

/**
 * Returns a schema that counts the entries before it validates them. Electors read every node's report
 * repeatedly, so it must be cheap to reject a report that is too large.
 */
function mapOf<T extends z.ZodType>(value: T) {
  return z
    .unknown()
    .refine(isFew, `expected at most ${mostEntries} entries`)
    .pipe(z.record(nameSchema, value))
    .transform((entries) => new Map(Object.entries(entries)));
}

function isFew(input: unknown): boolean {
  return typeof input !== 'object' || input === null || Object.keys(input).length <= mostEntries;
}

export const scoreReportSchema = z.object({
  node: nameSchema,
  /**
   * The incarnation that wrote the report. The report counts as long as the node's registration names the
   * same incarnation.
   */
  incarnation: z.string().min(1),
  /** Scores by name. A score is missing if it was never measured, or not recently enough. */
  values: mapOf(scoreSchema),
  /** Smoothed round-trip times, keyed by the peer's node id. A peer that has stopped answering is missing. */
  roundTripsMs: mapOf(z.number().min(0)),
});
export interface ScoreReport {
  readonly node: string;
  readonly incarnation: string;
  readonly values: ReadonlyMap<string, Score>;
  readonly roundTripsMs: ReadonlyMap<string, number>;
}

/** Serializes a report for its znode. `scoreReportSchema` parses the result. */
export function scoreReportText({ node, incarnation, values, roundTripsMs }: ScoreReport): string {
  const entries = [...values].map(([name, value]) => [
    name,
    typeof value === 'bigint' ? String(value) : value,
  ]);
  return JSON.stringify({
    node,
    incarnation,
    values: Object.fromEntries(entries),
    roundTripsMs: Object.fromEntries(roundTripsMs),
  });
}
