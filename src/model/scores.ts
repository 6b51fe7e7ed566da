/**
 * What a node measures: its own scores, which its application provides, and round trips to its peers. They
 * are in `scores/<nodeId>`, an ephemeral znode that the node writes. It is separate from the registration. So
 * a changed score triggers no other node's watch, and changes no version that a claim or a fence depends on.
 * Only electors read it.
 *
 * By default, strategies use the names `history` and `requests`: the position that the node's log has
 * reached, and the rate of its clients' requests. After Becker, Junqueira and Serafini, *Leader Election for
 * Replicated Services Using Application Scores* (2011).
 */
import * as z from 'zod';
import { longSchema, nameSchema } from './names.js';

/** Requests that a node receives from its clients per second. */
export const requestsScore = 'requests';

/** A position in a log may need 64 bits. The znode then stores it as a string of digits. */
export type Score = number | bigint;

const scoreSchema = z.union([z.number(), longSchema.transform(BigInt)]);

/** A report with more entries is malformed: no group has more nodes, and no node has more scores. */
const mostEntries = 1000;

/** Counts the entries before validating them, because electors read every node's report again and again. */
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
  /** The incarnation that reports. The report counts while the registration names the same one. */
  incarnation: z.string().min(1),
  /** By name. A score is missing if it was not measured, or not recently enough. */
  values: mapOf(scoreSchema),
  /** By the peer's node id: the smoothed round-trip time. A peer that stopped answering is missing. */
  roundTripsMs: mapOf(z.number().min(0)),
});
export interface ScoreReport {
  readonly node: string;
  readonly incarnation: string;
  readonly values: ReadonlyMap<string, Score>;
  readonly roundTripsMs: ReadonlyMap<string, number>;
}

/** Serializes a report for its znode. `scoreReportSchema` reads it back. */
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
