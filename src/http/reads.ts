/** What the group is, was, and would be: what `petrel list`, `history`, `explain` and `wait` say. */
import { z } from 'zod';
import { nameSchema, strictObject } from '../core/names.js';
import { explain, explanationSchema } from '../group/explain.js';
import { historySchema } from '../group/history.js';
import { outcomeSchema } from '../group/wait.js';
import type { App } from './app.js';
import { failures } from './failures.js';
import type { GroupSession } from './group-session.js';
import { statusOf, statusSchema } from './status.js';

function wholeNumber(max: number) {
  const rule = `a whole number, 1 to ${max}`;
  return z.coerce.number(rule).int(rule).min(1, rule).max(max, rule);
}

const historyQuery = strictObject({
  /** How many records, the newest ones. */
  n: wholeNumber(10_000).default(20),
});

/** Given once, or several times. */
const names = z
  .union([nameSchema, z.array(nameSchema)])
  .optional()
  .describe('may be given several times');
const explainQuery = strictObject({ without: names, withoutSite: names });

const termParams = strictObject({
  term: wholeNumber(Number.MAX_SAFE_INTEGER),
});
export const termSchema = z.object({
  term: z.int(),
  /** Null while there is none. */
  outcome: outcomeSchema.nullable(),
});

const tags = ['group'];

export function addReads(app: App, group: GroupSession): void {
  addPresent(app, group);
  addPast(app, group);
}

function addPresent(app: App, group: GroupSession): void {
  const status = { summary: 'as petrel list -f json', tags, response: { 200: statusSchema, ...failures } };
  app.get('/status', { schema: status }, async () => {
    const { view, nowMs } = await group.look();
    return statusOf(view, nowMs);
  });
  const explained = {
    summary: 'as petrel explain -f json',
    tags,
    querystring: explainQuery,
    response: { 200: explanationSchema, ...failures },
  };
  app.get('/explain', { schema: explained }, async ({ query: { without, withoutSite } }) => {
    const { view, nowMs } = await group.look();
    return explain(view, nowMs, { without: listOf(without), withoutSites: listOf(withoutSite) });
  });
}

function addPast(app: App, group: GroupSession): void {
  const history = {
    summary: 'as petrel history -f json',
    tags,
    querystring: historyQuery,
    response: { 200: historySchema, ...failures },
  };
  app.get('/history', { schema: history }, async ({ query }) => await group.history(query.n));
  const term = {
    summary: 'what has become of a term, as petrel wait tells it; does not wait',
    tags,
    params: termParams,
    response: { 200: termSchema, ...failures },
  };
  app.get('/terms/:term', { schema: term }, async ({ params }) => ({
    term: params.term,
    outcome: await group.outcome(params.term),
  }));
}

function listOf(names: string | string[] | undefined): string[] {
  return names === undefined ? [] : [names].flat();
}
