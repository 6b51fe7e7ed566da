/** Reads a group's configuration: the schema, the inequalities between its times, and the strategy it names. */
import { type ReadyStrategy, type StrategyRegistry, strategies } from '../../strategies/index.js';
import { type GroupConfig, groupConfigSchema } from './group-config.js';
import { describeIssues, type Parsed, parseJson } from './names.js';
import { depthProblem, quoted } from './outside.js';
import { contradictions } from './timings.js';

/** What `config` holds, as text. A strategy that this version does not know is no problem here: another may. */
export function parseGroupConfig(text: string): Parsed<GroupConfig> {
  const parsed = parseJson(groupConfigSchema, text);
  if (parsed.value === null) return parsed;
  const found = contradictions(parsed.value);
  return found.length === 0 ? parsed : { value: null, problem: found.join('; ') };
}

/** Everything that is wrong with a configuration that somebody wants to write; empty when it is right. */
export function configProblems(value: unknown, registry: StrategyRegistry = strategies): string[] {
  const read = readForm(value);
  if (read.config === null) return read.problems;
  return [...read.problems, ...(prepareStrategy(read.config, registry).problems ?? [])];
}

/** The same, but for the strategy: that it cannot be used here does not make it wrong. */
export function formProblems(value: unknown): string[] {
  return readForm(value).problems;
}

function readForm(value: unknown): { config: GroupConfig | null; problems: string[] } {
  const tooDeep = depthProblem(value);
  if (tooDeep !== null) return { config: null, problems: [tooDeep] };
  const parsed = groupConfigSchema.safeParse(value);
  if (!parsed.success) return { config: null, problems: describeIssues(parsed.error) };
  return { config: parsed.data, problems: contradictions(parsed.data) };
}

type Prepared =
  | { readonly strategy: ReadyStrategy; readonly problems: null }
  | { readonly strategy: null; readonly problems: string[] };

/** The strategy that a configuration names, its options checked and bound. */
export function prepareStrategy(
  config: Pick<GroupConfig, 'strategy' | 'strategyOptions'>,
  registry: StrategyRegistry = strategies,
): Prepared {
  const found = registry.get(config.strategy);
  if (found === undefined) {
    const valid = [...registry.keys()].join(', ');
    return {
      strategy: null,
      problems: [`strategy: there is no ${quoted(config.strategy)}; known are ${valid}`],
    };
  }
  return found.prepare(config.strategyOptions);
}

/** Whether what nodes measure is needed to elect by this configuration. */
export function usesScores(config: Pick<GroupConfig, 'strategy' | 'strategyOptions'>): boolean {
  return prepareStrategy(config).strategy?.usesScores ?? false;
}
