/** Route for information about the agent that responds, and about the ensemble that the agent uses. */
import { hostname } from 'node:os';
import * as z from 'zod';
import { version } from '../version.js';
import type { App } from './app.js';
import { type EnsembleHealth, serverHealthSchema } from './ensemble-health.js';
import { failures } from './failures.js';
import { type Groups, rootQuery } from './groups.js';
import { reading, unread } from './route.js';
import type { TokenCheck } from './token.js';

const sessionStates = ['CONNECTING', 'CONNECTED', 'SUSPENDED', 'LOST', 'CLOSED'] as const;

export const agentInfoSchema = z.object({
  /** Version of Petrel. */
  version: z.string(),
  node: z.string(),
  host: z.string(),
  pid: z.int(),
  /** Whether the agent accepts changes over HTTP. Changes require a token. */
  changes: z.boolean(),
  /** State of the node's session with ZooKeeper. Null before the first session. */
  session: z.enum(sessionStates).nullable(),
  /** Health of the ZooKeeper servers that are named in the agent's settings. */
  servers: z.array(serverHealthSchema),
});

export interface AgentInfoOptions {
  readonly groups: Groups;
  readonly ensemble: EnsembleHealth;
  readonly token: TokenCheck;
}

export function addAgentInfo(app: App, { groups, ensemble, token }: AgentInfoOptions): void {
  app.add({
    ...unread,
    methods: reading,
    path: '/agent',
    summary: 'the agent: its version, node and session, and the health of the ZooKeeper servers',
    tags: ['node'],
    query: rootQuery,
    responses: { 200: agentInfoSchema, ...failures },
    answer: async ({ query: { root } }) => {
      const { agent } = groups.pick(root);
      const json = {
        version,
        node: agent.status.node,
        host: hostname(),
        pid: process.pid,
        changes: token.isSet,
        session: agent.session?.state ?? null,
        servers: await ensemble.servers(),
      };
      return { json };
    },
  });
}
