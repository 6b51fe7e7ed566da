/**
 * Routes for the present, past and hypothetical state of the group. They correspond to `petrel list`,
 * `history`, `explain` and `wait`.
 */
import * as z from 'zod';
import { explain, explanationSchema } from '../group/explain.js';
import { historySchema } from '../group/history.js';
import { withAnswers } from '../group/judge.js';
import { viewOfSlot } from '../group/slot-view.js';
import { outcomeSchema } from '../group/wait.js';
import { mostLeaders } from '../model/group-config.js';
import { nameSchema, strictObject } from '../model/names.js';
import type { App } from './app.js';
import { failures } from './failures.js';
import { type Groups, ofRoot, rootQuery } from './groups.js';
import { statusOf, statusSchema } from './status.js';

function wholeNumber(max: number) {
  const rule = `a whole number from 1 to ${max}`;
  return z.coerce.number(rule).int(rule).min(1, rule).max(max, rule);
}

const historyQuery = strictObject({
  n: wholeNumber(10_000).default(20).describe('number of records to return, newest first'),
  slot: wholeNumber(mostLeaders).optional().describe('only transitions of this slot (default: all slots)'),
  ...ofRoot,
});

/** Query parameter that may be given once or several times. */
const names = z
  .union([nameSchema, z.array(nameSchema)])
  .optional()
  .describe('repeatable');
const slot = wholeNumber(mostLeaders).default(1).describe('slot, in a group with several leaders');
const explainQuery = strictObject({ without: names, withoutSite: names, slot, ...ofRoot });
const termQuery = strictObject({ slot, ...ofRoot });

const termParams = strictObject({
  term: wholeNumber(Number.MAX_SAFE_INTEGER),
});
export const termSchema = z.object({
  term: z.int(),
  /** Outcome of the term. Null while there is none. */
  outcome: outcomeSchema.nullable(),
});

const tags = ['group'];

export function addReads(app: App, groups: Groups): void {
  addPresent(app, groups);
  addPast(app, groups);
}

function addPresent(app: App, groups: Groups): void {
  const status = {
    summary: 'same as petrel list -f json',
    tags,
    querystring: rootQuery,
    response: { 200: statusSchema, ...failures },
  };
  app.get('/status', { schema: status }, async ({ query: { root } }) => {
    const { view, nowMs } = await groups.session(root).look();
    return await statusOf(view, nowMs);
  });
  const explained = {
    summary: 'same as petrel explain -f json',
    tags,
    querystring: explainQuery,
    response: { 200: explanationSchema, ...failures },
  };
  app.get('/explain', { schema: explained }, async ({ query }) => {
    const { without, withoutSite, root } = query;
    const { view, nowMs } = await groups.session(root).look();
    const whatIf = { without: listOf(without), withoutSites: listOf(withoutSite) };
    return await withAnswers(view, (group) => explain(viewOfSlot(group, query.slot), nowMs, whatIf));
  });
}

function addPast(app: App, groups: Groups): void {
  const history = {
    summary: 'same as petrel history -f json',
    tags,
    querystring: historyQuery,
    response: { 200: historySchema, ...failures },
  };
  app.get(
    '/history',
    { schema: history },
    async ({ query: { n, slot, root } }) => await groups.session(root).history({ limit: n, slot }),
  );
  const term = {
    summary: 'outcome of a term, as petrel wait reports it, but without waiting',
    tags,
    params: termParams,
    querystring: termQuery,
    response: { 200: termSchema, ...failures },
  };
  app.get('/terms/:term', { schema: term }, async ({ params, query }) => ({
    term: params.term,
    outcome: await groups.session(query.root).outcome(params.term, query.slot),
  }));
}

function listOf(names: string | string[] | undefined): string[] {
  return names === undefined ? [] : [names].flat();
}
