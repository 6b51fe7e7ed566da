/**
 * Runs the example of a PostgreSQL that rejects an old leader against a real server. On Debian: apt-get
 * install postgresql-15.
 */
import { spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type PetrelProcess, startProcess } from '../support/agents.js';
import { sharedZooKeeper, uniqueRoot } from '../support/ensemble.js';
import { GroupView } from '../support/group-view.js';
import { type Answer, Postgres, type Psql, postgresPrograms } from '../support/postgres.js';
import { until } from '../support/until.js';

const example = fileURLToPath(new URL('../../examples/postgres/', import.meta.url));
const programs = await postgresPrograms();
const missing = programs === null ? ' (not here: no PostgreSQL)' : '';

interface Entry {
  readonly token: bigint;
  readonly node: string;
  readonly entry: string;
}

describe.skipIf(programs === null)(`a fenced PostgreSQL${missing}`, () => {
  let postgres: Postgres;
  let admin: Psql;
  beforeAll(async () => {
    postgres = await Postgres.start(programs ?? '');
    admin = postgres.connect();
  });
  afterAll(async () => {
    await admin?.[Symbol.asyncDispose]();
    await postgres?.[Symbol.asyncDispose]();
  });

  beforeEach(async () => {
    await admin.run('drop table if exists ledger; drop schema if exists fencing cascade');
    const { status, stderr } = spawnSync(
      'psql',
      ['-qX1', '-v', 'ON_ERROR_STOP=1', '-f', join(example, 'fence.sql')],
      {
        env: postgres.env,
        encoding: 'utf8',
      },
    );
    expect({ status, stderr }).toEqual({ status: 0, stderr: expect.not.stringContaining('ERROR') });
  });

  const write = (by: Psql, entry: string) =>
    by.run(`insert into ledger (node, entry) values ('test', '${entry}')`);

  async function ledger(): Promise<Entry[]> {
    const answer = await admin.run("select token || ' ' || node || ' ' || entry from ledger order by id");
    return rowsOf(answer).map((row) => {
      const [token = '', node = '', ...entry] = row.split(' ');
      return { token: BigInt(token), node, entry: entry.join(' ') };
    });
  }

  /** Whether a statement of this connection is waiting for a lock. */
  const waits = async (sql: string) =>
    rowsOf(
      await admin.run(
        `select 1 from pg_stat_activity where wait_event_type = 'Lock' and query like '${sql}%'`,
      ),
    ).length > 0;

  it('takes what the newest token writes, and refuses an older one, whatever it does', async () => {
    await using old = postgres.connect(5);
    await using leader = postgres.connect(7);
    expect(await write(old, 'first')).toEqual({ rows: [] });
    expect(await leader.run('select fencing.show()')).toEqual({ rows: ['7'] });
    const refused = {
      error: expect.stringContaining('fencing token 5 is older than 7: there is a new leader'),
    };
    expect(await write(old, 'late')).toEqual(refused);
    for (const sql of [
      "update ledger set entry = 'x'",
      'delete from ledger where false',
      'truncate ledger',
    ]) {
      expect(await old.run(sql)).toEqual(refused);
    }
    expect(await write(leader, 'second')).toEqual({ rows: [] });
    expect((await ledger()).map(({ token, entry }) => [token, entry])).toEqual([
      [5n, 'first'],
      [7n, 'second'],
    ]);
  });

  it('refuses who shows none, or lowers what it remembers', async () => {
    expect(await write(admin, 'x')).toEqual({ error: expect.stringContaining('no fencing token was shown') });
    await admin.run('drop role if exists app; create role app; grant all on ledger to app');
    await using app = postgres.connect(3);
    await app.run('set role app');
    expect(await write(app, 'may')).toEqual({ rows: [] });
    expect(await app.run('update fencing.newest set token = 0')).toEqual({
      error: expect.stringContaining('permission denied'),
    });
  });

  it.each(['read committed', 'repeatable read', 'serializable'])(
    'refuses a transaction under %s that began before the new leader came and writes after',
    async (isolation) => {
      await using old = postgres.connect(5);
      await using leader = postgres.connect(7);
      await old.run(`begin isolation level ${isolation}; select count(*) from ledger`);
      await write(leader, 'second');
      expect(await write(old, 'late')).toEqual({ error: expect.any(String) });
      await old.run('commit');
      expect((await ledger()).map(({ entry }) => entry)).toEqual(['second']);
    },
  );

  it('has a new leader wait for what an old one has under way, so that it reads that or nothing comes', async () => {
    await using old = postgres.connect(5);
    await using leader = postgres.connect(7);
    await old.run('select fencing.show()');
    await old.run('begin');
    expect(await write(old, 'under way')).toEqual({ rows: [] });
    const shown = leader.run('select fencing.show()');
    await until(() => waits('select fencing.show()'), { describe: 'the new leader to wait' });
    await old.run('commit');
    expect(await shown).toEqual({ rows: ['7'] });
    expect(await leader.run('select entry from ledger')).toEqual({ rows: ['under way'] });
  });

  it('does not wait for an old leader that stands still in a transaction for longer than the limit', async () => {
    await using old = postgres.connect(5);
    await using leader = postgres.connect(7);
    await old.run("set idle_in_transaction_session_timeout = '3s'; begin");
    await write(old, 'under way');
    expect(await leader.run('select fencing.show()')).toEqual({ rows: ['7'] });
    expect(await ledger()).toEqual([]);
  });

  it('would take a late write if it did no more than look', async () => {
    const body = 'select token into strict newest from fencing.newest for share;';
    const source = await readFile(join(example, 'fence.sql'), 'utf8');
    expect(source).toContain(body);
    const begin = source.indexOf('create function fencing.show()');
    const looking = source.slice(begin, source.indexOf('create function fencing.guard()'));
    await admin.run(
      looking.replace('create function', 'create or replace function').replace(' for share;', ';'),
    );
    await using old = postgres.connect(5);
    await using leader = postgres.connect(7);
    await old.run('select fencing.show()');
    await old.run('begin');
    await write(old, 'late');
    expect(await leader.run('select fencing.show(); select entry from ledger')).toEqual({ rows: ['7'] });
    await old.run('commit');
    expect((await ledger()).map(({ entry }) => entry)).toEqual(['late']);
  });

  it('keeps the order of the tokens, however many write at the same time', async () => {
    const writers = 6;
    const newest = 40;
    const accepted: { token: number; startedMs: number; endedMs: number }[] = [];
    let refused = 0;
    const work = async (writer: number) => {
      for (let token = writer; token <= newest; token += writers) {
        await using by = postgres.connect(token);
        for (let n = 0; n < 8; n++) {
          const startedMs = performance.now();
          const isolation = n % 2 === 0 ? 'read committed' : 'serializable';
          const answers = [
            await by.run(`begin isolation level ${isolation}`),
            await write(by, `${token}.${n}`),
          ];
          answers.push(await by.run('commit'));
          if (answers.every((answer) => 'rows' in answer)) {
            accepted.push({ token, startedMs, endedMs: performance.now() });
          } else refused++;
        }
      }
    };
    await Promise.all(Array.from({ length: writers }, (_, writer) => work(writer + 1)));

    const tokens = (await ledger()).map(({ token }) => token);
    expect(tokens).toEqual(tokens.toSorted((a, b) => Number(a - b)));
    expect(tokens).toHaveLength(accepted.length);
    expect(tokens.at(-1)).toBe(BigInt(newest));
    expect(refused).toBeGreaterThan(0);
    const late = accepted.filter(({ token, startedMs }) =>
      accepted.some((other) => other.token > token && other.endedMs < startedMs),
    );
    expect(late).toEqual([]);
  });

  describe('written to by petrel run', () => {
    const root = uniqueRoot('fenced');
    const running: PetrelProcess[] = [];
    let dir = '';
    let view: GroupView;
    beforeAll(async () => {
      dir = await mkdtemp(join(tmpdir(), 'petrel-fenced-'));
      view = new GroupView(await sharedZooKeeper(), root, 6_000);
    });
    afterAll(async () => {
      await Promise.all(running.map((each) => each.stop()));
      await view.close();
      await rm(dir, { recursive: true, force: true });
    });

    async function run(node: string, ...command: string[]): Promise<PetrelProcess> {
      const started = await startProcess(
        ['run', '--node-id', node, '--restart', 'always', '--', ...command],
        {
          ...postgres.env,
          PETREL_ZOOKEEPER: await sharedZooKeeper(),
          PETREL_ROOT: root,
          INTERVAL: '0.05',
          EXAMPLE: example,
          DIR: dir,
        },
      );
      running.push(started);
      await started.logged(/^joined/);
      return started;
    }

    const entriesOf = (node: string, count: number) =>
      until(
        async () => {
          const entries = await ledger();
          return entries.filter((entry) => entry.node === node).length >= count ? entries : null;
        },
        { describe: `${count} entries of ${node}`, timeoutMs: 20_000 },
      );

    it('has nothing of an old leader behind the first entry of a new one, though it goes on writing', async () => {
      // This process leaves its process group, so Petrel cannot reach it. It represents a leader that cannot
      // be stopped.
      const escaped = 'echo $$ >"$DIR/pid"; while [ -d "$DIR" ]; do "$EXAMPLE/keep-ledger"; sleep 0.02; done';
      await run('a', '/bin/sh', '-c', `setsid sh -c '${escaped}' 2>"$DIR/refused" & sleep 1000`);
      await entriesOf('a', 3);
      await run('b', join(example, 'keep-ledger'));
      await view.switchOver('b');
      await entriesOf('b', 3);
      const refusals = async () =>
        (await readFile(join(dir, 'refused'), 'utf8')).split('there is a new leader').length;
      const before = await refusals();
      await until(async () => (await refusals()) > before + 2, { describe: 'late writes to be refused' });
      const entries = await entriesOf('b', 6);
      process.kill(-Number(await readFile(join(dir, 'pid'), 'utf8')), 'SIGKILL');
      const nodes = entries.map(({ node }) => node).join('');
      expect(nodes).toMatch(/^a+b+$/);
      // Each process continues after the last entry that it read. So b has read everything that a wrote.
      expect(entries.map(({ entry }) => entry)).toEqual(entries.map((_, index) => `entry ${index + 1}`));
    });
  });
});

function rowsOf(answer: Answer): readonly string[] {
  if ('error' in answer) throw new Error(answer.error);
  return answer.rows;
}
