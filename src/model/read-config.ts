/**
 * Reads a group's configuration. Checks it against the schema, the inequalities between its times, and the
 * rules that it names.
 */
import type { Prepared, ReadyStrategy, Rules } from '../../strategies/registry.js';
import type { AnyConstraint } from '../core/constraint.js';
import { type GroupConfig, groupConfigSchema } from './group-config.js';
import { describeIssues, type Parsed, parseJson } from './names.js';
import { depthProblem, quoted } from './outside.js';
import { contradictions } from './timings.js';

/**
 * Parses a configuration. A strategy that this version of Petrel does not know is not a problem here, because
 * another version may know it.
 */
export function parseGroupConfig(text: string): Parsed<GroupConfig> {
  const parsed = parseJson(groupConfigSchema, text);
  if (parsed.value === null) return parsed;
  const found = contradictions(parsed.value);
  return found.length === 0 ? parsed : { value: null, problem: found.join('; ') };
}

/**
 * Returns every problem with a configuration that a client wants to write. Returns an empty list if there are
 * none. Throws Unanswered if a rule's answer is still pending.
 */
export function configProblems(value: unknown, rules: Rules): string[] {
  const read = readForm(value);
  if (read.config === null) return read.problems;
  return [...read.problems, ...ruleProblems(read.config, rules)];
}

/**
 * Returns the problems with the named strategy and constraints. Throws Unanswered if a rule's answer is still
 * pending.
 */
function ruleProblems(config: NamedRules, rules: Rules): string[] {
  return [
    ...(prepareStrategy(config, rules).problems ?? []),
    ...(prepareConstraints(config, rules).problems ?? []),
  ];
}

/**
 * Returns the problems with a configuration itself, but not those with the rules that it names. A rule that
 * cannot be used here does not make a configuration invalid.
 */
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

type NamedStrategy = Pick<GroupConfig, 'strategy' | 'strategyOptions'>;

/**
 * Returns the configured strategy with its options checked and bound. Throws Unanswered if the strategy's
 * answer is still pending.
 */
export function prepareStrategy(config: NamedStrategy, rules: Rules): Prepared {
  const found = rules.strategies.get(config.strategy);
  if (found !== undefined) return found.prepare(config.strategyOptions, rules);
  const valid = [...rules.strategies.keys()].join(', ');
  return {
    strategy: null,
    problems: [`strategy: unknown strategy ${quoted(config.strategy)}: expected one of ${valid}`],
  };
}

type NamedConstraints = Pick<GroupConfig, 'constraints'>;

export type PreparedConstraints =
  | { readonly constraints: readonly AnyConstraint[]; readonly problems: null }
  | { readonly constraints: null; readonly problems: string[] };

/**
 * Returns the constraints that apply. These are the built-in ones, and the user-defined ones that the
 * configuration names.
 */
export function prepareConstraints({ constraints }: NamedConstraints, rules: Rules): PreparedConstraints {
  const { ownConstraints } = rules;
  const named = new Set(constraints);
  const unknown = [...named].filter((name) => !ownConstraints.has(name));
  if (unknown.length > 0) {
    const known = [...ownConstraints.keys()].join(', ') || 'none';
    const problems = unknown.map(
      (name) => `constraints: unknown constraint ${quoted(name)}: expected one of ${known}`,
    );
    return { constraints: null, problems };
  }
  const own = [...named].flatMap((name) => ownConstraints.get(name)?.prepare(rules) ?? []);
  return { constraints: [...rules.constraints, ...own], problems: null };
}

export type NamedRules = NamedStrategy & NamedConstraints;

export type PreparedRules =
  | {
      readonly strategy: ReadyStrategy;
      readonly constraints: readonly AnyConstraint[];
      readonly problems: null;
    }
  | { readonly problems: string[] };

/**
 * Returns the strategy and the constraints for a group's decisions. Throws Unanswered if a rule's answer is
 * still pending.
 */
export function prepareRules(config: NamedRules, rules: Rules): PreparedRules {
  const { strategy } = prepareStrategy(config, rules);
  const { constraints } = prepareConstraints(config, rules);
  if (strategy === null || constraints === null) return { problems: ruleProblems(config, rules) };
  return { strategy, constraints, problems: null };
}

/** Whether an election under this configuration needs the nodes' measurements. */
export function usesScores({ strategy, strategyOptions }: NamedStrategy, rules: Rules): boolean {
  return rules.strategies.get(strategy)?.usesScores(strategyOptions, rules) ?? false;
}
