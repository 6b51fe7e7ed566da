import { describe, expect, it } from 'vitest';
import { runProcess, startProcess } from '../agents.js';
import { sharedZooKeeper, uniqueRoot } from '../ensemble.js';
import { HookLog } from '../hook-log.js';
import { until } from '../until.js';

describe('the command line in processes of its own', () => {
  it('is the one that is shipped', async () => {
    const { code, stdout } = await runProcess(['--version']);
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) });
  });

  it('runs agents, whose hooks log which node led when', async () => {
    await using hooks = await HookLog.create();
    const group = ['--zookeeper', await sharedZooKeeper(), '--root', uniqueRoot('agents')];
    const agent = (node: string) =>
      startProcess(['agent', ...group, '--node-id', node, '--session-timeout', '4s', ...hooks.agentFlags()]);
    const takenOver = (node: string) =>
      until(
        async () =>
          (await hooks.events()).some(
            (e) => e.node === node && e.phase === 'takeover' && e.event === 'ended',
          ),
        {
          describe: `${node} to take over`,
          timeoutMs: 20_000,
        },
      );

    await using a = await agent('a');
    await takenOver('a');
    await using b = await agent('b');
    await b.logged((line) => line.node === 'b');
    a.term();
    expect(await a.exited).toEqual({ code: 0, signal: null });
    await takenOver('b');
    await using c = await agent('c');
    await c.logged((line) => line.node === 'c');
    await b.kill9();
    await takenOver('c');
    await hooks.assertExclusive();
  });
});
