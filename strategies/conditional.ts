import * as z from 'zod';
import { nameSchema, strictObject } from '../src/model/names.js';
import type { Conditions } from '../src/model/strategy.js';
import {
  optionProblems,
  type Prepared,
  type ReadyStrategy,
  type RegisteredStrategy,
  type Rules,
} from './registry.js';

const time = /^([01]\d|2[0-3]):([0-5]\d)$/;
const timeSchema = z.string().regex(time, 'expected a time of day in UTC, from 00:00 to 23:59');
const count = z.int().min(0).max(10_000);
const names = z.union([nameSchema.transform((name) => [name]), z.array(nameSchema).min(1).max(100)]);

const whenSchema = strictObject({
  after: z.enum(['failure', 'planned']).optional(),
  /** The site in which the leader must have failed for the rule to apply, or a list of such sites. */
  failedSite: names.optional(),
  /**
   * Start and end of a period of the day, in UTC on the ensemble's clock. The end is not part of the period.
   * If the end is earlier than the start, the period extends past midnight.
   */
  between: z.tuple([timeSchema, timeSchema]).optional(),
  /** Smallest and largest number of eligible nodes for which the rule applies. */
  eligible: strictObject({ atLeast: count.optional(), atMost: count.optional() }).optional(),
  /** Flag that an operator must have set for the rule to apply. */
  flag: nameSchema.optional(),
});
type When = z.infer<typeof whenSchema>;

const ruleSchema = strictObject({
  name: nameSchema,
  when: whenSchema.default({}),
  strategy: z.string(),
  options: z.record(z.string(), z.unknown()).default({}),
});

const optionsSchema = strictObject({
  rules: z
    .array(ruleSchema)
    .min(1)
    .max(50)
    .superRefine((rules, context) => {
      const open = rules.findIndex(({ when }) => Object.keys(when).length === 0);
      if (open === rules.length - 1) return;
      const message =
        open < 0
          ? 'the last rule must apply under all conditions: remove its `when`'
          : `the rules after ${rules[open]?.name} are never reached: ${rules[open]?.name} has no \`when\``;
      context.addIssue({ code: 'custom', message, path: [open < 0 ? rules.length - 1 : open + 1] });
    }),
});

interface ReadyRule {
  readonly name: string;
  readonly when: When;
  readonly strategy: ReadyStrategy;
}

const name = 'conditional';

/** Ranks the nodes with the strategy that the first applicable rule names. */
export const conditional: RegisteredStrategy = {
  name,
  description:
    'the strategy of the first rule that applies: after a failure, at night, when a flag is set, …',
  usesScores(raw, known) {
    const { data } = optionsSchema.safeParse(raw);
    return data?.rules.some((rule) => inner(rule, known)?.usesScores(rule.options, known)) ?? false;
  },
  prepare(raw, known) {
    const parsed = optionsSchema.safeParse(raw);
    if (!parsed.success) {
      return { strategy: null, problems: optionProblems(name, parsed.error.issues) };
    }
    const ready: ReadyRule[] = [];
    const problems: string[] = [];
    for (const [index, rule] of parsed.data.rules.entries()) {
      const prepared = prepareRule(rule, known);
      if (prepared.strategy !== null) ready.push({ ...rule, strategy: prepared.strategy });
      else problems.push(...prepared.problems.map((line) => `strategyOptions.rules.${index}: ${line}`));
    }
    return problems.length > 0 ? { strategy: null, problems } : { strategy: combined(ready), problems: null };
  },
};

type Rule = z.infer<typeof ruleSchema>;

/**
 * Returns the strategy that a rule names. A rule cannot name the strategy `conditional` itself, so rules do
 * not nest.
 */
function inner({ strategy }: Rule, { strategies }: Rules): RegisteredStrategy | undefined {
  return strategy === name ? undefined : strategies.get(strategy);
}

function prepareRule(rule: Rule, known: Rules): Prepared {
  const found = inner(rule, known);
  if (found !== undefined) return found.prepare(rule.options, known);
  const valid = [...known.strategies.keys()].filter((other) => other !== name).join(', ');
  return {
    strategy: null,
    problems: [`unknown strategy ${JSON.stringify(rule.strategy)}: expected one of ${valid}`],
  };
}

function combined(rules: readonly ReadyRule[]): ReadyStrategy {
  return {
    name,
    usesScores: rules.some(({ strategy }) => strategy.usesScores === true),
    minutes: rules.flatMap(({ when }) => (when.between ?? []).map(minuteOf)),
    rank(input) {
      const rule = rules.find(({ when }) => applies(when, input.conditions));
      if (rule === undefined) throw new Error('no rule applies');
      const ranking = rule.strategy.rank(input);
      const why = `by rule ${rule.name} (${rule.strategy.name}): `;
      return ranking.map((entry) => ({ ...entry, reason: why + entry.reason }));
    },
  };
}

function applies({ after, failedSite, between, eligible, flag }: When, now: Conditions): boolean {
  return (
    (after === undefined || after === now.after) &&
    (failedSite === undefined || (now.failedSite !== null && failedSite.includes(now.failedSite))) &&
    (between === undefined || isBetween(between, now.minuteOfDay)) &&
    (eligible?.atLeast === undefined || now.eligible >= eligible.atLeast) &&
    (eligible?.atMost === undefined || now.eligible <= eligible.atMost) &&
    (flag === undefined || now.flags.includes(flag))
  );
}

function isBetween([first, last]: readonly [string, string], minute: number): boolean {
  const [from, to] = [minuteOf(first), minuteOf(last)];
  return from <= to ? from <= minute && minute < to : minute >= from || minute < to;
}

function minuteOf(text: string): number {
  const [hours = 0, minutes = 0] = text.split(':').map(Number);
  return hours * 60 + minutes;
}
