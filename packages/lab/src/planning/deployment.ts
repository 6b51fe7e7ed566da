/**
 * A deployment that somebody describes in a file, to ask what an election would bring there: nodes in sites, how far
 * apart these are, where the clients are. YAML, or JSON, which is YAML too.
 */
import { lastTerm, longSchema, nameSchema, strictObject } from 'petrel/internals';
import * as z from 'zod';

/** A group has no more nodes; nor can it report the round trips of more. */
export const mostNodes = 1000;
/** A day: what takes longer is no round trip. */
const longestRoundTripMs = 86_400_000;

const roundTrips = z
  .record(
    nameSchema,
    number('a round trip is a number of milliseconds, 0 or more').max(
      longestRoundTripMs,
      'a round trip takes a day at most, in milliseconds',
    ),
    'round trips are written as NAME: MILLISECONDS',
  )
  .default({});

const requests = number(
  'requests are a rate or a share, a number that is 0 or more; only their proportion counts',
)
  .max(1e15, 'requests are at most 1e15')
  .optional();

const priority = z
  .int('a priority is a whole number, 0 to 1000000; 0 never leads')
  .min(0, 'a priority is 0 or more; 0 never leads')
  .max(1_000_000, 'a priority is at most 1000000')
  .default(100);

const beyond = 'beyond ±9007199254740991 digits get lost: write it in quotes';
const score = z.union(
  [
    z.number().refine((value) => !Number.isInteger(value) || Number.isSafeInteger(value), beyond),
    longSchema.transform(BigInt),
  ],
  { error: ({ input }) => (typeof input === 'number' && Number.isFinite(input) ? beyond : scoreRule) },
);
const scoreRule = 'a score is a number, or a whole number of 64 bits in quotes';

const siteSchema = strictObject({
  priority,
  /** Of the clients there. They turn to the site's nodes, each to the same part. */
  requests,
  /** By site. What this one measures; to itself: between its nodes, by default 0. */
  roundTripsMs: roundTrips,
});

const nodeSchema = strictObject({
  site: nameSchema,
  priority,
  scores: z.record(nameSchema, score, 'scores are written as NAME: NUMBER').default({}),
  /** By node, where they are not those of the sites. */
  roundTripsMs: roundTrips,
});

const strategyName = z.string('a strategy is named').min(1, 'a strategy is named');
const strategyOptions = z.record(z.string(), z.unknown(), 'options are written as NAME: VALUE').default({});

export const deploymentSchema = strictObject({
  sites: z.record(nameSchema, siteSchema, 'sites are written as NAME: {…}'),
  nodes: z.record(nameSchema, nodeSchema, 'nodes are written as NAME: {site: SITE}'),
  /** Who leads, or led until it was lost. */
  leader: nameSchema.nullable().default(null),
  /** The term that is in force: an election begins the next one. */
  term: z.int('a term is a whole number').min(0, 'a term is 0 or more').max(lastTerm).default(1),
  lose: z.array(z.string('node=NODE or site=SITE'), 'a list like [node=a1, site=b]').default([]),
  /** The group's own strategy, as in its configuration. */
  strategy: strategyName.default('site-priority'),
  strategyOptions,
  /** What to compare it with; all that apply where nothing is named. */
  strategies: z
    .array(
      z.union(
        [
          strategyName.transform((strategy) => ({ strategy, strategyOptions: {} })),
          strictObject({ strategy: strategyName, strategyOptions }),
        ],
        'a strategy is named, or written as {strategy: NAME, strategyOptions: {…}}',
      ),
      'a list of strategies',
    )
    .max(100, 'at most 100 strategies')
    .default([]),
});
export type Deployment = z.infer<typeof deploymentSchema>;

function number(rule: string): z.ZodNumber {
  return z.number(rule).min(0, rule);
}
