/**
 * Measures the cost of ranking a large group by the scores of its nodes, where every node has a round trip to
 * every other node. The result is CPU time, because other work on the machine affects it less than elapsed
 * time.
 *
 *   npm run bench:ranking              1000 nodes
 *   NODES=300 npm run bench:ranking    another number
 */
import { prepareStrategy } from '../src/model/read-config.js';
import { scoreReportSchema, scoreReportText } from '../src/model/scores.js';
import { builtInRules, type Candidate, type Peer } from '../strategies/index.js';
import { ordinary } from '../test/core/builders.js';
import { chance } from '../test/support/chance.js';

const nodes = Number(process.env.NODES ?? 1000);
const rounds = Number(process.env.ROUNDS ?? 30);
const warmUpRounds = 5;

const { upTo } = chance(1);
const names = Array.from({ length: nodes }, (_, index) => `n${String(index).padStart(5, '0')}`);
const peers: readonly Peer[] = names.map(peer);
const candidates: readonly Candidate[] = peers.map(({ node, site, scores }) => {
  return { node, site, scores, priority: 100, sitePriority: 100, seat: 0, tags: {} };
});

console.log(
  `${nodes} nodes, ${nodes} round trips each, ${rounds} rankings; milliseconds of processor: median, most`,
);
measure('history', {});
measure('consensus', {});
measure('latency', {});
measure('worst-case', {});
measure('pole', {
  scores: ['latency', 'consensus', 'worst-case', 'history'].map((score) => ({ score, width: 10 })),
});

/** Creates a peer from JSON text, as an elector does. */
function peer(node: string): Peer {
  const roundTripsMs = new Map(names.map((other) => [other, 1 + upTo(200_000) / 1000]));
  const values = new Map([
    ['history', upTo(1_000_000)],
    ['requests', upTo(1000)],
  ]);
  const text = scoreReportText({ node, incarnation: 'life', values, roundTripsMs });
  const report = scoreReportSchema.parse(JSON.parse(text));
  return { node, site: 'a', scores: report.values, roundTripsMs: report.roundTripsMs };
}

function measure(strategy: string, strategyOptions: Record<string, unknown>): void {
  const prepared = prepareStrategy({ strategy, strategyOptions }, builtInRules);
  if (prepared.strategy === null) throw new Error(prepared.problems.join());
  const tookMs: number[] = [];
  for (let round = 0; round < rounds + warmUpRounds; round++) {
    const before = process.cpuUsage();
    prepared.strategy.rank({
      candidates,
      peers,
      previous: null,
      incumbent: names[0] ?? null,
      term: 1,
      conditions: ordinary,
    });
    const { user, system } = process.cpuUsage(before);
    if (round >= warmUpRounds) tookMs.push((user + system) / 1000);
  }
  const sorted = tookMs.toSorted((a, b) => a - b);
  const median = sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
  console.log(`${strategy}: ${median.toFixed(1)}, ${(sorted.at(-1) ?? Number.NaN).toFixed(1)}`);
}
