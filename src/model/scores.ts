/**
 * What a node measures: scores of its own (whatever its application says of itself), and round trips to its
 * peers. `scores/<nodeId>`, an ephemeral znode written by that node, apart from its registration: a score
 * that moves wakes nobody, and moves no version that a claim or a fence rests on. Only who elects reads it.
 *
 * The names `history` and `requests` are those that strategies look for unless told otherwise: the position
 * that the node's log has reached, and the rate of its clients' requests. After Becker, Junqueira and
 * Serafini, *Leader Election for Replicated Services Using Application Scores* (2011).
 */
import * as z from 'zod';
import { longSchema, nameSchema } from './names.js';

/** The rate of the requests that a node gets from its clients, a second. */
export const requestsScore = 'requests';

/** A position in a log may need 64 bits; a znode then holds it as a string of digits. */
export type Score = number | bigint;

const scoreSchema = z.union([z.number(), longSchema.transform(BigInt)]);

/** More is malformed: a group has no more nodes, and no node so many scores. */
const mostEntries = 1000;

/** Counted before they are looked at: who elects reads every node's, again and again. */
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
  /** The life that reports: it counts while the registration names the same. */
  incarnation: z.string().min(1),
  /** By name. What is missing was not measured, or too long ago. */
  values: mapOf(scoreSchema),
  /** By the peer's node id: the smoothed time there and back. A peer that stopped answering is missing. */
  roundTripsMs: mapOf(z.number().min(0)),
});
export interface ScoreReport {
  readonly node: string;
  readonly incarnation: string;
  readonly values: ReadonlyMap<string, Score>;
  readonly roundTripsMs: ReadonlyMap<string, number>;
}

/** As a znode holds it: `scoreReportSchema` reads it back. */
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
