/**
 * The proof that a guardian requires before it releases a dead agent's leadership. Also tests how a guardian
 * starts and ends.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runProcess, startProcess } from '../support/agents.js';
import { useCluster } from '../support/cluster.js';
import { uniqueRoot } from '../support/ensemble.js';
import { isAlive } from '../support/process-list.js';
import { useServers, useSharedServers } from '../support/servers.js';
import { until } from '../support/until.js';

const servers = useSharedServers();
const sites = { a1: 'a', a2: 'a', b1: 'b' };

/** A file system that can be frozen. While it is frozen, no signal can kill a process that writes to it. */
class FreezableDisk {
  readonly #dir = mkdtempSync(join(tmpdir(), 'petrel-disk-'));
  readonly path = join(this.#dir, 'mounted');

  mount(): void {
    const image = join(this.#dir, 'image');
    this.#run('truncate', '-s', '16M', image);
    this.#run('mkfs.ext4', '-q', image);
    this.#run('mkdir', this.path);
    this.#run('mount', '-o', 'loop', image, this.path);
  }

  freeze(): void {
    this.#run('fsfreeze', '--freeze', this.path);
  }

  thaw(): void {
    this.#run('fsfreeze', '--unfreeze', this.path);
  }

  remove(): void {
    this.#run('umount', this.path);
    rmSync(this.#dir, { recursive: true });
  }

  #run(program: string, ...args: string[]): void {
    execFileSync(program, args, { stdio: 'pipe' });
  }
}

function canFreeze(): boolean {
  const disk = new FreezableDisk();
  try {
    disk.mount();
    disk.freeze();
    disk.thaw();
    disk.remove();
    return true;
  } catch {
    return false;
  }
}

const freezes = canFreeze();
const notHere = freezes ? '' : ' (not here: no file system can be mounted and frozen)';

describe.skipIf(!freezes)(`a workload that not even SIGKILL ends${notHere}`, () => {
  const disk = new FreezableDisk();
  beforeAll(() => disk.mount());
  afterAll(() => disk.remove());
  const write = (phase: string) =>
    `if test -e ${disk.path}/stuck; then (echo ${phase} >> ${disk.path}/stuck) & fi`;
  const cluster = useCluster({
    servers,
    sites,
    sessionTimeoutMs: 2_000,
    command: (phase, line) => (phase === 'takeover' ? `${line} && ${write(phase)}` : line),
  });

  it('keeps its dead agent’s claim, and causes errors in the log, until it is gone', async () => {
    const old = await cluster.ready();
    const [candidate = ''] = cluster.others(old.node);
    writeFileSync(join(disk.path, 'stuck'), '');
    disk.freeze();
    try {
      await cluster.view.switchOver(candidate);
      const stuck = await cluster.ready({ node: candidate });
      const guardian = cluster.agent(candidate);
      await cluster.killAgent(candidate);
      const line = await guardian.logged(/the workload is still running/);
      expect(line).toMatchObject({ level: 'error', pgids: [expect.any(Number)] });
      expect(line.msg).toMatch(/process group \d+.*keeps the session alive until the workload is dead/);
      // Without the guardian, the session would have expired long before the end of this wait.
      await sleep(2 * cluster.sessionTimeoutMs);
      expect(await cluster.view.leader()).toMatchObject({ node: candidate, token: stuck.token });
    } finally {
      disk.thaw();
    }
    await cluster.ready({ not: candidate });
    await cluster.agent(candidate).logged(/is proven dead, and the dead agent's session was ended/);
    rmSync(join(disk.path, 'stuck'));
  });
});

describe('a guardian', () => {
  const cluster = useCluster({ servers, sites });

  it('asked to end together with its agent, as a whole service is, hands over in order', async () => {
    const old = await cluster.ready();
    const guardian = cluster.agent(old.node);
    const agent = await cluster.agentPid(old.node);
    process.kill(agent, 'SIGTERM');
    guardian.term();
    await cluster.ready({ not: old.node });
    expect(await guardian.exited).toEqual({ code: 0, signal: null });
    expect(guardian.log.map(({ msg }) => msg)).toContain('left the group');
    expect(isAlive(agent)).toBe(false);
  });

  it('starts no thread more when its agent dies: where none can be had, Node.js would abort', async () => {
    const [follower = ''] = cluster.others((await cluster.ready()).node);
    const guardian = cluster.agent(follower);
    const threads = () => readdirSync(`/proc/${guardian.pid}/task`).length;
    const before = threads();
    await cluster.killAgent(follower);
    await guardian.logged(/restarting the agent in/);
    expect(threads()).toBe(before);
  });

  it('ends when its agent was asked to leave, with its exit code', async () => {
    const old = await cluster.ready();
    const guardian = cluster.agent(old.node);
    process.kill(await cluster.agentPid(old.node), 'SIGTERM');
    expect(await guardian.exited).toEqual({ code: 0, signal: null });
  });

  it('asked to end while its agent is dead starts none again', async () => {
    const [follower = ''] = cluster.others((await cluster.ready()).node);
    const guardian = cluster.agent(follower);
    await cluster.killAgent(follower);
    await guardian.logged(/restarting the agent in/);
    guardian.term();
    expect(await guardian.exited).toEqual({ code: 0, signal: null });
    expect(await cluster.view.seated()).not.toContain(follower);
  });

  it('whose agent dies again and again waits longer each time, and the group is none the worse', async () => {
    const leader = await cluster.ready();
    const [follower = ''] = cluster.others(leader.node);
    const guardian = cluster.agent(follower);
    for (const pause of ['1 s', '2 s', '4 s']) {
      await cluster.killAgent(follower);
      await guardian.logged(new RegExp(`restarting the agent in ${pause}`));
      if (pause !== '4 s') await until(() => guardian.agentPid, { timeoutMs: 20_000 });
    }
    expect(await cluster.ready()).toEqual(leader);
  });
});

describe('a release that its agent had requested', () => {
  const patient = useServers({ maxSessionTimeoutMs: 60_000 }, 'single');

  it('and that fails when the agent has died, is reported by the guardian', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'petrel-release-'));
    const onRelease = `touch ${dir}/begun; until test -e ${dir}/go; do sleep 0.02; done; exit 3`;
    const flags = ['--node-id', 'a1', '--on-takeover', 'true', '--on-release', onRelease];
    await using node = await startProcess(['agent', '-r', uniqueRoot('release'), ...flags], {
      PETREL_ZOOKEEPER: patient.connectString,
      PETREL_SESSION_TIMEOUT: '20s',
    });
    try {
      await node.logged(/^READY: this node leads/);
      node.term();
      await until(() => existsSync(`${dir}/begun`));
      node.signal('SIGKILL');
      await node.logged(/stopping its workload/);
      writeFileSync(`${dir}/go`, '');
      expect(await node.logged(/^onRelease exited with code 3/)).toMatchObject({
        level: 'error',
        provenDead: true,
      });
      expect(await node.exited).toEqual({ code: 137, signal: null });
    } finally {
      rmSync(dir, { recursive: true });
    }
  });
});

describe('an agent that cannot start', () => {
  it.each([
    ['agent --bogus', 2],
    ['agent --node-id a/b --site a', 2],
    ['run --restart sometimes -- true', 2],
  ])('petrel %s is not started again: it exits with %i', async (line, code) => {
    expect(await runProcess(line.split(' '))).toMatchObject({ code, signal: null });
  });
});

describe('an agent that has just been started', () => {
  it('ends when its guardian died before it could speak with it', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'petrel-orphan-'));
    const config = join(dir, 'petrel.yaml');
    execFileSync('mkfifo', [config]);
    await using node = await startProcess(['agent', '-r', uniqueRoot('orphan'), '--config', config], {
      PETREL_ZOOKEEPER: await servers.connectString,
    });
    let agent: number | null = null;
    try {
      // Opening the FIFO waits until the agent reads it.
      await using settings = await open(config, 'w');
      agent = node.agentPid;
      if (agent === null) throw new Error('there is no agent');
      process.kill(node.pid, 'SIGKILL');
      await until(() => !isAlive(node.pid));
      await settings.write('nodeId: a1\n');
      await settings.close();
      const orphan = agent;
      await until(() => !isAlive(orphan), { timeoutMs: 20_000, describe: 'the agent to end' });
    } finally {
      if (agent !== null && isAlive(agent)) process.kill(agent, 'SIGKILL');
      rmSync(dir, { recursive: true });
    }
  });
});
