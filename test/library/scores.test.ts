import { describe, expect, it } from 'vitest';
import { scoreReportSchema } from '../../src/model/scores.js';
import { Group } from '../support/agent-group.js';
import { runProcess } from '../support/agents.js';
import { sharedZooKeeper } from '../support/ensemble.js';
import { LibraryNode } from '../support/node.js';
import { until } from '../support/until.js';

async function published(group: Group, node: string): Promise<Record<string, number | bigint>> {
  const { data } = await group.store.getData(group.paths.score(node));
  return Object.fromEntries(scoreReportSchema.parse(JSON.parse(data.toString('utf8'))).values);
}

describe('a process that joins', () => {
  it('publishes its scores, and those that its sources measure', async () => {
    await using group = await Group.found(await sharedZooKeeper());
    await using a = await LibraryNode.join(group, 'a', { scores: { load: { command: 'echo 0.5' } } });
    a.lead();
    a.petrel.setScore('history', 9223372036854775807n);
    a.petrel.setScore('requests', 7, { tolerance: '10%' });
    const all = { load: 0.5, history: 9223372036854775807n, requests: 7 };
    await until(async () => Object.keys(await published(group, 'a')).length === 3);
    expect(await published(group, 'a')).toEqual(all);
    await using b = await LibraryNode.join(group, 'b');
    b.petrel.setScore('requests', null);
    const env = { PETREL_ZOOKEEPER: group.connectString, PETREL_ROOT: group.root };
    const { stdout } = await runProcess(['list', '-f', 'json'], env);
    expect(JSON.parse(stdout).nodes).toMatchObject([
      { node: 'a', score: null, scores: { ...all, history: '9223372036854775807' } },
      { node: 'b', score: null, scores: {} },
    ]);
    expect(await group.store.exists(group.paths.score('b'))).toBeNull();
    await group.configure({ strategy: 'request' });
    const compared = await runProcess(['list', '-f', 'tsv'], env);
    expect(compared.stdout.split('\n')[1]).toContain('\t7\t');
    a.petrel.setScore('requests', null);
    await until(async () => !('requests' in (await published(group, 'a'))), { timeoutMs: 20_000 });
  });

  it('learns what is wrong with a score', async () => {
    await using group = await Group.found(await sharedZooKeeper());
    await using a = await LibraryNode.join(group, 'a', { scores: { load: 'echo 1' } });
    const { petrel } = a;
    const wrong: [() => void, string][] = [
      [() => petrel.setScore('a/b', 1), 'setScore: "a/b": expected a name of 1 to 128 letters'],
      [() => petrel.setScore('x', Number.NaN), 'setScore: x: expected one number, found "NaN"'],
      [
        () => petrel.setScore('x', Number.POSITIVE_INFINITY),
        'setScore: x: expected one number, found "Infinity"',
      ],
      [() => petrel.setScore('x', 2n ** 64n), 'has more than 64 bits'],
      [
        () => petrel.setScore('x', JSON.parse('"7"')),
        'setScore: x: expected a number, bigint or null, found "7"',
      ],
      [
        () => petrel.setScore('x', 1, { tolerance: -1 }),
        'setScore: tolerance: expected a percentage such as 5%, or a number',
      ],
      [() => petrel.setScore('load', 1), 'setScore: load has a configured source, so setScore cannot set it'],
    ];
    for (const [set, message] of wrong) expect(set).toThrow(message);
    await until(() => published(group, 'a'));
    for (let index = 1; index < 100; index++) petrel.setScore(`x${index}`, index);
    expect(() => petrel.setScore('one-more', 1)).toThrow('a node has at most 100 scores');
    expect(() => petrel.setScore('x7', 7.5)).not.toThrow();
  });

  it('is not let join with sources that are wrong', async () => {
    await using group = await Group.found(await sharedZooKeeper());
    const joining = LibraryNode.join(group, 'a', { scores: { load: { http: 'ftp://h/' } } });
    await expect(joining).rejects.toMatchObject({
      code: 'INVALID',
      reasons: [expect.stringContaining('scores.load.http: expected an http://')],
    });
  });
});

it('petrel agent --dry-run shows what is measured', async () => {
  const { stdout, code } = await runProcess(['agent', '--dry-run', '-f', 'json', '--score', 'load=echo 1']);
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toContainEqual({
    key: 'scores',
    value: '{"load":{"command":"echo 1","every":"1s","timeout":"1s"}}',
    source: '--score',
  });
});
