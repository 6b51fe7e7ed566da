/**
 * Routes for the changes that operators make. They use the same functions as the commands, and they all
 * require the token.
 */
import * as z from 'zod';
import { errorMessage, PetrelError } from '../errors.js';
import { type Author, changeGroup, type Plan, planChange, type Request } from '../group/change.js';
import { changeResult, changeResultSchema } from '../group/change-result.js';
import type { GroupAccess } from '../group/config-write.js';
import { failureSchema } from '../group/failure.js';
import { clearFlag, setFlag } from '../group/flags.js';
import { cancelSwitchover, failover, switchover, type Target } from '../group/handover.js';
import { clearFailure, drainNode, undrainNode } from '../group/nodes.js';
import { pauseGroup, resumeGroup } from '../group/pause.js';
import {
  drainSite,
  forgetSite,
  markSiteFailed,
  markSiteHealthy,
  overridePriority,
  resetPriority,
  undrainSite,
} from '../group/sites.js';
import { readPointInTime } from '../group/time.js';
import type { Logger } from '../log.js';
import { durationMs, durationSchema } from '../model/duration.js';
import { mostLeaders } from '../model/group-config.js';
import { nameSchema, strictObject } from '../model/names.js';
import type { Clock } from '../ports/clock.js';
import type { App } from './app.js';
import { Denial, failures } from './failures.js';
import type { GroupSession } from './group-session.js';
import { type Groups, rootQuery } from './groups.js';
import { RateLimit } from './rate-limit.js';
import type { Answer, Head } from './route.js';
import type { TokenCheck } from './token.js';

export interface ChangesOptions {
  readonly groups: Groups;
  readonly token: TokenCheck;
  readonly clock: Clock;
  readonly log: Logger;
}

const changesAMinute = 60;
/**
 * Maximum number of log messages about requests without a valid token, per minute and address. Further
 * requests without a valid token are also rejected, but not logged.
 */
const failuresAMinute = 10;

const oneLine = z
  .string('expected a string')
  .max(500, 'expected at most 500 characters')
  .regex(/^[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}]*$/u, 'expected one line of printable characters');

/** Fields that every change accepts. They correspond to options of the commands. */
const common = {
  reason: oneLine.optional().describe('reason for the change, shown in the history and in the status'),
  by: oneLine.optional().describe('name of the requester, shown in the history'),
  dryRun: z.boolean().default(false).describe('show the changes and their effect without making them'),
  yes: z.boolean().default(false).describe('proceed even if a person would have to confirm the change'),
};
const plainBody = strictObject(common);
const allowUnknown = z
  .boolean()
  .default(false)
  .describe('accept a site or node that the group does not know yet');
const namedBody = strictObject({ ...common, allowUnknown });
type Common = z.output<typeof plainBody>;

const pointInTime = z
  .string('expected a timestamp with time zone, or a duration from now')
  .superRefine((input, context) => {
    try {
      readPointInTime(input);
    } catch (error) {
      context.addIssue({ code: 'custom', message: errorMessage(error), input });
    }
  })
  .describe('earliest time: a timestamp with time zone, or a duration from now, such as 30m');

const slotNumber = z.int().min(1).max(mostLeaders);

const switchoverBody = strictObject({
  ...common,
  to: nameSchema.optional().describe('node that takes over (default: the best other node)'),
  toSite: nameSchema.optional().describe('hand over to the best node of this site'),
  at: pointInTime.optional(),
  slot: slotNumber.optional().describe('slot whose leader hands over, in a group with several leaders'),
  cancel: z.boolean().default(false).describe('cancel a pending switchover'),
})
  .refine(({ to, toSite }) => to === undefined || toSite === undefined, 'set either to or toSite, not both')
  .refine(
    ({ cancel, to, toSite, at }) => !cancel || [to, toSite, at].every((value) => value === undefined),
    'cancel cannot be combined with to, toSite or at',
  );
const failoverBody = strictObject({
  ...common,
  to: nameSchema.describe('node that takes over'),
  slot: slotNumber.optional().describe('slot to fill, in a group with several leaders'),
});
const priorityRule = 'expected a whole number from 0 to 1000000';
const priorityBody = strictObject({
  ...common,
  allowUnknown,
  priority: z.int(priorityRule).min(0, priorityRule).max(1_000_000, priorityRule),
  for: durationSchema
    .optional()
    .describe('duration of the override, such as 2h (default: until the site is reset)'),
});

export const changeAnswerSchema = changeResultSchema.omit({ outcome: true }).extend({
  /** Paths under which this agent reports the progress of the term. Null if there is no term to follow. */
  follow: z.object({ outcome: z.string(), events: z.string() }).nullable(),
});
type ChangeAnswer = z.infer<typeof changeAnswerSchema>;

const responses = {
  /** Nothing had to be changed, or the request was only a dry run. */
  200: changeAnswerSchema,
  202: changeAnswerSchema,
  ...failures,
  401: failureSchema,
  409: failureSchema,
  412: failureSchema,
  413: failureSchema,
  415: failureSchema,
  429: failureSchema,
};

export function addChanges(app: App, options: ChangesOptions): void {
  const authorize = authorization(options);
  const add: Add = ({ method = 'POST', url, command, params, body, request }) => {
    app.add({
      methods: [method],
      path: url,
      summary: `same as ${command}`,
      tags: ['changes'],
      secured: true,
      params,
      query: rootQuery,
      body,
      responses,
      authorize,
      answer: async ({ ip, query: { root }, ...sent }) => {
        const { body: common } = sent;
        return await answerChange(options, { ip, common, request: request(common, sent.params), root });
      },
    });
  };
  addHandovers(add);
  addSites(add);
  addNodes(add);
  addFlags(add);
}

interface ChangeRoute<Params, Body extends Common> {
  readonly method?: 'PUT' | 'DELETE';
  readonly url: string;
  /** The command that makes the same change. */
  readonly command: string;
  readonly params: z.ZodType<Params>;
  readonly body: z.ZodType<Body>;
  request(body: Body, params: Params): Request;
}
type Add = <Params, Body extends Common>(route: ChangeRoute<Params, Body>) => void;

function addHandovers(add: Add): void {
  const params = strictObject({});
  const command = 'petrel switchover';
  add({ url: '/switchover', command, params, body: switchoverBody, request: switchoverOf });
  add({
    url: '/failover',
    command: 'petrel failover',
    params,
    body: failoverBody,
    request: ({ to, yes, slot }) => failover({ to, evenUnderWay: yes, slot }),
  });
  const body = plainBody;
  add({ url: '/pause', command: 'petrel pause', params, body, request: () => pauseGroup });
  add({ url: '/resume', command: 'petrel resume', params, body, request: () => resumeGroup });
}

function addSites(add: Add): void {
  const params = strictObject({ site: nameSchema });
  add({
    method: 'PUT',
    url: '/sites/:site/priority',
    command: 'petrel site priority',
    params,
    body: priorityBody,
    request: ({ priority, for: length, allowUnknown }, { site }) => {
      const forMs = length === undefined ? null : durationMs(length);
      return overridePriority({ site, priority, forMs, allowUnknown });
    },
  });
  add({
    method: 'DELETE',
    url: '/sites/:site/priority',
    command: 'petrel site reset',
    params,
    body: plainBody,
    request: (_, { site }) => resetPriority(site),
  });
  add({
    method: 'DELETE',
    url: '/sites/:site',
    command: 'petrel site forget',
    params,
    body: plainBody,
    request: (_, { site }) => forgetSite(site),
  });
  const verbs = {
    drain: drainSite,
    undrain: undrainSite,
    'mark-failed': markSiteFailed,
    'mark-healthy': markSiteHealthy,
  };
  for (const [verb, request] of Object.entries(verbs)) {
    add({
      url: `/sites/:site/${verb}`,
      command: `petrel site ${verb}`,
      params,
      body: namedBody,
      request: ({ allowUnknown }, { site }) => request(site, allowUnknown),
    });
  }
}

function addFlags(add: Add): void {
  const params = strictObject({ flag: nameSchema });
  const route = { url: '/flags/:flag', params, body: plainBody };
  add({ ...route, method: 'PUT', command: 'petrel flag set', request: (_, { flag }) => setFlag(flag) });
  add({
    ...route,
    method: 'DELETE',
    command: 'petrel flag clear',
    request: (_, { flag }) => clearFlag(flag),
  });
}

function addNodes(add: Add): void {
  const params = strictObject({ node: nameSchema });
  const verbs = { drain: drainNode, undrain: undrainNode, 'clear-failure': clearFailure };
  for (const [verb, request] of Object.entries(verbs)) {
    add({
      url: `/nodes/:node/${verb}`,
      command: `petrel node ${verb}`,
      params,
      body: namedBody,
      request: ({ allowUnknown }, { node }) => request(node, allowUnknown),
    });
  }
}

function switchoverOf({ to, toSite, at, slot, cancel }: z.output<typeof switchoverBody>): Request {
  if (cancel) return cancelSwitchover;
  const notBeforeMs = at === undefined ? null : readPointInTime(at);
  return switchover({ to: targetOf(to, toSite), notBeforeMs, slot });
}

function targetOf(to: string | undefined, toSite: string | undefined): Target {
  if (to !== undefined) return { node: to };
  return toSite === undefined ? 'best-other' : { site: toSite };
}

/** Accepts only requests with the token, and limits changes to a rate that a group can handle. */
function authorization({ token, clock, log }: ChangesOptions) {
  const failed = new RateLimit(failuresAMinute, clock);
  const changed = new RateLimit(changesAMinute, clock);
  return ({ method, url, ip, headers }: Head): void => {
    if (!token.isSet) {
      throw new Denial(403, 'FORBIDDEN', 'changes over HTTP are disabled: this agent has no HTTP token', {
        reasons: ['set a token with --http-token-file or PETREL_HTTP_TOKEN'],
      });
    }
    const given = /^Bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1];
    const isRight = given !== undefined && token.accepts(given);
    // Requests with the token are exempt from the limit on failures. Otherwise, failures of other clients at
    // the same address would block these requests.
    if (isRight) countOne(changed, ip, 'changes');
    else countOne(failed, ip, 'requests without the right token');
    if (isRight) return;
    log.warn({ ip, method, url }, 'HTTP: rejected a change: missing or wrong token');
    const challenge =
      given === undefined ? 'Bearer realm="petrel"' : 'Bearer realm="petrel", error="invalid_token"';
    throw new Denial(
      401,
      'UNAUTHORIZED',
      'token missing or wrong: send the header Authorization: Bearer TOKEN',
      {
        headers: { 'www-authenticate': challenge },
      },
    );
  };
}

function countOne(limit: RateLimit, ip: string, what: string): void {
  const afterS = limit.count(ip);
  if (afterS === null) return;
  const message = `too many ${what} (at most ${limit.max} per minute): try again in ${afterS} s`;
  throw new Denial(429, 'TOO_MANY_REQUESTS', message, { headers: { 'retry-after': String(afterS) } });
}

interface ChangeSent {
  readonly ip: string;
  readonly common: Common;
  readonly request: Request;
  readonly root: string | undefined;
}

async function answerChange(
  { groups, log }: ChangesOptions,
  { ip, common: { dryRun, yes, by, reason }, request, root }: ChangeSent,
): Promise<Answer> {
  const author = { by: authorText(by, ip), reason: reason ?? null };
  const group: GroupSession = groups.session(root);
  const { plan, version } = await group.use((access) => carryOut(access, author, request, { dryRun, yes }));
  const { outcome: _, ...result } = changeResult(plan, { dryRun, version, outcome: null });
  if (version === null) return { json: { ...result, follow: null } satisfies ChangeAnswer };
  log.info({ by: author.by, reason: author.reason }, `HTTP: ${result.what}`);
  const inGroup = root === undefined ? {} : { root };
  const inSlot = result.slot === 1 ? {} : { slot: String(result.slot) };
  const outcome = result.term === null ? null : `/terms/${result.term}${queryOf({ ...inSlot, ...inGroup })}`;
  const follow = outcome === null ? null : { outcome, events: `/events${queryOf(inGroup)}` };
  return {
    status: 202,
    headers: outcome === null ? {} : { location: outcome },
    json: { ...result, follow } satisfies ChangeAnswer,
  };
}

function queryOf(given: Readonly<Record<string, string>>): string {
  const query = new URLSearchParams(given).toString();
  return query === '' ? '' : `?${query}`;
}

interface Planned {
  readonly plan: Plan;
  readonly version: number | null;
}

async function carryOut(
  access: GroupAccess,
  author: Author,
  request: Request,
  { dryRun, yes }: Pick<Common, 'dryRun' | 'yes'>,
): Promise<Planned> {
  if (dryRun) return { plan: await planChange(access, author, request), version: null };
  const change = await changeGroup(access, author, request, async (plan) => mustLeaveSomebody(plan, yes));
  return { plan: change, version: change.version };
}

/**
 * Requires confirmation if the change leaves a slot without a leader. In the same situation, the commands ask
 * for confirmation, or fail if there is no terminal.
 */
function mustLeaveSomebody({ leavesNobody, follows }: Plan, yes: boolean): void {
  if (!leavesNobody || yes) return;
  throw new PetrelError('REFUSED', 'confirmation required: send "yes": true to proceed', {
    reasons: [`the group would have no leader: ${follows?.reason ?? 'no node is eligible'}`],
  });
}

function authorText(by: string | undefined, ip: string): string {
  return by === undefined || by === '' ? `HTTP from ${ip}` : `${by}, HTTP from ${ip}`;
}
