import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { failureSchema } from '../../src/group/failure.js';
import { scoreReportText } from '../../src/model/scores.js';
import { simulationSchema } from '../../src/what-if/simulation.js';
import { Group } from '../support/agent-group.js';
import { runCommand } from '../support/command.js';
import { sharedZooKeeper } from '../support/ensemble.js';
import { until } from '../support/until.js';

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'petrel-simulate-'));
});
afterAll(() => rm(directory, { recursive: true }));

const text = `
sites: { a: { roundTripsMs: { b: 10, c: 50 } }, b: { roundTripsMs: { c: 40 } }, c: {} }
nodes: { a1: { site: a }, b1: { site: b }, c1: { site: c, priority: 0 } }
leader: a1
`;

async function file(content = text): Promise<string> {
  const path = join(directory, 'deployment.yaml');
  await writeFile(path, content);
  return path;
}

function simulate(...args: string[]) {
  return runCommand(['simulate', ...args]);
}

describe('petrel simulate FILE', () => {
  it('prints tables, json, yaml and tsv', async () => {
    const path = await file();
    const pretty = await simulate(path, '--lose', 'node=a1');
    expect({ code: pretty.code, stderr: pretty.stderr }).toEqual({ code: 0, stderr: '' });
    expect(pretty.stdout).toContain(`${path} without a1: 2 of 3 nodes, quorum 2`);
    expect(pretty.stdout).toMatch(/^latency +b1 +b +60\.00 ms +best +80\.00 ms +best +an average client is/m);
    expect(pretty.stdout).toMatch(
      /^c1 +c +50 % +40\.00 ms .* no: the node has priority 0, so it never leads$/m,
    );
    const json = JSON.parse((await simulate(path, '--lose', 'node=a1', '-f', 'json')).stdout);
    expect(simulationSchema.parse(json)).toMatchObject({
      lost: ['a1'],
      best: { mean: { node: 'b1', ms: 60 } },
    });
    expect(parse((await simulate(path, '--lose', 'node=a1', '-f', 'yaml')).stdout)).toEqual(json);
    const tsv = (await simulate(path, '--lose', 'node=a1', '-f', 'tsv')).stdout.trim().split('\n');
    expect(tsv[0]?.split('\t').slice(0, 4)).toEqual(['strategy', 'node', 'site', 'meanMs']);
    expect(tsv[1]?.split('\t').slice(0, 4)).toEqual(['site-priority', 'b1', 'b', '60']);
  });

  it('exits with 5 where nobody fit would be elected, with the reasons after the answer', async () => {
    const { code, stdout, stderr } = await simulate(await file(), '--lose', 'site=a', '--lose', 'node=b1');
    expect({ code, stdout: stdout.includes('no node') }).toEqual({ code: 5, stdout: true });
    expect(stderr).toContain('petrel: no eligible node would be elected\n');
    expect(stderr).toContain('  - c1: the node has priority 0, so it never leads\n');
    const json = await simulate(await file(), '--lose', 'site=a', '--lose', 'site=b', '-f', 'json');
    expect(failureSchema.parse(JSON.parse(json.stderr)).error).toMatchObject({ code: 'REFUSED' });
    expect(simulationSchema.parse(JSON.parse(json.stdout)).outcomes[0]?.node).toBeNull();
  });

  it('judges by the strategies that are named, with their options', async () => {
    const path = await file();
    const lost = ['--lose', 'site=c', '--lose', 'site=a'];
    expect(await simulate(path, ...lost)).toMatchObject({ code: 0 });
    const { code, stderr } = await simulate(path, ...lost, '--strategy', 'latency', '--strategy', 'oldest');
    expect(code).toBe(5);
    expect(stderr).toContain('latency: no quorum remains: 1 of 3 nodes are left, but 2 are required');
    expect(stderr).not.toContain('oldest');
    const listed = ['--strategy', 'preference-list', '--option', 'order=[b1, a1]', '-f', 'tsv'];
    expect((await simulate(path, ...listed)).stdout).toContain('preference-list\tb1\t');
  });

  it('draws a picture', async () => {
    const picture = join(directory, 'plot.svg');
    expect(await simulate(await file(), '--plot', picture)).toMatchObject({ code: 0 });
    expect(await readFile(picture, 'utf8')).toMatch(/^<svg .*>→ a1, a<.*<\/svg>\n$/s);
    const nowhere = await simulate(await file(), '--plot', join(directory, 'nowhere', 'plot.svg'));
    expect(nowhere).toMatchObject({ code: 2, stdout: '' });
    expect(nowhere.stderr).toContain('--plot: cannot write');
  });

  it('refuses what it cannot read, with its place', async () => {
    const path = await file(text.replace('site: c', 'site: d'));
    const wrong = await simulate(path);
    expect(wrong).toMatchObject({ code: 2, stdout: '' });
    expect(wrong.stderr).toBe(`petrel: ${path}:3:50: nodes.c1.site: unknown site d: known sites: a, b, c\n`);
    const others = [
      [[join(directory, 'nothing')], 'cannot read'],
      [[await file(), '--option', 'width=1'], '--option requires --strategy'],
      [
        [await file(), '--strategy', 'latency', '--option', 'width'],
        "'width' is not valid for --option <name=value>: expected NAME=VALUE\n",
      ],
      [[await file(), '--lose', 'site=z'], '--lose: unknown site z: known sites: a, b, c'],
      [[await file(), '--size', '2'], '--size: too small, because the group already has 3 nodes'],
    ] as const;
    for (const [args, message] of others) {
      const { code, stdout, stderr } = await simulate(...args);
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
      expect(stderr).toContain(message);
    }
  });
});

function live(group: Group, ...args: string[]) {
  return simulate('-z', group.connectString, '-r', group.root, ...args);
}

describe('petrel simulate', () => {
  it('is a gate before maintenance of a live group', async () => {
    await using group = await Group.found(await sharedZooKeeper());
    await group.startInOrder(['a1', 'a2'], { site: 'a' });
    await group.startInOrder(['b1'], { site: 'b' });
    const { code, stdout } = await live(group, '--lose', 'site=a', '-f', 'json');
    expect(code).toBe(0);
    const simulation = simulationSchema.parse(JSON.parse(stdout));
    expect(simulation).toMatchObject({
      of: group.root,
      size: 3,
      lost: ['a1', 'a2'],
      strategy: 'site-priority',
    });
    expect(simulation.outcomes[0]).toMatchObject({ strategy: 'site-priority', node: 'b1', site: 'b' });

    const at = new Date().toISOString();
    await group.configure({ drained: { b1: { by: 'ops', reason: 'its disk', at } } });
    const refused = await live(group, '--lose', 'site=a');
    expect(refused.code).toBe(5);
    expect(refused.stderr).toContain('  - b1: it was drained by ops: its disk\n');
    expect(await live(group, '--lose', 'node=a1')).toMatchObject({ code: 0 });
    expect(await live(group, '--lose', 'site=c')).toMatchObject({
      code: 2,
      stderr: 'petrel: --lose: unknown site c: known sites: a, b\n',
    });
  });

  it('lets nobody take over who may not: while the group is paused', async () => {
    await using group = await Group.found(await sharedZooKeeper());
    await group.startInOrder(['a1'], { site: 'a' });
    await group.startInOrder(['b1'], { site: 'b' });
    const { node } = await group.elected();
    expect(await live(group, '--lose', `node=${node}`)).toMatchObject({ code: 0 });
    const at = new Date().toISOString();
    await group.configure({ paused: { by: 'ops', reason: 'a move', at } });
    const refused = await live(group, '--lose', `node=${node}`);
    expect(refused.code).toBe(5);
    expect(refused.stderr).toContain('site-priority: paused by ops: a move');
  });

  it('goes by what the nodes of a live group measure, each as it publishes it', async () => {
    await using group = await Group.found(await sharedZooKeeper());
    const members = await group.startInOrder(['a1', 'b1', 'c1']);
    await until(async () => (await group.current())?.status === 'READY');
    const { store, paths } = group;
    await store.create(paths.scores, Buffer.alloc(0), 'persistent');
    const tripsMs = { a1: { b1: 10, c1: 50 }, b1: { a1: 10, c1: 20 }, c1: { a1: 50 } };
    for (const [index, [node, trips]] of Object.entries(tripsMs).entries()) {
      const incarnation = members[index]?.agent.incarnation ?? '';
      const roundTripsMs = new Map(Object.entries(trips));
      const values = new Map([['requests', node === 'c1' ? 8 : 1]]);
      const text = scoreReportText({ node, incarnation, values, roundTripsMs });
      await store.create(paths.score(node), Buffer.from(text), 'ephemeral');
    }
    const { code, stdout } = await live(group, '-f', 'json', '--lose', 'node=a1');
    expect(code).toBe(0);
    const { nodes, outcomes, best, notes } = simulationSchema.parse(JSON.parse(stdout));
    // A quorum is 2 of 3, so it includes the other node. c1 does not report its round trip to b1, but b1
    // reports it.
    expect(nodes.map(({ node, quorumMs, meanMs, worstMs }) => [node, quorumMs, meanMs, worstMs])).toEqual([
      ['b1', 20, 37.778, 40],
      ['c1', 20, 22.222, 40],
    ]);
    expect(best.mean).toEqual({ node: 'c1', ms: 22.222 });
    expect(outcomes.find(({ strategy }) => strategy === 'latency')).toMatchObject({ node: 'c1' });
    expect(notes).toEqual([]);
    for (const node of ['a1', 'c1']) await store.delete(paths.score(node), 'any');
    const unknown = await live(group, '--lose', 'node=b1');
    expect(unknown.stdout).toContain('latencies are unknown for a1, c1: round trips are missing\n');
  });
});
