/** Runs the examples as their readers do: with the built package. */
import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import { FencedFile, StaleLeaderError } from '../../examples/counter/fenced-file.mjs';
import { exitOf, killAndWait, spawnBound } from '../support/bound-process.js';
import { sharedZooKeeper, uniqueRoot } from '../support/ensemble.js';
import { oncePerRun } from '../support/once-per-run.js';
import { until } from '../support/until.js';

const running: Example[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map(({ child }) => killAndWait(child)));
});

class Example {
  readonly child: ChildProcess;
  readonly lines: string[] = [];

  private constructor(child: ChildProcess) {
    this.child = child;
    for (const stream of [child.stdout, child.stderr]) {
      if (stream !== null) createInterface(stream).on('line', (line) => this.lines.push(line));
    }
  }

  static async start(name: string, env: Readonly<Record<string, string>>): Promise<Example> {
    await oncePerRun('build');
    const path = fileURLToPath(new URL(`../../examples/${name}`, import.meta.url));
    const child = spawnBound(process.execPath, [path], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { PATH: process.env.PATH, ...env },
    });
    const example = new Example(child);
    running.push(example);
    return example;
  }

  async says(pattern: RegExp): Promise<string> {
    return await until(() => this.lines.find((line) => pattern.test(line)), {
      timeoutMs: 20_000,
      describe: () => `a line like ${pattern}; there were ${this.lines.join(' | ')}`,
    });
  }
}

async function pair(name: string, env: Readonly<Record<string, string>> = {}): Promise<[Example, Example]> {
  const shared = { ZOOKEEPER: await sharedZooKeeper(), ROOT: uniqueRoot('example'), ...env };
  const a = await Example.start(name, { ...shared, NODE_ID: 'a' });
  await a.says(/^a: (leading|1$)/);
  return [a, await Example.start(name, { ...shared, NODE_ID: 'b' })];
}

it('scheduler: one schedules, and the other goes on when it leaves', async () => {
  const [a, b] = await pair('node-service/scheduler.mjs', { INTERVAL_MS: '20' });
  await a.says(/^a: leading in term 1/);
  await a.says(/^a: job done/);
  await b.says(/^b: joined/);
  expect(b.lines).toEqual(['b: joined']);
  a.child.kill('SIGTERM');
  await b.says(/^b: job done/);
  expect(await exitOf(a.child)).toEqual({ code: 0, signal: null });
  expect(a.lines.at(-1)).toBe('a: no longer leading');
});

it('counter: the next leader goes on where the last one stopped, and none counts twice', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'petrel-example-'));
  const [a, b] = await pair('counter/counter.mjs', { FILE: join(directory, 'counter.json') });
  await a.says(/^a: 5$/);
  a.child.kill('SIGTERM');
  await b.says(/^b: takes over from a/);
  expect(await exitOf(a.child)).toEqual({ code: 0, signal: null });
  const counted = (example: Example) => {
    return example.lines.map((line) => /^[ab]: (\d+)$/.exec(line)?.[1]).filter((text) => text !== undefined);
  };
  await until(() => counted(b).length >= 3);
  const all = [...counted(a), ...counted(b)].map(Number);
  expect(all).toEqual(all.map((_, index) => index + 1));
  b.child.kill('SIGTERM');
  await exitOf(b.child);
  rmSync(directory, { recursive: true });
});

describe('the fenced file', () => {
  it('takes what newer leaders write, and refuses an older one', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'petrel-example-'));
    const file = new FencedFile(join(directory, 'file.json'));
    await file.write('one', 7n);
    await file.write('two', 7n);
    await file.write('three', 4294967312n);
    await expect(file.write('late', 7n)).rejects.toThrow(StaleLeaderError);
    expect(await file.read()).toBe('three');
    rmSync(directory, { recursive: true });
  });

  it('keeps the highest token when many write at once', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'petrel-example-'));
    const file = new FencedFile(join(directory, 'file.json'));
    const tokens = [5n, 3n, 9n, 1n, 7n];
    await Promise.allSettled(tokens.map((token) => file.write(String(token), token)));
    expect(await file.read()).toBe('9');
    rmSync(directory, { recursive: true });
  });
});
