/**
 * Simulates the effect of an election: which node each strategy would elect after the loss of some nodes, and
 * the latency that clients would then have. The result is compared with the best result that any choice could
 * give.
 *
 * Latencies follow Becker, Junqueira and Serafini, *Leader Election for Replicated Services Using Application
 * Scores* (2011). A client sends a request to its own node, which forwards it to the leader. The leader
 * answers once a quorum has the request. The latencies include neither the servers' processing time nor the
 * time from a client to its node.
 */
import * as z from 'zod';
import type { Choice } from '../core/choice-input.js';
import type { Ineligible } from '../core/constraint.js';
import { effectiveDecision } from '../core/effective-decision.js';
import { judge, readableConfig } from '../group/judge.js';
import { nameSchema } from '../model/names.js';
import { firstOf } from '../model/outside.js';
import type { Member } from '../model/snapshot.js';
import type { ComparedStrategies, ComparedStrategy } from './compared-strategies.js';
import { type LatencyTable, latencyTable, rounded, siteLatencies } from './latencies.js';
import type { Situation } from './situation.js';

const milliseconds = z.number().nullable();
/**
 * Difference from the best possible value, in milliseconds and as a percentage of that value. The percentage
 * is null if the best value is 0 and this value is not.
 */
const aboveSchema = z.object({ ms: z.number(), percent: z.number().nullable() }).nullable();
const bestSchema = z.object({ node: nameSchema, ms: z.number() }).nullable();

const outcomeSchema = z.object({
  strategy: z.string(),
  /**
   * The node that would be elected. Null if no node would be elected, or if the elected node is not eligible.
   */
  node: nameSchema.nullable(),
  site: nameSchema.nullable(),
  reason: z.string(),
  /** Mean latency over all clients, weighted by their requests. Null if it cannot be determined. */
  meanMs: milliseconds,
  /** Latency of the farthest client. */
  worstMs: milliseconds,
  aboveBestMean: aboveSchema,
  aboveBestWorst: aboveSchema,
  /** Mean latency of the clients at each site, and their share of all requests. */
  sites: z.array(z.object({ site: nameSchema, share: z.number(), ms: milliseconds })),
  /** Whether it is a failure if the strategy elects no node. */
  decides: z.boolean(),
});
export type Outcome = z.infer<typeof outcomeSchema>;

export const simulationSchema = z.object({
  /** Name of the file, or root of the group, that is simulated. */
  of: z.string(),
  /** |N|: number of nodes in the group, including lost nodes. */
  size: z.int(),
  quorum: z.int(),
  leader: nameSchema.nullable(),
  lost: z.array(z.string()),
  /** Name of the group's own strategy. */
  strategy: z.string(),
  outcomes: z.array(outcomeSchema),
  /** Strategies that were left out because they lack the data that they need. */
  leftOut: z.array(z.object({ strategy: z.string(), reason: z.string() })),
  /** The best values that any eligible node could give. */
  best: z.object({ mean: bestSchema, worst: bestSchema }),
  /** The nodes that were not lost. */
  nodes: z.array(
    z.object({
      node: nameSchema,
      site: nameSchema,
      eligible: z.boolean(),
      /** Reasons why the node must not lead. Empty if it is eligible. */
      ineligibleReasons: z.array(z.string()),
      /** Time until a quorum has answered the node. */
      quorumMs: milliseconds,
      meanMs: milliseconds,
      worstMs: milliseconds,
      /** Share of all requests that arrive at the node. */
      share: z.number(),
    }),
  ),
  notes: z.array(z.string()),
});
export type Simulation = z.infer<typeof simulationSchema>;
type SimulatedNode = Simulation['nodes'][number];

/**
 * Runs the simulation. The strategies must have been prepared with the rules of the situation's view. Throws
 * whatever `judge` throws.
 */
export function simulate(situation: Situation, { compared, leftOut }: ComparedStrategies): Simulation {
  const { of, view, nowMs, size, lost, notes } = situation;
  const left = view.members.filter(({ node }) => !lost.has(node));
  const table = latencyTable(left, situation);
  const choices = compared.map((one): Choosing => {
    return { ...one, choice: judge(view, nowMs, { without: [...lost], strategy: one.named }) };
  });
  const nodes = simulatedNodes(left, table, choices[0]?.choice.ineligible ?? []);
  const context = { size, left, table, nodes, best: bestOf(nodes) };
  const shown = choices.filter((one) => one.decides || lacksQuorum(one, context) || isMeaningful(one));
  const silent = choices.filter((one) => !shown.includes(one));
  return {
    of,
    size,
    quorum: quorumOf(size),
    leader: effectiveDecision(view).node,
    lost: [...lost].toSorted(),
    strategy: readableConfig(view).strategy,
    outcomes: shown.map((one) => outcome(one, context)),
    leftOut: [...leftOut, ...silent.map(whyLeftOut)],
    best: context.best,
    nodes,
    notes: [...notes, ...groupNotes(context)],
  };
}

function groupNotes({ size, left, table, nodes }: ConstraintContext): string[] {
  if (left.length < quorumOf(size)) return ['latencies are unknown: the remaining nodes have no quorum'];
  const unknown = nodes.filter(({ worstMs }) => worstMs === null).map(({ node }) => node);
  return [
    ...(unknown.length === 0
      ? []
      : [`latencies are unknown for ${firstOf(unknown).join(', ')}: round trips are missing`]),
    ...(table.isLoadUnknown
      ? ['requests are unknown: all nodes are assumed to receive the same number']
      : []),
  ];
}

interface Choosing extends ComparedStrategy {
  readonly choice: Choice;
}

interface ConstraintContext {
  readonly size: number;
  readonly left: readonly Member[];
  readonly table: LatencyTable;
  readonly nodes: readonly SimulatedNode[];
  readonly best: Simulation['best'];
}

function simulatedNodes(
  left: readonly Member[],
  { of }: LatencyTable,
  ineligible: readonly Ineligible[],
): SimulatedNode[] {
  return left
    .flatMap(({ node, value }) => {
      const latencies = of.get(node);
      if (value === null || latencies === undefined) return [];
      const found = ineligible.find((other) => other.node === node)?.ineligibleReasons ?? [];
      const ineligibleReasons = found.map(({ reason }) => reason);
      return [
        { node, site: value.site, eligible: ineligibleReasons.length === 0, ineligibleReasons, ...latencies },
      ];
    })
    .toSorted((a, b) => (a.node < b.node ? -1 : 1));
}

function bestOf(nodes: readonly SimulatedNode[]): Simulation['best'] {
  const eligible = nodes.filter((node) => node.eligible);
  return {
    mean: lowest(eligible, ({ meanMs }) => meanMs),
    worst: lowest(eligible, ({ worstMs }) => worstMs),
  };
}

function lowest(nodes: readonly SimulatedNode[], read: (node: SimulatedNode) => number | null) {
  const known = nodes.flatMap((one) => {
    const ms = read(one);
    return ms === null ? [] : [{ node: one.node, ms }];
  });
  return known.reduce<(typeof known)[number] | null>((a, b) => (a !== null && a.ms <= b.ms ? a : b), null);
}

function quorumOf(size: number): number {
  return Math.floor(size / 2) + 1;
}

/** Whether the strategy uses a quorum, but too few nodes remain for a quorum. */
function lacksQuorum(
  { needsQuorum, choice: { ranking } }: Choosing,
  { size, left }: ConstraintContext,
): boolean {
  return needsQuorum && left.length < quorumOf(size) && ranking.every(({ score }) => score === undefined);
}

/**
 * Whether a strategy that compares measurements has any measurements to compare. True for other strategies.
 */
function isMeaningful({ strategy, choice: { ranking } }: Choosing): boolean {
  const isMeasured = ranking.some(({ grade, score }) => score !== undefined || grade !== ranking[0]?.grade);
  return strategy.usesScores !== true || ranking.length === 0 || isMeasured;
}

function whyLeftOut({ strategy: { name }, choice }: Choosing): Simulation['leftOut'][number] {
  return { strategy: name, reason: choice.ranking[0]?.reason ?? choice.reason };
}

function outcome(choosing: Choosing, context: ConstraintContext): Outcome {
  const { strategy, choice } = choosing;
  const ranked = choice.ranking.find(({ node }) => node === choice.node);
  const node = context.nodes.find((one) => one.node === ranked?.node);
  if (ranked === undefined || node === undefined) return nobody(choosing, choice.reason);
  if (lacksQuorum(choosing, context)) return nobody(choosing, noQuorumText(context));
  const { meanMs, worstMs } = node;
  return {
    strategy: strategy.name,
    node: node.node,
    site: node.site,
    // Report only the part of the reason that comes from the strategy. The other part says which node would
    // be replaced, and is the same for all strategies.
    reason: choice.reason.endsWith(ranked.reason) ? ranked.reason : choice.reason,
    meanMs,
    worstMs,
    aboveBestMean: above(meanMs, context.best.mean),
    aboveBestWorst: above(worstMs, context.best.worst),
    sites: siteLatencies(node.node, context.left, context.table),
    decides: choosing.decides,
  };
}

const none = {
  node: null,
  site: null,
  meanMs: null,
  worstMs: null,
  aboveBestMean: null,
  aboveBestWorst: null,
  sites: [],
};

function nobody({ strategy, decides }: Choosing, reason: string): Outcome {
  return { strategy: strategy.name, reason, ...none, decides };
}

function noQuorumText({ size, left }: ConstraintContext): string {
  return `no quorum remains: ${left.length} of ${size} nodes are left, but ${quorumOf(size)} are required`;
}

function above(ms: number | null, best: { readonly ms: number } | null): Outcome['aboveBestMean'] {
  if (ms === null || best === null) return null;
  const more = rounded(ms - best.ms);
  const percent = best.ms === 0 ? (more === 0 ? 0 : null) : rounded((100 * more) / best.ms);
  return { ms: more, percent };
}
