/** Reads a deployment file, and reports each problem with its position. */
import {
  cut,
  depthProblem,
  firstOf,
  lossProblem,
  type ParsedYaml,
  PetrelError,
  parseYaml,
  plainMessage,
  unknownName,
  yamlProblem,
} from 'petrel/internals';
import { isMap, isNode, isScalar, type LineCounter } from 'yaml';
import { type Deployment, deploymentSchema, mostNodes } from './deployment.js';
import { missingRoundTrips } from './round-trips.js';

/**
 * Maximum length of a deployment file. No deployment needs a longer file, because the round trips between
 * sites determine those between their nodes.
 */
const longestText = 2 ** 21;

/**
 * Maximum number of problems that are reported with their positions. Finding each position requires a search.
 */
const mostPlaced = 30;

interface Problem {
  /** The keys that lead to the problem's position in the file. */
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

/**
 * Reads a deployment from its text. `place` names the text in errors. Throws PetrelError INVALID with one
 * reason for each problem.
 */
export function readDeployment(place: string, text: string): Deployment {
  if (text.length > longestText) {
    throw invalid(place, [
      `${place}: the file is longer than 2 MiB: give round trips between sites, not between nodes`,
    ]);
  }
  const parsed = parsedYaml(place, text);
  const value = contentOf(place, parsed);
  const read = deploymentSchema.safeParse(value);
  const problems = read.success ? contradictions(read.data) : read.error.issues.map(problemOf);
  if (read.success && problems.length === 0) return read.data;
  throw invalid(
    place,
    problems.map((problem, index) => (index < mostPlaced ? placed(place, parsed, problem) : problem.message)),
  );
}

function parsedYaml(place: string, text: string): ParsedYaml {
  let parsed: ParsedYaml;
  try {
    parsed = parseYaml(text);
  } catch (error) {
    throw invalid(place, [`${place}: not YAML: ${yamlProblem(error)}`]);
  }
  const { problems, lines } = parsed;
  if (problems.length === 0) return parsed;
  throw invalid(
    place,
    problems.map(({ offset, message }) => `${position(place, lines, offset)}: not YAML: ${message}`),
  );
}

function contentOf(place: string, { document }: ParsedYaml): unknown {
  let value: unknown;
  try {
    value = document.toJS();
  } catch (error) {
    throw invalid(place, [`${place}: not YAML: ${yamlProblem(error)}`]);
  }
  const tooDeep = depthProblem(value);
  if (tooDeep !== null) throw invalid(place, [`${place}: ${tooDeep}`]);
  return value;
}

interface Issue {
  readonly code?: string | undefined;
  readonly path: readonly PropertyKey[];
  readonly message: string;
  readonly issues?: readonly { readonly message: string }[];
}

function problemOf({ code, path, message, issues }: Issue): Problem {
  if (path.length === 0 && code === 'invalid_type')
    return { path, message: 'expected a deployment, with the keys sites and nodes' };
  const inKey =
    code === 'invalid_key' ? issues?.map((issue) => plainMessage(issue.message)).join(', ') : undefined;
  return { path, message: inKey ?? plainMessage(message) };
}

function placed(place: string, { document, lines }: ParsedYaml, { path, message }: Problem): string {
  const where = path.map((key) => cut(String(key))).join('.');
  const at = position(place, lines, offsetOf(document.contents, path));
  return `${at}: ${where === '' ? '' : `${where}: `}${message}`;
}

/**
 * Returns the offset of the innermost part of `path` that exists in the text. If that part has a key, returns
 * the offset of the key.
 */
function offsetOf(node: unknown, [key, ...rest]: readonly PropertyKey[], found = 0): number {
  if (key === undefined) return found;
  if (isMap(node)) {
    const pair = node.items.find((item) => isScalar(item.key) && String(item.key.value) === String(key));
    if (pair === undefined) return found;
    return offsetOf(pair.value, rest, startOf(pair.key) ?? found);
  }
  if (typeof node !== 'object' || node === null || !('items' in node) || !Array.isArray(node.items))
    return found;
  const item: unknown = node.items[Number(key)];
  return offsetOf(item, rest, startOf(item) ?? found);
}

function startOf(node: unknown): number | undefined {
  return isNode(node) ? node.range?.[0] : undefined;
}

function position(place: string, lines: LineCounter, offset: number): string {
  const { line, col } = lines.linePos(offset);
  return `${place}:${line}:${col}`;
}

function invalid(place: string, all: readonly string[]): PetrelError {
  const reasons = firstOf(all);
  const [first, ...others] = reasons;
  const message =
    others.length === 0 ? String(first) : [`${all.length} errors in ${place}:`, ...reasons].join('\n  ');
  return new PetrelError('INVALID', message, { reasons });
}

/** Returns the problems that can be detected only by looking at the deployment as a whole. */
function contradictions(deployment: Deployment): Problem[] {
  const found = [
    ...nodeProblems(deployment),
    ...unknownPlaces(deployment),
    ...requestProblems(deployment),
    ...lossProblems(deployment),
  ];
  // Check distances last, because a misspelt name would also be reported as a missing distance.
  return found.length > 0 ? found : distanceProblems(deployment);
}

function nodeProblems({ nodes, leader }: Deployment): Problem[] {
  const count = Object.keys(nodes).length;
  if (count === 0) return [{ path: ['nodes'], message: 'expected at least one node' }];
  if (count > mostNodes)
    return [{ path: ['nodes'], message: `expected at most ${mostNodes} nodes, found ${count}` }];
  return leader === null ? [] : unknown(['leader'], 'node', leader, nodes);
}

function unknownPlaces({ sites, nodes }: Deployment): Problem[] {
  const bySites = Object.entries(sites).flatMap(([site, { roundTripsMs }]) =>
    Object.keys(roundTripsMs).flatMap((to) =>
      unknown(['sites', site, 'roundTripsMs', to], 'site', to, sites),
    ),
  );
  const byNodes = Object.entries(nodes).flatMap(([node, { site, roundTripsMs }]) => [
    ...unknown(['nodes', node, 'site'], 'site', site, sites),
    ...Object.keys(roundTripsMs).flatMap((to) => {
      const path = ['nodes', node, 'roundTripsMs', to];
      if (to === node)
        return [{ path, message: 'a round trip from a node to itself is not allowed: remove it' }];
      return unknown(path, 'node', to, nodes);
    }),
  ]);
  return [...bySites, ...byNodes];
}

function unknown(
  path: string[],
  what: string,
  name: string,
  known: Readonly<Record<string, unknown>>,
): Problem[] {
  return Object.hasOwn(known, name) ? [] : [{ path, message: unknownName(what, name, Object.keys(known)) }];
}

function requestProblems({ sites, nodes }: Deployment): Problem[] {
  const all = Object.entries(sites);
  const isGiven = all.some(([, { requests }]) => requests !== undefined);
  const populated = new Set(Object.values(nodes).map(({ site }) => site));
  const bySites = all.flatMap(([site, { requests }]): Problem[] => {
    const path = ['sites', site];
    if (isGiven && requests === undefined && populated.has(site)) {
      return [
        {
          path,
          message:
            'requests are missing, although other sites have them: write requests: 0 for a site without requests',
        },
      ];
    }
    if (requests === undefined || requests === 0 || populated.has(site)) return [];
    return [
      {
        path: [...path, 'requests'],
        message: 'the site has requests but no node: give the requests to the site where they arrive',
      },
    ];
  });
  const byNodes = Object.entries(nodes).flatMap(([node, { scores }]): Problem[] => {
    if (!Object.hasOwn(scores, 'requests')) return [];
    const path = ['nodes', node, 'scores', 'requests'];
    const rate = scores.requests ?? 0;
    if (isGiven) return [{ path, message: 'give requests either by site or by node, not both' }];
    if (typeof rate === 'bigint' || rate < 0 || rate > 1e15) {
      return [{ path, message: 'expected requests as a rate or share, a number from 0 to 1e15' }];
    }
    return [];
  });
  return [...bySites, ...byNodes];
}

function lossProblems({ nodes, lose }: Deployment): Problem[] {
  const places = Object.entries(nodes).map(([node, { site }]) => ({ node, site }));
  return lose.flatMap((text, index) => {
    const message = lossProblem(text, places);
    return message === null ? [] : [{ path: ['lose', index], message }];
  });
}

const shownDistances = 10;

function distanceProblems(deployment: Deployment): Problem[] {
  return missingRoundTrips(deployment, shownDistances).map((pair) => ({
    path: ['sites'],
    message: `the round trip between ${pair} is missing: add it to roundTripsMs of one of them`,
  }));
}
