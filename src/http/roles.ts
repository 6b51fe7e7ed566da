/**
 * What this node is, for load balancers and the like: the status line says it all. Nothing is asked of ZooKeeper.
 *
 * Promised: 200 on `/leader` was true when it was made, which is the last thing done before it is written; so it was true
 * at some moment after the request was sent, and for `leaseMs` from there nobody else can lead because this process is slow,
 * frozen or cut off. Not promised: what becomes of the answer on its way. A process may be frozen in the very instant
 * between: an answer that takes longer than `leaseMs` to arrive tells nothing.
 */
import { z } from 'zod';
import type { Agent, AgentStatus } from '../agent/agent.js';
import { nameSchema } from '../core/names.js';
import type { Clock } from '../ports/clock.js';
import type { App } from './app.js';

export interface NodeOfRoles {
  readonly agent: Pick<Agent, 'status'>;
  readonly root: string;
  readonly site: string;
  readonly clock: Clock;
}

const stages = ['claimed', 'taking-over', 'taken-over', 'leading', 'releasing', 'released'] as const;

export const roleSchema = z.object({
  node: nameSchema,
  site: nameSchema,
  root: z.string(),
  /** READY, its workload lives as far as is known, and the lease is good. */
  leads: z.boolean(),
  /** For how much longer it leads if nothing more is heard of ZooKeeper; null when it does not lead. */
  leaseMs: z.int().nullable(),
  /** How far its leadership has come; null when it has none. */
  stage: z.enum(stages).nullable(),
  term: z.int().nullable(),
  fencingToken: z.string().nullable(),
  /** Registered, with a seat, and in touch with ZooKeeper. */
  joined: z.boolean(),
  elector: z.boolean(),
  /** On its way out. */
  leaving: z.boolean(),
});
export type Role = z.infer<typeof roleSchema>;

interface RoleRoute {
  readonly path: string;
  readonly summary: string;
  holds(role: Role): boolean;
}

const routes: readonly RoleRoute[] = [
  { path: '/leader', summary: 'READY, and the lease is good', holds: ({ leads }) => leads },
  {
    path: '/standby',
    summary: 'in the group, in touch, staying, and nothing of a leadership',
    holds: ({ joined, stage, leaving }) => joined && stage === null && !leaving,
  },
  {
    path: '/elector',
    summary: 'decides who leads, as far as it knows',
    holds: ({ joined, elector }) => joined && elector,
  },
  { path: '/health', summary: 'alive: the agent gets to answer', holds: () => true },
  {
    path: '/ready',
    summary: 'registered, in touch with ZooKeeper, and staying',
    holds: ({ joined, leaving }) => joined && !leaving,
  },
];

export function addRoles(app: App, node: NodeOfRoles): void {
  for (const { path, summary, holds } of routes) {
    app.route({
      method: ['GET', 'HEAD', 'OPTIONS'],
      url: path,
      schema: { summary, tags: ['node'], response: { 200: roleSchema, 503: roleSchema } },
      // Not async: what is told is looked up in the same breath as it is written.
      handler: (_request, reply) => {
        const role = roleOf(node);
        void reply.code(holds(role) ? 200 : 503).send(role);
      },
    });
  }
}

function roleOf({ agent, root, site, clock }: NodeOfRoles): Role {
  const status = agent.status;
  const leaseMs = Math.floor(status.lease.releaseAtMs - clock.monotonicMs());
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

function rest({ stage, term, fencingToken, joined, elector, leaving }: AgentStatus) {
  return {
    stage,
    term,
    fencingToken: fencingToken === null ? null : String(fencingToken),
    joined,
    elector,
    leaving,
  };
}
