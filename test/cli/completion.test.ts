/** Completion of commands, options and names, as shells ask for it. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runProcess } from '../support/agents.js';
import { newGroup, type TestGroup } from '../support/group.js';
import { freePorts } from '../support/ports.js';
import { until } from '../support/until.js';

let group: TestGroup;
beforeAll(async () => {
  group = await newGroup();
  await group.node('a1');
  await group.node('b1');
  await group.configure({ sites: { cellar: {} } });
});
afterAll(() => group[Symbol.asyncDispose]());

/** Returns what completes the last of the words. */
async function completed(...words: string[]): Promise<string[]> {
  const env = { PETREL_ZOOKEEPER: group.zookeeper, PETREL_ROOT: group.root };
  const { code, stdout } = await runProcess(['complete', '--', ...words], env);
  expect(code).toBe(0);
  return stdout.split('\n').flatMap((line) => (/^[^:]/.test(line) ? (line.split('\t')[0] ?? []) : []));
}

describe('completion', () => {
  it.each<[string[], string[]]>([
    [['hist'], ['history']],
    [
      ['site', 'mark-'],
      ['mark-failed', 'mark-healthy'],
    ],
    [
      ['node', 'drain', ''],
      ['a1', 'b1'],
    ],
    [
      ['site', 'drain', ''],
      ['a', 'b', 'cellar'],
    ],
    [['site', 'priority', 'c'], ['cellar']],
    [
      ['switchover', '--to', ''],
      ['a1', 'b1'],
    ],
    [['switchover', '--to-site', 'c'], ['cellar']],
    [['switchover', '--to-'], ['--to-site']],
    [['list', '-f', 'j'], ['json']],
    [['list', '--zoo'], ['--zookeeper']],
  ])('of %j', async (words, expected) => {
    // Names are left out if the server does not answer in time.
    await until(async () => {
      expect(await completed(...words)).toEqual(expected);
      return true;
    });
  });

  it('offers groups, of the servers that the line names', async () => {
    const words = ['list', '-z', group.zookeeper, '-r', group.root.slice(0, -1)];
    await until(async () => (await completed(...words)).includes(group.root));
  });

  it('offers nothing where no server answers', async () => {
    const [port] = await freePorts(1);
    expect(await completed('node', 'drain', '-z', `127.0.0.1:${port}`, '')).toEqual([]);
  });

  it.each(['bash', 'zsh', 'fish'])('has a script for %s', async (shell) => {
    const { code, stdout } = await runProcess(['completion', shell]);
    expect(code).toBe(0);
    expect(stdout).toContain('petrel complete --');
    if (shell === 'bash') await promisify(execFile)('bash', ['-n', '-c', stdout]);
  });
});
