/** `petrel run`: one command that runs only while its node leads, and what becomes of it. */
import { appendFile, mkdtemp, readFile, rm } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type PetrelProcess, startProcess } from '../support/agents.js';
import { testConfig, useServers } from '../support/cluster.js';
import { uniqueRoot } from '../support/ensemble.js';
import { GroupView } from '../support/group-view.js';
import { Links } from '../support/links.js';
import { until } from '../support/until.js';

const servers = useServers();
const sessionTimeoutMs = 3_000;

/** What a command of these tests wrote down. */
interface Note {
  readonly atMs: number;
  readonly node: string;
  readonly token: bigint;
  readonly pid: number;
  readonly word: string;
}

/** For the shell: writes a word down, with the time. */
const prelude =
  'say() { echo "$(date +%s%3N) $PETREL_NODE $PETREL_FENCING_TOKEN $$ $1" >>"$NOTES"; }; say begins';

/** Goes on until it is told to stop. */
const service = 'trap "say told; exit 4" TERM; while :; do sleep 0.02; done';

let dir = '';
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'petrel-run-'));
});
afterAll(() => rm(dir, { recursive: true, force: true }));

let root = '';
let view: GroupView;
let notesFile = '';
let runs: Map<string, PetrelProcess>;

beforeEach(async () => {
  root = uniqueRoot('run');
  notesFile = join(dir, root.slice(1));
  await appendFile(notesFile, '');
  runs = new Map();
  view = new GroupView(servers.connectString, root, sessionTimeoutMs);
  const store = await until(() => view.store());
  await store.create(root, Buffer.alloc(0), 'persistent');
  await store.create(view.paths.config, Buffer.from(JSON.stringify(testConfig)), 'persistent');
});

afterEach(async ({ task }) => {
  if (task.result?.state === 'fail') {
    process.stderr.write(`${await readFile(notesFile, 'utf8')}\n${await view.dump().catch(String)}\n`);
    for (const [node, { stderr }] of runs) process.stderr.write(`${node}:\n${stderr}\n`);
  }
  await Promise.all([...runs.values()].map((run) => run.stop()));
  await view.close();
});

async function run(
  node: string,
  script: string,
  args: readonly string[] = [],
  zookeeper = servers.connectString,
): Promise<PetrelProcess> {
  const started = await startProcess(['run', ...args, '--', '/bin/sh', '-c', `${prelude}; ${script}`], {
    PETREL_ZOOKEEPER: zookeeper,
    PETREL_ROOT: root,
    PETREL_NODE_ID: node,
    PETREL_SESSION_TIMEOUT: `${sessionTimeoutMs}ms`,
    PETREL_LOG_LEVEL: 'debug',
    NOTES: notesFile,
  });
  runs.set(node, started);
  await started.logged(/^joined/);
  return started;
}

async function notes(): Promise<Note[]> {
  const lines = (await readFile(notesFile, 'utf8')).split('\n').filter(Boolean);
  return lines.map((line) => {
    const [at = '', node = '', token = '', pid = '', word = ''] = line.split(' ');
    return { atMs: Number(at), node, token: BigInt(token), pid: Number(pid), word };
  });
}

function noted(node: string, word: string, times = 1): Promise<Note> {
  const find = async () =>
    (await notes()).filter((note) => note.node === node && note.word === word)[times - 1];
  return until(find, { describe: `${node} to write down "${word}"`, timeoutMs: 30_000 });
}

function lives(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

describe('a command that is run once', () => {
  it('starts on the leader alone, as its takeover, and passes its exit code on; then the next node runs it', async () => {
    const a = await run(
      'a',
      'echo "$PETREL_PHASE $PETREL_TERM"; until [ -e "$NOTES.go" ]; do sleep 0.02; done; exit 5',
    );
    const { token } = await noted('a', 'begins');
    const b = await run('b', 'exit 0');
    expect(await view.leader()).toMatchObject({ node: 'a', token });
    expect(await notes()).toHaveLength(1);
    await appendFile(`${notesFile}.go`, '');
    expect(await a.exited).toEqual({ code: 5, signal: null });
    expect(a.stdout).toBe('takeover 1\n');
    expect(await b.exited).toEqual({ code: 0, signal: null });
    const [first, second] = await notes();
    expect(second).toMatchObject({ node: 'b' });
    expect(second?.token).toBeGreaterThan(first?.token ?? 0n);
    const record = (await view.transitions()).find(({ node }) => node === 'b');
    expect(record?.reason).toContain('workload failed: the workload exited with 5');
  });

  it('that a signal ends passes that on, as a shell does', async () => {
    expect(await (await run('a', 'kill -KILL $$')).exited).toEqual({ code: 137, signal: null });
  });

  it('is told to stop, and is gone, before another runs it; its petrel exits with 7', async () => {
    const a = await run('a', 'trap "sleep 0.6; say told; exit 0" TERM; while :; do sleep 0.02; done');
    await noted('a', 'begins');
    await run('b', service);
    await view.switchOver('b');
    await noted('b', 'begins');
    expect((await notes()).map(({ node, word }) => `${node} ${word}`)).toEqual([
      'a begins',
      'a told',
      'b begins',
    ]);
    expect(await a.exited).toEqual({ code: 7, signal: null });
    expect(a.stderr).toContain('petrel: leadership was lost: the command was stopped');
  });

  it('is over when petrel is told to leave: the code is its own, and another node leads', async () => {
    const a = await run('a', service);
    await noted('a', 'begins');
    const b = await run('b', service);
    a.term();
    expect(await a.exited).toEqual({ code: 4, signal: null });
    await noted('b', 'begins');
    b.term();
    expect(await b.exited).toEqual({ code: 4, signal: null });
    expect(await view.leader()).toBeNull();
  });

  it('that has not run when petrel is told to leave leaves it with the code of the signal', async () => {
    await run('a', service);
    await noted('a', 'begins');
    const b = await run('b', service);
    b.term();
    expect(await b.exited).toEqual({ code: 143, signal: null });
    expect(await view.leader()).toMatchObject({ node: 'a', status: 'READY' });
  });

  it('finds its input empty', async () => {
    const a = await run('a', 'cat; exit 6');
    expect(await a.exited).toEqual({ code: 6, signal: null });
  });

  it('that is not there is wrong usage', async () => {
    const a = await startProcess(['run', '--', '/not/there'], { PETREL_ZOOKEEPER: servers.connectString });
    expect(await a.exited).toEqual({ code: 2, signal: null });
    expect(a.stderr).toContain('program "/not/there" not found');
  });
});

describe('a command that is started again', () => {
  it('keeps its token while it fails; then leadership is handed on, and its node is a standby', async () => {
    const a = await run('a', 'exit 3', ['--restart', 'on-failure', '--restart-limit', '2']);
    await noted('a', 'begins', 3);
    const b = await run('b', service, ['--restart', 'always']);
    await noted('b', 'begins');
    const failed = (await notes()).filter(({ node }) => node === 'a');
    expect(failed.length % 3).toBe(0);
    expect(new Set(failed.map(({ token }) => token)).size).toBe(failed.length / 3);
    expect(a.running).toBe(true);
    a.term();
    expect(await a.exited).toEqual({ code: 143, signal: null });
    expect(b.running).toBe(true);
  });

  it('ends the run when it ends well', async () => {
    const script = 'if [ -e "$NOTES.once" ]; then exit 0; fi; touch "$NOTES.once"; exit 1';
    const a = await run('a', script, ['--restart', 'on-failure']);
    expect(await a.exited).toEqual({ code: 0, signal: null });
    const [first, second, ...more] = await notes();
    expect(second?.token).toBe(first?.token);
    expect(more).toEqual([]);
  });

  it('is started however it ended, and waits for its next leadership when it has lost one', async () => {
    const a = await run('a', `[ $(grep -c begins "$NOTES") -lt 3 ] && exit 0; ${service}`, [
      '--restart',
      'always',
    ]);
    const { token } = await noted('a', 'begins', 3);
    const b = await run('b', service, ['--restart', 'always']);
    await view.switchOver('b');
    await noted('b', 'begins');
    await view.switchOver('a');
    const again = await noted('a', 'begins', 4);
    expect(again.token).toBeGreaterThan(token);
    expect([a.running, b.running]).toEqual([true, true]);
  });
});

describe('commands on one machine', () => {
  const env = (group: string) => ({
    PETREL_ZOOKEEPER: servers.connectString,
    PETREL_ROOT: group,
    PETREL_STATE_DIR: join(dir, `${root.slice(1)}.state`),
    PETREL_SESSION_TIMEOUT: `${sessionTimeoutMs}ms`,
  });

  it('started at once without names have each its own; the same again when they start anew', async () => {
    const startAll = async () => {
      const starting = Array.from({ length: 4 }, () =>
        startProcess(['run', '--', 'sleep', '1000'], env(root)),
      );
      const all = await Promise.all(starting);
      for (const [index, each] of all.entries()) runs.set(String(index), each);
      await Promise.all(all.map((each) => each.logged(/^joined/)));
      return all;
    };
    const names = [hostname(), ...[2, 3, 4].map((number) => `${hostname()}-${number}`)];
    const first = await startAll();
    expect((await view.seated()).toSorted()).toEqual(names);
    // Their locks stay, and are those of processes that have died.
    await Promise.all(first.map((each) => each.kill9()));
    await startAll();
    expect((await view.seated()).toSorted()).toEqual(names);
  });

  it('of several groups share a state directory and a name', async () => {
    for (const group of [root, `${root}/nested`]) {
      const one = await startProcess(['run', '--node-id', 'same', '--', 'sleep', '1000'], env(group));
      runs.set(group, one);
      await one.logged(/^joined/);
    }
  });

  it('of one group and one name are refused', async () => {
    const named = () => startProcess(['run', '--node-id', 'same', '--', 'sleep', '1000'], env(root));
    runs.set('first', await named());
    await runs.get('first')?.logged(/^joined/);
    const second = await named();
    runs.set('second', second);
    expect(await second.exited).toEqual({ code: 1, signal: null });
    expect(second.stderr).toContain('on this machine runs node same already');
  });
});

describe('a leader out of touch', () => {
  const stubborn = 'trap "say told" TERM; while :; do sleep 0.02; done';

  it.each([
    ['a command that stops', service],
    ['a command that ignores SIGTERM', stubborn],
  ])('has stopped %s before another runs it, and exits with 7', async (_, script) => {
    await using links = await Links.to(servers.all);
    const a = await run('a', script, [], links.connectString);
    const { pid, token } = await noted('a', 'begins');
    await run('b', service);
    const cutAtMs = Date.now();
    await using _cut = links.cut();
    const told = await noted('a', 'told');
    await until(() => !lives(pid));
    expect(Date.now() - cutAtMs).toBeLessThan(sessionTimeoutMs);
    const next = await noted('b', 'begins');
    expect(next.token).toBeGreaterThan(token);
    expect(next.atMs).toBeGreaterThan(told.atMs);
    expect(await a.exited).toEqual({ code: 7, signal: null });
  });

  it('P10 whose petrel is frozen has its command stopped all the same, and exits with 7 when it wakes', async () => {
    const a = await run('a', service);
    const { pid } = await noted('a', 'begins');
    await run('b', service);
    a.pause();
    await noted('a', 'told');
    await until(() => !lives(pid));
    await noted('b', 'begins');
    a.resume();
    expect(await a.exited).toEqual({ code: 7, signal: null });
  });
});
