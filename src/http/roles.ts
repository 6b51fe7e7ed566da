/**
 * Routes that report the role of this node to load balancers and similar clients. The status line alone gives
 * the answer. The routes send no requests to ZooKeeper.
 *
 * Promised: if `/leader` returns status 200, this node was the leader when the response was created,
 * immediately before the response was written. The node was therefore the leader at some time after the
 * request was sent. For `leaseMs` after the response was created, no delay, freeze or disconnection of this
 * process can let another node become leader.
 *
 * Not promised: how soon the response arrives. The process may freeze between creating and writing the
 * response. A response that takes longer than `leaseMs` to arrive proves nothing.
 */
import * as z from 'zod';
import type { AgentStatus } from '../agent/agent.js';
import { mostLeaders } from '../model/group-config.js';
import { nameSchema } from '../model/names.js';
import type { ServedGroup } from '../node/served-groups.js';
import type { Clock } from '../ports/clock.js';
import type { App } from './app.js';
import { failures } from './failures.js';
import { type Groups, tolerantRootQuery } from './groups.js';
import { unread } from './route.js';

const stages = ['claimed', 'taking-over', 'taken-over', 'leading', 'releasing', 'released'] as const;

export const roleSchema = z.object({
  node: nameSchema,
  site: nameSchema,
  root: z.string(),
  /**
   * Whether the node is READY, its lease is valid, and its workload is running, as far as the agent knows.
   */
  leads: z.boolean(),
  /**
   * Milliseconds for which the node will still lead if ZooKeeper stops responding now. Null if the node does
   * not lead.
   */
  leaseMs: z.int().nullable(),
  /** Stage of the node's leadership. Null if the node has no leadership. */
  stage: z.enum(stages).nullable(),
  term: z.int().nullable(),
  /** The slot that the node has claimed. Null if it has no claim. */
  slot: z.int().nullable(),
  fencingToken: z.string().nullable(),
  /** Whether the node is registered, has a seat, and is connected to ZooKeeper. */
  joined: z.boolean(),
  elector: z.boolean(),
  /** Whether the agent is shutting down. */
  leaving: z.boolean(),
});
export type Role = z.infer<typeof roleSchema>;

/** Response of an agent in several groups if the request selects no group. */
export const aliveSchema = z.object({ groups: z.int() });

interface RoleRoute {
  readonly path: string;
  readonly summary: string;
  holds(role: Role, slot?: number): boolean;
}

/** Restricts the answer to one slot, in a group with several leaders. */
const roleQuery = tolerantRootQuery.extend({
  slot: z.coerce.number().int().min(1).max(mostLeaders).optional().describe('only in this slot'),
});

const routes: readonly RoleRoute[] = [
  {
    path: '/leader',
    summary: 'the node leads: READY with a valid lease (if slot is given: in that slot)',
    holds: isLeader,
  },
  {
    path: '/standby',
    summary:
      'the node is a standby: registered, connected to ZooKeeper, not leaving, and in no stage of leadership',
    holds: ({ joined, stage, leaving }) => joined && stage === null && !leaving,
  },
  {
    path: '/elector',
    summary: 'the node is the elector, as far as it knows',
    holds: ({ joined, elector }) => joined && elector,
  },
  {
    path: '/ready',
    summary: 'the node is registered, connected to ZooKeeper, and not leaving',
    holds: ({ joined, leaving }) => joined && !leaving,
  },
];

/** Paths that load balancers poll. */
export const rolePaths: ReadonlySet<string> = new Set(['/health', ...routes.map(({ path }) => path)]);

export function addRoles(app: App, groups: Groups, clock: Clock): void {
  const ofNode = { ...unread, methods: ['GET', 'HEAD', 'OPTIONS'], tags: ['node'] };
  for (const { path, summary, holds } of routes) {
    app.add({
      ...ofNode,
      path,
      summary,
      query: roleQuery,
      responses: { 200: roleSchema, 400: failures[400], 404: failures[404], 503: roleSchema },
      // Do not make this async: the role must be read in the event-loop turn in which the response is
      // written.
      answer: ({ query: { root, slot } }) => {
        const role = roleOf(groups.pick(root), clock);
        return { ...asJson(role), status: holds(role, slot) ? 200 : 503 };
      },
    });
  }
  app.add({
    ...ofNode,
    path: '/health',
    summary: 'the agent is alive and responds; ?root is optional even with several groups',
    query: tolerantRootQuery,
    responses: { 200: z.union([roleSchema, aliveSchema]), 400: failures[400], 404: failures[404] },
    answer: ({ query: { root } }) => {
      const { length } = groups.all();
      return asJson(
        root === undefined && length !== 1 ? { groups: length } : roleOf(groups.pick(root), clock),
      );
    },
  });
}

/**
 * Returns an answer that is not checked against the schema. The check is unnecessary, because the agent
 * itself created the value. It would also be costly, because clients may poll a hundred times a second.
 */
function asJson(value: Role | z.output<typeof aliveSchema>) {
  return {
    headers: { 'content-type': 'application/json; charset=utf-8' },
    content: JSON.stringify(value),
  };
}

function isLeader({ leads, slot }: Role, wanted?: number): boolean {
  return leads && (wanted === undefined || slot === wanted);
}

function roleOf({ agent, root, site }: ServedGroup, clock: Clock): Role {
  const status = agent.status;
  const leaseMs = status.lease === null ? 0 : Math.floor(status.lease.releaseAtMs - clock.monotonicMs());
  const leads = status.leads && leaseMs > 0;
  return {
    node: status.node,
    site,
    root,
    leads,
    leaseMs: leads ? leaseMs : null,
    ...rest(status),
  };
}

function rest({ stage, term, slot, fencingToken, joined, elector, leaving }: AgentStatus) {
  return {
    stage,
    term,
    slot,
    fencingToken: fencingToken === null ? null : String(fencingToken),
    joined,
    elector,
    leaving,
  };
}
