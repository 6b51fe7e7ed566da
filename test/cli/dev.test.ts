/** `petrel dev --crash`, as an operator runs it. test/dev covers the crash points themselves. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { startDevelopmentServer } from '../../src/testing.js';
import { runProcess, startProcess } from '../support/agents.js';
import { hasExited, killAndWait, spawnBound } from '../support/bound-process.js';
import { oncePerRun } from '../support/once-per-run.js';
import { freePorts } from '../support/ports.js';
import { childrenOf, isAlive } from '../support/process-list.js';
import { until } from '../support/until.js';

describe('petrel dev --crash', () => {
  it.concurrent('refuses a step that does not exist, and says what may have been meant', async () => {
    const { code, stdout, stderr } = await runProcess(['dev', '--crash', 'takeover-startd']);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain('"takeover-startd" is not a step: did you mean takeover-started?');
  });

  it.concurrent('is no use of --once without it', async () => {
    expect(await runProcess(['dev', '--once'])).toMatchObject({ code: 2, stdout: '' });
  });

  it.concurrent('is explained in the help', async () => {
    const { stdout } = await runProcess(['dev', '--help']);
    expect(stdout).toContain("  takeover-started  the candidate's takeover hook is running");
    expect(stdout).toMatch(/^ {2}candidate-guardian +the elected node's guardian$/m);
  });

  it.concurrent('prints what was killed, what the others did, and how long no node led, and ends after one round if requested', async () => {
    const { code, stdout } = await runProcess([
      'dev',
      '--port',
      '0',
      '--crash',
      'takeover-started',
      '--once',
    ]);
    expect(code).toBe(0);
    const lines = stdout.split('\n');
    const order = [
      /^Crash point switchover\/takeover-started:candidate$/,
      / {2}a switchover to (\w+) is requested$/,
      / {2}crash point reached: the candidate's takeover hook is running$/,
      /^ +\+0\.\d{3} s {2}kill -9 \d+: agent of \w+$/,
      /^ +\+\d\.\d{3} s {2}\w+: release hook ended$/,
      /^ +\+\d\.\d{3} s {2}the session of \w+ is closed, which removes its claim$/,
      /^ +\+\d\.\d{3} s {2}\w+ is READY$/,
      /^\w+ leads, as before the transition, term \d+; the group had no READY leader for \d+\.\d{3} s/,
    ];
    const found = order.map((pattern) => lines.findLastIndex((line) => pattern.test(line)));
    expect(found, stdout).not.toContain(-1);
    expect(found).toEqual(found.toSorted((a, b) => a - b));
  });

  it.concurrent('goes on afterwards, with the dead started again, and leaves nothing behind when it is stopped', async () => {
    await using dev = await startProcess(['dev', '--port', '0', '--crash', 'recorded:leader-both']);
    await until(() => dev.stdout.includes('Press Ctrl-C to stop everything.'), { timeoutMs: 60_000 });
    // A takeover that waits for a session to expire takes at least 4 s.
    expect(dev.stdout).toMatch(
      /^\w+ leads, as elected, term \d+; the group had no READY leader for [0-3]\./m,
    );
    expect(dev.stdout).toMatch(/^restarted \w+$/m);
    const guardians = childrenOf(dev.pid);
    const started = [...guardians, ...guardians.flatMap(childrenOf)];
    const both = /^ {2}kill -9 (\d+) (\d+) +# or both/m.exec(dev.stdout)?.slice(1).map(Number) ?? [];
    expect(both).toHaveLength(2);
    for (const pid of both) expect(started).toContain(pid);
    expect(guardians.length).toBeGreaterThanOrEqual(4);
    dev.term();
    expect(await dev.exited).toEqual({ code: 0, signal: null });
    await until(() => !started.some(isAlive), { describe: 'all that was started to be gone' });
  });

  it.concurrent('that is stopped in the middle holds nothing up', async () => {
    await using dev = await startProcess(['dev', '--port', '0', '--crash', 'takeover-started']);
    await until(() => dev.stdout.includes('crash point reached'), { timeoutMs: 60_000, intervalMs: 2 });
    dev.term();
    expect(await dev.exited).toEqual({ code: 0, signal: null });
  });
});

describe('petrel dev', () => {
  it('answers HTTP at the configured ports', async () => {
    const ports = await freePorts(1);
    const [port = 0] = ports;
    await using dev = await startProcess(['dev', '--port', '0', '--http-port', String(port)]);
    await until(() => dev.stdout.includes('Press Ctrl-C to stop everything.'), { timeoutMs: 60_000 });
    expect(dev.stdout).toContain(`HTTP: a1 http://127.0.0.1:${port}, a2 http://127.0.0.1:`);
    expect((await fetch(`http://127.0.0.1:${port}/health`)).status).toBe(200);
    dev.term();
    expect(await dev.exited).toEqual({ code: 0, signal: null });
  });

  it('prints how to kill the leader, and then each transition in one line', async () => {
    await using dev = await startProcess(['dev', '--port', '0', '--http-port', '0']);
    await until(() => dev.stdout.includes('Press Ctrl-C to stop everything.'), { timeoutMs: 60_000 });
    const [, leader = ''] = /^READY: (\w+) is the leader/m.exec(dev.stdout) ?? [];
    const [agent = 0] = [...dev.stdout.matchAll(/^ {2}kill -9 (\d+) +# /gm)].map(([, pid]) => Number(pid));
    expect(childrenOf(dev.pid).flatMap(childrenOf)).toContain(agent);
    const sizeBefore = dev.stdout.length;
    process.kill(agent, 'SIGKILL');
    const news = () => dev.stdout.slice(sizeBefore).trim();
    await until(() => news() !== '', { timeoutMs: 30_000 });
    expect(news()).toMatch(
      new RegExp(
        `^\\[[\\d:]{8}\\] term 2, ${leader} → \\w+: READY, at least \\d\\.\\d+s without a leader: .+$`,
      ),
    );
    dev.term();
    expect(await dev.exited).toEqual({ code: 0, signal: null });
    expect(dev.stdout).toMatch(/\nStopping: .*\nStopped\.\n$/);
  });

  it('says once that a node has left for good', async () => {
    await using dev = await startProcess(['dev', '--port', '0', '--http-port', '0']);
    await until(() => dev.stdout.includes('Press Ctrl-C to stop everything.'), { timeoutMs: 60_000 });
    const [, guardian = ''] = /^ {2}kill -9 (\d+) +# or its guardian/m.exec(dev.stdout) ?? [];
    const [, leader = ''] = /^READY: (\w+) is the leader/m.exec(dev.stdout) ?? [];
    process.kill(Number(guardian), 'SIGKILL');
    const left = `${leader} has left, because its guardian ended. To get it back, restart petrel dev`;
    await until(() => dev.stdout.includes(left) && dev.stdout.includes('term 2'), { timeoutMs: 30_000 });
    dev.term();
    expect(await dev.exited).toEqual({ code: 0, signal: null });
    expect(dev.stdout.split(' has left')).toHaveLength(2);
  });
});

describe('petrel zookeeper', () => {
  it('says how to choose another port if one is in use', async () => {
    await using taken = await startDevelopmentServer();
    const ran = await runProcess(['zookeeper', '--port', String(taken.port)]);
    expect(ran).toMatchObject({
      code: 1,
      stderr: `petrel: the development server cannot listen on ${taken.connectString}: address already in use: choose another with --port, or use --port 0\n`,
    });
  });
});

describe('an agent that petrel dev has started', () => {
  it('leaves when its parent is gone before it has begun', async () => {
    const main = await oncePerRun('build');
    const stateDir = await mkdtemp(join(tmpdir(), 'petrel-orphan-'));
    const nowhere = ['--zookeeper', '127.0.0.1:1', '--node-id', 'a1', '--site', 'a', '--on-takeover', 'true'];
    const child = spawnBound(process.execPath, [main, 'agent', ...nowhere, '--state-dir', stateDir], {
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    child.disconnect();
    try {
      await until(() => hasExited(child));
      expect(child.exitCode).toBe(0);
    } finally {
      await killAndWait(child);
      await rm(stateDir, { recursive: true });
    }
  });
});
