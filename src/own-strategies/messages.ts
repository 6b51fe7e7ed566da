/** What passes between an agent and the thread that runs a strategy of a user's own. */
import { MessagePort } from 'node:worker_threads';
import * as z from 'zod';
import type { RankingInput, StrategyAnswer } from '../../strategies/questions.js';
import { rankingSchema } from '../core/ranking.js';

export const startSchema = z.object({
  /** Of the module. */
  url: z.string(),
  port: z.instanceof(MessagePort),
});
export type Start = z.infer<typeof startSchema>;

/** What the thread says first of all. */
export const introductionSchema = z.object({
  name: z
    .string('a strategy has a name')
    .regex(/^[a-z0-9][a-z0-9.-]{0,63}$/, 'a name has 1 to 64 small letters, digits, dots or hyphens'),
  description: z
    .string('a strategy has a description')
    .min(1)
    .max(200)
    .regex(/^[^\n]*$/, 'a description is one line'),
  version: z.string('a version is a text').min(1).max(64).nullable(),
  usesScores: z.boolean(),
});
export type Introduction = z.infer<typeof introductionSchema>;

export const askedSchema = z.object({
  id: z.int(),
  options: z.unknown(),
  /** Null: only the options are to be checked. */
  input: z.custom<RankingInput>((value) => typeof value === 'object').nullable(),
});
export type Asked = z.infer<typeof askedSchema>;

const problemSchema = z.object({ path: z.array(z.string()), message: z.string() });
const answerSchema: z.ZodType<StrategyAnswer> = z.union([
  z.strictObject({ problems: z.array(problemSchema) }),
  z.strictObject({ ranking: rankingSchema }),
  z.strictObject({ failure: z.string() }),
]);

export const answeredSchema = z
  .object({ id: z.int() })
  .loose()
  .transform(({ id, ...answer }, context) => {
    const read = answerSchema.safeParse(answer);
    if (read.success) return { id, answer: read.data };
    context.addIssue('no answer');
    return z.NEVER;
  });
