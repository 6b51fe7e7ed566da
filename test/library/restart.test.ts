/** A process that leads through the library, and is killed and restarted. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, expect, it } from 'vitest';
import { Group } from '../support/agent-group.js';
import { exitOf, killAndWait, spawnBound } from '../support/bound-process.js';
import { builtFixture } from '../support/built.js';
import { startZooKeeper } from '../support/ensemble.js';
import { startStopwatch } from '../support/stopwatch.js';
import { until } from '../support/until.js';

class LeaderProcess {
  readonly lines: string[] = [];
  readonly child;

  static async start(group: Group, stateDir: string): Promise<LeaderProcess> {
    return new LeaderProcess(await builtFixture('library/fixtures/leader'), group, stateDir);
  }

  private constructor(program: string, group: Group, stateDir: string) {
    const env = {
      PATH: process.env.PATH,
      ZOOKEEPER: group.connectString,
      ROOT: group.root,
      STATE_DIR: stateDir,
    };
    this.child = spawnBound(process.execPath, [program], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env,
    });
    if (this.child.stdout !== null) {
      createInterface(this.child.stdout).on('line', (line) => this.lines.push(line));
    }
  }

  async says(what: string): Promise<string> {
    return await until(() => this.lines.find((line) => line.startsWith(what)), {
      timeoutMs: 20_000,
      describe: `the process to say ${what}`,
    });
  }
}

describe('P20 a leader that is killed and started again at once', () => {
  it('P20 joins and leads without waiting for its old session, which it remembers', async () => {
    await using server = await startZooKeeper({ minSessionTimeoutMs: 20_000, maxSessionTimeoutMs: 20_000 });
    await using group = await Group.found(server.connectString);
    const stateDir = mkdtempSync(join(tmpdir(), 'petrel-restart-'));
    const first = await LeaderProcess.start(group, stateDir);
    const token = BigInt((await first.says('leads')).split(' ')[1] ?? 0);
    await killAndWait(first.child);
    const second = await LeaderProcess.start(group, stateDir);
    await second.says('joining');
    const sinceStart = startStopwatch();
    const line = await second.says('leads');
    expect(sinceStart.ms).toBeLessThan(5000);
    expect(BigInt(line.split(' ')[1] ?? 0)).toBeGreaterThan(token);
    expect(await group.seats()).toHaveLength(1);
    second.child.kill('SIGTERM');
    expect(await exitOf(second.child)).toEqual({ code: 0, signal: null });
    expect(await group.seats()).toEqual([]);
    rmSync(stateDir, { recursive: true });
  });
});

it('a process that has left ends by itself: nothing keeps it', async () => {
  await using server = await startZooKeeper();
  await using group = await Group.found(server.connectString);
  const stateDir = mkdtempSync(join(tmpdir(), 'petrel-restart-'));
  const leader = await LeaderProcess.start(group, stateDir);
  await leader.says('leads');
  leader.child.kill('SIGTERM');
  await leader.says('left');
  expect(await exitOf(leader.child)).toEqual({ code: 0, signal: null });
  rmSync(stateDir, { recursive: true });
});
