/**
 * Agents whose link to ZooKeeper corrupts bytes in both directions. No agent ends, and one of them leads once
 * the link works again.
 */
import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type DevelopmentServer, startDevelopmentServer } from '../../src/testing.js';
import { Group } from '../support/agent-group.js';
import { type Mutation, mutation } from '../support/mutations.js';
import { holds } from '../support/properties.js';
import { until } from '../support/until.js';

let server: DevelopmentServer;
let link: Server;
let group: Group;
/**
 * Mutations that are still to be applied to passing chunks. While the list is empty, chunks pass unchanged.
 */
let mischief: Mutation[] = [];

function pass(from: Socket, to: Socket): void {
  from.on('data', (chunk) => to.write(mischief.pop()?.(chunk) ?? chunk));
  from.on('end', () => to.end());
  from.on('error', () => to.destroy());
  from.on('close', () => to.destroy());
}

beforeAll(async () => {
  server = await startDevelopmentServer({ tickTimeMs: 300 });
  link = createServer((client) => {
    const other = connect(server.port, server.host);
    pass(client, other);
    pass(other, client);
  });
  link.listen(0, '127.0.0.1');
  await once(link, 'listening');
  const address = link.address();
  const port = typeof address === 'object' ? address?.port : 0;
  group = await Group.found(server.connectString, { backoff: { base: '1s', max: '1s' } });
  for (const node of ['a', 'b', 'c'])
    group.start(node, { connect: `127.0.0.1:${port}`, sessionTimeoutMs: 3000 });
});
afterAll(async () => {
  mischief = [];
  await group[Symbol.asyncDispose]();
  link.close();
  await server.close();
});

describe('bytes that are spoilt on their way', () => {
  it('end no agent, and keep nobody from leading when they are over', async () => {
    await holds(
      fc.asyncProperty(fc.noShrink(fc.array(mutation, { minLength: 20, maxLength: 20 })), async (many) => {
        mischief = [...many];
        await until(
          async () => {
            const ended = group.members.filter((member) => member.ended !== null);
            expect(ended.map((member) => [member.node, member.ended])).toEqual([]);
            if (mischief.length > 0) return false;
            // Corrupted bytes can happen to be a valid change of the configuration, so restore the
            // configuration.
            await group.store.set(group.paths.config, Buffer.from('{}'), 'any').catch(() => {});
            const current = await group.current().catch(() => null);
            const leaders = group.members.filter(({ status }) => status.leads).map(({ node }) => node);
            return current?.status === 'READY' && leaders.join() === current.node;
          },
          { timeoutMs: 40_000, describe: 'one leader' },
        );
      }),
      0.01,
    );
  });
});
