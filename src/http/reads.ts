/**
 * Routes for the current, past and hypothetical state of the group. They correspond to `petrel list`,
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
import { reading, unread } from './route.js';
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

const ofGroup = { ...unread, methods: reading, tags: ['group'] };

export function addReads(app: App, groups: Groups): void {
  addPresent(app, groups);
  addPast(app, groups);
}

function addPresent(app: App, groups: Groups): void {
  app.add({
    ...ofGroup,
    path: '/status',
    summary: 'same as petrel list -f json',
    query: rootQuery,
    responses: { 200: statusSchema, ...failures },
    answer: async ({ query: { root } }) => {
      const { view, nowMs } = await groups.session(root).look();
      return { json: await statusOf(view, nowMs) };
    },
  });
  app.add({
    ...ofGroup,
    path: '/explain',
    summary: 'same as petrel explain -f json',
    query: explainQuery,
    responses: { 200: explanationSchema, ...failures },
    answer: async ({ query: { without, withoutSite, slot, root } }) => {
      const { view, nowMs } = await groups.session(root).look();
      const whatIf = { without: listOf(without), withoutSites: listOf(withoutSite) };
      return { json: await withAnswers(view, (group) => explain(viewOfSlot(group, slot), nowMs, whatIf)) };
    },
  });
}

function addPast(app: App, groups: Groups): void {
  app.add({
    ...ofGroup,
    path: '/history',
    summary: 'same as petrel history -f json',
    query: historyQuery,
    responses: { 200: historySchema, ...failures },
    answer: async ({ query: { n, slot, root } }) => ({
      json: await groups.session(root).history({ limit: n, slot }),
    }),
  });
  app.add({
    ...ofGroup,
    path: '/terms/:term',
    summary: 'outcome of a term, as petrel wait reports it, but without waiting',
    params: termParams,
    query: termQuery,
    responses: { 200: termSchema, ...failures },
    answer: async ({ params: { term }, query: { root, slot } }) => ({
      json: { term, outcome: await groups.session(root).outcome(term, slot) },
    }),
  });
}

function listOf(names: string | string[] | undefined): string[] {
  return names === undefined ? [] : [names].flat();
}
