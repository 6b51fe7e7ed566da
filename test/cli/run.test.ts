/** `petrel run`: one command that runs only while its node leads, and the ways in which it ends. */
import { appendFile, readFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { describe, expect, it } from 'vitest';
import { sharedZooKeeper } from '../support/ensemble.js';
import { oncePerRun } from '../support/once-per-run.js';
import { service, useRunGroup } from '../support/run-group.js';

const at = useRunGroup(sharedZooKeeper);

describe('a command that is run once', () => {
  it('starts on the leader alone, as its takeover, and passes its exit code on; then the next node runs it', async () => {
    const a = await at().run(
      'a',
      'echo "$PETREL_PHASE $PETREL_TERM"; until [ -e "$NOTES.go" ]; do sleep 0.02; done; exit 5',
    );
    const { token } = await at().noted('a', 'begins');
    const b = await at().run('b', 'exit 0');
    expect(await at().view.leader()).toMatchObject({ node: 'a', token });
    expect(await at().notes()).toHaveLength(1);
    await appendFile(`${at().notesFile}.go`, '');
    expect(await a.exited).toEqual({ code: 5, signal: null });
    expect(a.stdout).toBe('takeover 1\n');
    expect(await b.exited).toEqual({ code: 0, signal: null });
    const [first, second] = await at().notes();
    expect(second).toMatchObject({ node: 'b' });
    expect(second?.token).toBeGreaterThan(first?.token ?? 0n);
    const record = (await at().view.transitions()).find(({ node }) => node === 'b');
    expect(record?.reason).toContain('workload failed: the workload exited with code 5');
  });

  it('that a signal ends passes that on, as a shell does', async () => {
    expect(await (await at().run('a', 'kill -KILL $$')).exited).toEqual({ code: 137, signal: null });
  });

  it('is stopped, and is gone, before another runs it; its petrel exits with 7', async () => {
    const a = await at().run(
      'a',
      'trap "sleep 0.6; say stopping; exit 0" TERM; while :; do sleep 0.02; done',
    );
    await at().noted('a', 'begins');
    await at().run('b', service);
    await at().view.switchOver('b');
    await at().noted('b', 'begins');
    expect((await at().notes()).map(({ node, word }) => `${node} ${word}`)).toEqual([
      'a begins',
      'a stopping',
      'b begins',
    ]);
    expect(await a.exited).toEqual({ code: 7, signal: null });
    expect(a.stderr).toContain('petrel: leadership lost: the command was stopped');
  });

  it('is over when petrel is asked to leave: the code is its own, and another node leads', async () => {
    const a = await at().run('a', service);
    await at().noted('a', 'begins');
    const b = await at().run('b', service);
    a.term();
    expect(await a.exited).toEqual({ code: 4, signal: null });
    await at().noted('b', 'begins');
    b.term();
    expect(await b.exited).toEqual({ code: 4, signal: null });
    expect(await at().view.leader()).toBeNull();
  });

  it('that has not run when petrel is asked to leave leaves it with the code of the signal', async () => {
    await at().run('a', service);
    await at().noted('a', 'begins');
    const b = await at().run('b', service);
    b.term();
    expect(await b.exited).toEqual({ code: 143, signal: null });
    expect(await at().view.leader()).toMatchObject({ node: 'a', status: 'READY' });
  });

  it('checks whether its token is the newest without options, also when a flag names its node', async () => {
    const main = await oncePerRun('build');
    const verify = `${process.execPath} ${main} verify-token >/dev/null; exit $?`;
    const flags = ['-z', await sharedZooKeeper(), '--node-id', 'a'];
    const a = await at().start([...flags, '--', '/bin/sh', '-c', verify], { PETREL_ZOOKEEPER: '' });
    expect(await a.exited).toEqual({ code: 0, signal: null });
  });

  it('and its health check know of no guardian: an agent that either starts has its own', async () => {
    const env = 'env >"$NOTES.$PETREL_PHASE"';
    const a = await at().run('a', env, ['--health-check', env]);
    await a.exited;
    for (const phase of ['takeover', 'health']) {
      const seen = await readFile(`${at().notesFile}.${phase}`, 'utf8');
      expect(seen).toContain('PETREL_PHASE=');
      expect(seen).not.toContain('PETREL_GUARDIAN');
    }
  });

  it('finds its input empty', async () => {
    const a = await at().run('a', 'cat; exit 6');
    expect(await a.exited).toEqual({ code: 6, signal: null });
  });

  it('that is not there is wrong usage', async () => {
    const a = await at().start(['--', '/not/there']);
    expect(await a.exited).toEqual({ code: 2, signal: null });
    expect(a.stderr).toContain('the command: program "/not/there" not found');
  });
});

describe('a command that is started again', () => {
  it('keeps its token while it fails; then leadership is handed on, and its node is a standby', async () => {
    const a = await at().run('a', 'exit 3', ['--restart', 'on-failure', '--restart-limit', '2']);
    await at().noted('a', 'begins', 3);
    const b = await at().run('b', service, ['--restart', 'always']);
    await at().noted('b', 'begins');
    const failed = (await at().notes()).filter(({ node }) => node === 'a');
    expect(failed.length % 3).toBe(0);
    expect(new Set(failed.map(({ token }) => token)).size).toBe(failed.length / 3);
    expect(a.running).toBe(true);
    a.term();
    expect(await a.exited).toEqual({ code: 143, signal: null });
    expect(b.running).toBe(true);
  });

  it('ends the run when it ends well', async () => {
    const script = 'if [ -e "$NOTES.once" ]; then exit 0; fi; touch "$NOTES.once"; exit 1';
    const a = await at().run('a', script, ['--restart', 'on-failure']);
    expect(await a.exited).toEqual({ code: 0, signal: null });
    const [first, second, ...more] = await at().notes();
    expect(second?.token).toBe(first?.token);
    expect(more).toEqual([]);
  });

  it('is started however it ended, and waits for its next leadership when it has lost one', async () => {
    const a = await at().run('a', `[ $(grep -c begins "$NOTES") -lt 3 ] && exit 0; ${service}`, [
      '--restart',
      'always',
    ]);
    const { token } = await at().noted('a', 'begins', 3);
    const b = await at().run('b', service, ['--restart', 'always']);
    await at().view.switchOver('b');
    await at().noted('b', 'begins');
    await at().view.switchOver('a');
    const again = await at().noted('a', 'begins', 4);
    expect(again.token).toBeGreaterThan(token);
    expect([a.running, b.running]).toEqual([true, true]);
  });
});

describe('commands on one machine', () => {
  const sleeping = (args: string[], env: Record<string, string> = {}) =>
    at().start([...args, '--', 'sleep', '1000'], { PETREL_STATE_DIR: at().stateDir, ...env });

  it('started at once without names have each its own; the same again after a restart', async () => {
    const startAll = async () => {
      const all = await Promise.all(Array.from({ length: 3 }, () => sleeping([])));
      // The node that led joins only after its earlier session has expired.
      await Promise.all(all.map((each) => each.logged(/^joined/, { timeoutMs: 60_000 })));
      return all;
    };
    const names = [hostname(), ...[2, 3].map((number) => `${hostname()}-${number}`)];
    const first = await startAll();
    expect((await at().view.seated()).toSorted()).toEqual(names);
    // The locks of the first processes remain, although the processes have exited.
    await Promise.all(first.map((each) => each.kill9()));
    await startAll();
    expect((await at().view.seated()).toSorted()).toEqual(names);
  });

  it('of several groups share a state directory and a name', async () => {
    for (const root of [at().root, `${at().root}/nested`]) {
      const one = await sleeping(['--node-id', 'same'], { PETREL_ROOT: root });
      await one.logged(/^joined/);
    }
  });

  it('of one group and one name are refused', async () => {
    const first = await sleeping(['--node-id', 'same']);
    await first.logged(/^joined/);
    const second = await sleeping(['--node-id', 'same']);
    expect(await second.exited).toEqual({ code: 1, signal: null });
    expect(second.stderr).toContain('on this machine already runs node same');
    expect(second.stderr).toContain(`stop its guardian, process ${first.pid}, or`);
  });
});
