/** Messages between an agent and the thread that runs a user-defined strategy or constraint. */
import { MessagePort } from 'node:worker_threads';
import * as z from 'zod';
import type { Answer, RankingInput } from '../../strategies/questions.js';
import { rankingSchema } from '../core/ranking.js';
import { type ConstraintInput, findingSchema } from '../model/own-constraint.js';

export type RuleKind = 'strategy' | 'constraint';

export const startSchema = z.object({
  /** URL of the module to load. */
  url: z.string(),
  kind: z.enum(['strategy', 'constraint']),
  port: z.instanceof(MessagePort),
});
export type Start = z.infer<typeof startSchema>;

const named = (kind: RuleKind) => ({
  name: z
    .string(`a ${kind} requires a name`)
    .regex(
      /^[a-z0-9][a-z0-9.-]{0,63}$/,
      'a name consists of 1 to 64 lowercase letters, digits, dots or hyphens',
    ),
  description: z
    .string(`a ${kind} requires a description`)
    .min(1)
    .max(200)
    .regex(/^[^\n]*$/, 'a description must be one line'),
  version: z.string('a version must be a string').min(1).max(64).nullable(),
});

/** Schema of the first message from a strategy's thread. */
export const strategySchema = z.object({ ...named('strategy'), usesScores: z.boolean() });
export type StrategyIntroduction = z.infer<typeof strategySchema>;

export const constraintSchema = z.object({
  ...named('constraint'),
  ends: z.enum(['planned', 'failure'], 'ends must be planned or failure'),
  canBeForced: z.boolean('canBeForced must be true or false'),
  minutes: z.array(z.int().min(0).max(1439), 'minutes must be minutes of the day, from 0 to 1439').max(1440),
});
export type ConstraintIntroduction = z.infer<typeof constraintSchema>;

export const questionMessageSchema = z.object({ id: z.int(), question: z.unknown() });

export const strategyQuestionSchema = z.object({
  options: z.unknown(),
  /** Input for the ranking. Null if only the options must be checked. */
  input: z.custom<RankingInput>((value) => typeof value === 'object').nullable(),
});
export type StrategyRequest = z.infer<typeof strategyQuestionSchema>;

export const constraintQuestionSchema = z.custom<ConstraintInput>((value) => typeof value === 'object');

const problemSchema = z.object({ path: z.array(z.string()), message: z.string() });
const answerSchema: z.ZodType<Answer> = z.union([
  z.strictObject({ problems: z.array(problemSchema) }),
  z.strictObject({ ranking: rankingSchema }),
  z.strictObject({ findings: z.array(z.tuple([z.string(), findingSchema])) }),
  z.strictObject({ failure: z.string() }),
]);

export const answeredSchema = z
  .object({ id: z.int() })
  .loose()
  .transform(({ id, ...answer }, context) => {
    const read = answerSchema.safeParse(answer);
    if (read.success) return { id, answer: read.data };
    context.addIssue('no response');
    return z.NEVER;
  });
