/**
 * The schema of a deployment file, from which Petrel predicts the outcome of an election. A deployment
 * consists of nodes in sites, the distances between sites, and the locations of the clients. The file is
 * YAML. JSON is also valid, because it is a subset of YAML.
 */
import { lastTerm, longSchema, nameSchema, strictObject } from 'petrel/internals';
import * as z from 'zod';

/**
 * Maximum number of nodes in a group. It is also the maximum number of nodes whose round trips a group can
 * report.
 */
export const mostNodes = 1000;
/** One day. No real round trip takes longer. */
const longestRoundTripMs = 86_400_000;

const roundTrips = z
  .record(
    nameSchema,
    number('expected a round trip in milliseconds, a number of at least 0').max(
      longestRoundTripMs,
      'expected a round trip of at most one day, in milliseconds',
    ),
    'expected round trips as NAME: MILLISECONDS',
  )
  .default({});

const requests = number(
  'expected requests as a rate or share, a number of at least 0; only the proportion between sites matters',
)
  .max(1e15, 'expected requests of at most 1e15')
  .optional();

const priority = z
  .int('expected a priority, a whole number from 0 to 1000000; a node with priority 0 never leads')
  .min(0, 'expected a priority of at least 0; a node with priority 0 never leads')
  .max(1_000_000, 'expected a priority of at most 1000000')
  .default(100);

const beyond = 'numbers beyond ±9007199254740991 lose digits: write the number in quotes';
const score = z.union(
  [
    z.number().refine((value) => !Number.isInteger(value) || Number.isSafeInteger(value), beyond),
    longSchema.transform(BigInt),
  ],
  { error: ({ input }) => (typeof input === 'number' && Number.isFinite(input) ? beyond : scoreRule) },
);
const scoreRule = 'expected a score: a number, or a 64-bit whole number in quotes';

const siteSchema = strictObject({
  priority,
  /** Requests from the clients at the site. The clients are spread evenly over the site's nodes. */
  requests,
  /**
   * Round trips that this site measures, keyed by site. The entry for the site itself is the round trip
   * between its own nodes, which is 0 by default.
   */
  roundTripsMs: roundTrips,
});

const nodeSchema = strictObject({
  site: nameSchema,
  priority,
  scores: z.record(nameSchema, score, 'expected scores as NAME: NUMBER').default({}),
  /** Round trips to individual nodes. Needed only if they differ from the round trips between the sites. */
  roundTripsMs: roundTrips,
});

const strategyName = z.string('expected the name of a strategy').min(1, 'expected the name of a strategy');
const strategyOptions = z.record(z.string(), z.unknown(), 'expected options as NAME: VALUE').default({});

export const deploymentSchema = strictObject({
  sites: z.record(nameSchema, siteSchema, 'expected sites as NAME: {…}'),
  nodes: z.record(nameSchema, nodeSchema, 'expected nodes as NAME: {site: SITE}'),
  /** The current leader, or the node that led until it was lost. */
  leader: nameSchema.nullable().default(null),
  /** The current term. An election begins the next term. */
  term: z
    .int('expected a term, a whole number')
    .min(0, 'expected a term of at least 0')
    .max(lastTerm)
    .default(1),
  lose: z
    .array(z.string('expected node=NODE or site=SITE'), 'expected a list such as [node=a1, site=b]')
    .default([]),
  /** The group's own strategy, as in its configuration. */
  strategy: strategyName.default('site-priority'),
  strategyOptions,
  /**
   * The strategies to compare with the group's own. If the list is empty, all strategies that apply are
   * compared.
   */
  strategies: z
    .array(
      z.union(
        [
          strategyName.transform((strategy) => ({ strategy, strategyOptions: {} })),
          strictObject({ strategy: strategyName, strategyOptions }),
        ],
        'expected the name of a strategy, or {strategy: NAME, strategyOptions: {…}}',
      ),
      'expected a list of strategies',
    )
    .max(100, 'expected at most 100 strategies')
    .default([]),
});
export type Deployment = z.infer<typeof deploymentSchema>;

function number(rule: string): z.ZodNumber {
  return z.number(rule).min(0, rule);
}
