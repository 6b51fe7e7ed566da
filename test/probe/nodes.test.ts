/** Complete nodes that probe: agents in separate processes, and processes that use the library. */
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { PetrelError } from '../../src/errors.js';
import { Petrel } from '../../src/library/petrel.js';
import { parseJson } from '../../src/model/names.js';
import { scoreReportSchema } from '../../src/model/scores.js';
import { Group } from '../support/agent-group.js';
import { type PetrelProcess, runProcess, startProcess } from '../support/agents.js';
import { sharedZooKeeper } from '../support/ensemble.js';
import { freePorts } from '../support/ports.js';
import { until } from '../support/until.js';

const secret = 'known to the whole group';
const timeoutMs = 60_000;

/** Returns the round trip from `from` to `to` that the node `from` has reported. */
async function publishedMs(group: Group, from: string, to: string): Promise<number | undefined> {
  const path = group.paths.score(from);
  if ((await group.store.exists(path)) === null) return undefined;
  const { data } = await group.store.getData(path);
  return parseJson(scoreReportSchema, data.toString('utf8')).value?.roundTripsMs.get(to);
}

async function agent(group: Group, node: string, port: number): Promise<PetrelProcess> {
  const started = await startProcess(['agent', '--probe-interval', '300ms'], {
    PETREL_ZOOKEEPER: group.connectString,
    PETREL_ROOT: group.root,
    PETREL_NODE_ID: node,
    PETREL_PROBE_LISTEN: `127.0.0.1:${port}`,
    PETREL_PROBE_SECRET: secret,
  });
  await started.logged(/^joined/);
  return started;
}

describe('agents', () => {
  it('measure and publish; one that stands still again and again makes no trip longer; none reveals the secret', async () => {
    await using group = await Group.found(await sharedZooKeeper());
    const [aPort = 0, bPort = 0] = await freePorts(2);
    await using a = await agent(group, 'a', aPort);
    await using b = await agent(group, 'b', bPort);
    await until(() => publishedMs(group, 'a', 'b'), { timeoutMs, describe: 'a to publish b' });
    await until(() => publishedMs(group, 'b', 'a'), { timeoutMs, describe: 'b to publish a' });
    const longest = { ms: 0 };
    for (let round = 0; round < 10; round++) {
      b.pause();
      await sleep(750);
      b.resume();
      await sleep(750);
      longest.ms = Math.max(
        longest.ms,
        (await publishedMs(group, 'a', 'b')) ?? 0,
        (await publishedMs(group, 'b', 'a')) ?? 0,
      );
    }
    expect(longest.ms).toBeLessThan(150);
    expect(a.stderr + b.stderr).not.toContain(secret);
  });

  it('that cannot listen do not start, and say why', async () => {
    await using group = await Group.found(await sharedZooKeeper());
    const [port = 0] = await freePorts(1);
    await using _ = await agent(group, 'a', port);
    const { code, stderr } = await runProcess(['agent', '--probe-listen', `127.0.0.1:${port}`], {
      PETREL_ZOOKEEPER: group.connectString,
      PETREL_ROOT: group.root,
      PETREL_NODE_ID: 'b',
    });
    expect(code).toBe(2);
    expect(stderr).toContain(`probe.listen: cannot listen on 127.0.0.1:${port} (TCP)`);
    expect(stderr).toContain('choose another port');
  });
});

describe('processes that use the library', () => {
  it('measure and publish, and close their sockets', async () => {
    await using group = await Group.found(await sharedZooKeeper());
    const [port = 0] = await freePorts(1);
    const join = (nodeId: string, listen: string) =>
      Petrel.join({
        zookeeper: group.connectString,
        root: group.root,
        nodeId,
        probe: { listen, secret, interval: '100ms' },
      });
    const a = await join('a', `127.0.0.1:${port}`);
    await using _ = await join('b', '127.0.0.1:0');
    await until(() => publishedMs(group, 'a', 'b'), { timeoutMs, describe: 'a to publish b' });
    const error = await join('c', `127.0.0.1:${port}`).catch((thrown: unknown) => thrown);
    expect(error instanceof PetrelError && error.code).toBe('INVALID');
    await a.close();
    await using _again = await join('a', `127.0.0.1:${port}`);
  });
});
