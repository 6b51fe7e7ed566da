import { afterEach, describe, expect, it } from 'vitest';
import { evictResultSchema } from '../../src/cli/commands/node.js';
import { siteListSchema } from '../../src/cli/commands/site.js';
import { changeResultSchema } from '../../src/group/change-result.js';
import { failureSchema } from '../../src/group/failure.js';
import { historySchema } from '../../src/group/history.js';
import type { Listing } from '../../src/group/listing.js';
import { outcomeSchema } from '../../src/group/wait.js';
import { startProcess } from '../support/agents.js';
import { runCommand } from '../support/command.js';
import { newGroup, type TestGroup } from '../support/group.js';
import { type LibraryGroup, startGroup } from '../support/library-group.js';
import { listingOf } from '../support/listing.js';
import { until } from '../support/until.js';

type Env = Readonly<Record<string, string>>;

let group: LibraryGroup | undefined;
afterEach(async () => {
  await group?.[Symbol.asyncDispose]();
  group = undefined;
});

async function start(...[names, options]: Parameters<typeof startGroup>): Promise<Env> {
  group = await startGroup(names, options);
  const { env } = group;
  await led(env, names[0] ?? '');
  return env;
}

function list({ PETREL_ZOOKEEPER = '', PETREL_ROOT = '' }: Env): Promise<Listing> {
  return listingOf(PETREL_ZOOKEEPER, PETREL_ROOT);
}

function led(env: Env, node: string): Promise<Listing> {
  return until(
    async () => {
      const listing = await list(env);
      return listing.leader?.node === node && listing.leader.status === 'READY' ? listing : null;
    },
    { describe: `${node} to lead`, timeoutMs: 20_000 },
  );
}

async function change(env: Env, ...args: string[]) {
  const { code, stdout, stderr } = await runCommand([...args, '-f', 'json'], env);
  return {
    code,
    result: stdout === '' ? null : changeResultSchema.parse(JSON.parse(stdout)),
    error: stderr === '' ? null : failureSchema.parse(JSON.parse(stderr)).error,
  };
}

describe('petrel flag', () => {
  it('makes the rules apply that need it', async () => {
    const env = await start(['a1', 'b1']);
    const rules = JSON.stringify([
      { name: 'sale', when: { flag: 'sale' }, strategy: 'preference-list', options: { order: ['b1'] } },
      { name: 'usual', strategy: 'preference-list', options: { order: ['a1'] } },
    ]);
    const config = ['strategy', 'conditional', 'strategyOptions.rules', rules, 'failbackHold', '0s'];
    expect((await runCommand(['config', 'set', ...config], env)).code).toBe(0);
    const set = await change(env, 'flag', 'set', 'sale', '--reason', 'black friday');
    expect(set).toMatchObject({ code: 0, result: { what: 'flag sale: set' } });
    await led(env, 'b1');
    const explained = await runCommand(['explain'], env);
    expect(explained.stdout).toContain('by rule sale (preference-list)');
    expect(await change(env, 'flag', 'set', 'sale')).toMatchObject({
      code: 0,
      result: { what: expect.stringContaining('flag sale is already set, by ') },
    });
    await change(env, 'flag', 'clear', 'sale');
    await led(env, 'a1');
  });
});

describe('petrel site', () => {
  it('declares a site failed, and takes that back', async () => {
    const env = await start(['a1', 'a2', 'b1']);
    const fail = await change(env, 'site', 'mark-failed', 'a', '--reason', 'flooded');
    expect(fail).toMatchObject({ code: 0, result: { what: 'site a: marked failed' } });
    const listing = await list(env);
    expect(listing).toMatchObject({
      leader: { node: 'b1', status: 'READY' },
      sites: [
        { site: 'a', failed: { byRule: false, reason: 'flooded' } },
        { site: 'b', failed: null },
      ],
    });
    expect(listing.elected.reason).toMatch(/^instead of a1 \(site a was marked failed by .*: flooded\)/);
    expect((await runCommand(['list'], env)).stdout).toMatch(/Site a is marked failed \(by .*\): flooded/);
    expect((await runCommand(['site', 'list'], env)).stdout).toMatch(/^a .*failed/m);
    await change(env, 'site', 'mark-healthy', 'a');
    expect((await list(env)).sites[0]?.failed).toBeNull();
  });

  it('moves leadership out of a site for a time, and back', async () => {
    const env = await start(['a1', 'b1']);
    await runCommand(['config', 'set', 'sites.b.priority', '50', 'failbackHold', '0s'], env);
    const priority = ['site', 'priority', 'a', '0', '--for', '2h', '--reason', 'new switch'];

    const dry = await runCommand([...priority, '--dry-run'], env);
    expect(dry.code).toBe(0);
    expect(dry.stdout).toMatch(
      /^Dry run: site a: priority 100 → 0, for 2h until 20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ, then 100$/m,
    );
    expect(dry.stdout).toContain(
      'b1 will be elected: instead of a1 (site a has priority 0, so its nodes never lead)',
    );
    expect((await list(env)).sites[0]).toMatchObject({ site: 'a', priority: 100, override: null });

    const { code, stdout } = await runCommand(priority, env);
    expect(code).toBe(0);
    expect(stdout).not.toContain('To follow the transition');
    expect(stdout).toContain('b1 is the leader: term 2 is READY\n');
    const during = await list(env);
    expect(during).toMatchObject({
      leader: { node: 'b1', term: 2 },
      sites: [{ site: 'a', priority: 0, override: { priority: 0, reason: 'new switch' } }, { site: 'b' }],
    });
    const sites = siteListSchema.parse(
      JSON.parse((await runCommand(['site', 'list', '-f', 'json'], env)).stdout),
    );
    expect(sites.sites[0]).toMatchObject({ site: 'a', configuredPriority: 100, nodes: ['a1'] });

    expect(await change(env, 'site', 'reset', 'a')).toMatchObject({
      code: 0,
      result: { changed: true, term: 3, outcome: { state: 'READY', node: 'a1' } },
    });
    const history = historySchema.parse(
      JSON.parse((await runCommand(['history', '-f', 'json'], env)).stdout),
    );
    const transitions = history.records.filter((record) => record.kind === 'transition');
    expect(transitions.map(({ term, node, cause }) => [term, node, cause]).slice(-2)).toEqual([
      [2, 'b1', 'planned'],
      [1, 'a1', 'first'],
    ]);
    expect(transitions.find(({ term }) => term === 2)?.leaderlessMs).toBeGreaterThanOrEqual(0);
    const table = await runCommand(['history'], env);
    expect(table.stdout).toMatch(/ 2 +READY \(planned\) +a1 +b1 /);
    expect(table.stdout).toMatch(/site a: priority 100 → 0, for 2h until .*: new switch$/m);
  });

  it('refuses a site that is probably misspelt, unless it is allowed', async () => {
    const env = await start(['a1']);
    expect(await change(env, 'site', 'priority', 'x', '0', '--yes')).toMatchObject({
      code: 5,
      error: {
        message: 'unknown site x',
        reasons: ['known sites: a', 'pass --allow-unknown to proceed before a node of the site joins'],
      },
    });
    expect((await change(env, 'site', 'reset', 'zzz')).code).toBe(5);
    expect((await change(env, 'site', 'drain', 'x', '--allow-unknown')).code).toBe(0);
    expect((await list(env)).sites).toMatchObject([{ site: 'a' }, { site: 'x' }]);
    expect((await change(env, 'site', 'forget', 'x')).result?.changed).toBe(true);
    expect((await list(env)).sites).toMatchObject([{ site: 'a' }]);
  });

  it('asks for confirmation before no node is left to lead', async () => {
    const env = await start(['a1']);
    expect(await change(env, 'site', 'drain', 'a')).toMatchObject({
      code: 5,
      error: {
        code: 'REFUSED',
        reasons: [expect.stringContaining('the group would have no leader: no node is eligible: a1')],
      },
    });
    expect((await list(env)).sites).toMatchObject([{ site: 'a', drained: null }]);
    expect(await change(env, 'site', 'drain', 'a', '-y')).toMatchObject({
      code: 0,
      result: { outcome: { state: 'NOBODY', node: null } },
    });
    expect((await list(env)).leader).toBeNull();
    expect(await change(env, 'site', 'undrain', 'a')).toMatchObject({
      code: 0,
      result: { outcome: { state: 'READY' } },
    });
  });
});

describe('petrel switchover and failover', () => {
  it('hand over, or are refused with reasons', async () => {
    const env = await start(['a1', 'a2', 'b1']);
    expect(await change(env, 'switchover', '--to', 'b1', '--reason', 'kernel')).toMatchObject({
      code: 0,
      result: {
        what: 'switchover requested: a1 → b1',
        follows: { node: 'b1', cause: 'planned' },
        outcome: { state: 'READY', node: 'b1', term: 2 },
      },
    });
    expect(await change(env, 'switchover', '--to', 'c1')).toMatchObject({
      code: 5,
      error: {
        code: 'REFUSED',
        message: 'c1 cannot take over from b1',
        reasons: [
          'c1 is not registered',
          expect.stringContaining('a1: eligible'),
          expect.any(String),
          'b1: is the leader',
        ],
      },
    });
    const refused = await runCommand(['switchover', '--to-site', 'b'], env);
    expect(refused).toMatchObject({
      code: 5,
      stdout: '',
      stderr: expect.stringContaining('petrel: b1 is already the leader\n  - '),
    });

    const scheduled = await runCommand(['switchover', '--at', '2h'], env);
    expect(scheduled).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('To follow the transition: petrel wait --term 3'),
    });
    // The pending switchover is not part of this change, which has nothing to follow.
    expect(await change(env, 'config', 'set', 'historySize', '50')).toMatchObject({
      code: 0,
      result: { changed: true, term: null },
    });
    expect(await change(env, 'switchover', '--to', 'a1')).toMatchObject({
      code: 5,
      error: { message: expect.stringMatching(/^transition 3, requested by .*, is pending/) },
    });
    expect((await change(env, 'switchover', '--cancel')).code).toBe(0);
    expect(await change(env, 'failover', '--to', 'a2')).toMatchObject({
      code: 0,
      result: { outcome: { state: 'READY', node: 'a2', term: 3 } },
    });
  });

  it('fail when the target does, and say who leads instead', async () => {
    const env = await start(['a1', 'b1'], {
      takeover: (node) => async () => {
        if (node === 'b1') throw new Error('disk full');
      },
    });
    const { code, stdout } = await runCommand(['switchover', '--to', 'b1'], env);
    expect(code).toBe(1);
    expect(stdout).toContain('Term 2 failed on b1: takeover failed: disk full');
    expect(stdout).toMatch(/^Now.* a1 /m);
    await led(env, 'a1');
    expect(await runCommand(['list'], env)).toMatchObject({
      stdout: expect.stringMatching(/^b1 +b +BACKOFF/m),
    });
    expect((await change(env, 'node', 'clear-failure', 'b1')).result).toMatchObject({ changed: true });
    expect(nodeOf(await list(env), 'b1').eligible).toBe(true);

    const waited = await runCommand(['wait', '--term', '2', '-f', 'json'], env);
    expect(waited.code).toBe(1);
    expect(outcomeSchema.parse(JSON.parse(waited.stdout))).toMatchObject({ state: 'FAILED', node: 'b1' });
    expect((await runCommand(['wait', '--term', '1'], env)).code).toBe(0);
  });
});

function nodeOf({ nodes }: Listing, id: string): Listing['nodes'][number] {
  const found = nodes.find(({ node }) => node === id);
  if (found === undefined) throw new Error(`${id} is not listed`);
  return found;
}

describe('petrel node', () => {
  it('drains a leader, which hands over, and takes it back', async () => {
    const env = await start(['a1', 'b1']);
    expect(await change(env, 'node', 'drain', 'a1', '--reason', 'disk')).toMatchObject({
      code: 0,
      result: { outcome: { state: 'READY', node: 'b1' } },
    });
    expect(nodeOf(await list(env), 'a1')).toMatchObject({ state: 'DRAINING', eligible: false });
    expect((await change(env, 'node', 'drain', 'c1')).code).toBe(5);
    expect(await change(env, 'node', 'undrain', 'c1', '--yes')).toMatchObject({
      code: 5,
      error: { message: 'unknown node c1', reasons: ['known nodes: a1, b1'] },
    });
    expect(await change(env, 'node', 'undrain', 'a1')).toMatchObject({
      code: 0,
      result: { changed: true, outcome: null },
    });
    const again = await runCommand(['node', 'undrain', 'a1'], env);
    expect(again).toMatchObject({ code: 0, stdout: 'Nothing to change: node a1 is not drained\n' });
  });

  it('evicts a node that seems to live only when that is meant', async () => {
    await using tree: TestGroup = await newGroup();
    await tree.node('a1');
    await tree.node('b1');
    await tree.lead('b1', 1);
    const env = { PETREL_ZOOKEEPER: tree.zookeeper, PETREL_ROOT: tree.root };
    const args = ['node', 'evict', 'a1'];
    expect(await change(env, ...args)).toMatchObject({
      code: 5,
      error: { reasons: [expect.stringContaining('a1 seems to be alive')] },
    });
    const dry = await runCommand([...args, '--dry-run', '-f', 'json'], env);
    expect(evictResultSchema.parse(JSON.parse(dry.stdout))).toMatchObject({
      dryRun: true,
      leavesClaim: false,
      dangers: [expect.stringContaining('a1 seems to be alive')],
    });
    expect((await list(env)).nodes).toHaveLength(2);
    expect((await runCommand([...args, '-y'], env)).code).toBe(0);
    expect((await list(env)).nodes).toMatchObject([{ node: 'b1' }]);
    const leader = ['node', 'evict', 'b1', '--dead'];
    expect((await runCommand([...leader, '--dry-run'], env)).stdout).toContain(
      '  ! DANGER: ZooKeeper says b1 is the live leader',
    );
    expect(await change(env, ...leader)).toMatchObject({
      code: 5,
      error: { reasons: [expect.stringContaining('this creates two leaders')] },
    });
    expect((await list(env)).leader).toMatchObject({ node: 'b1' });
    expect((await runCommand([...leader, '-y', '--no-wait'], env)).code).toBe(0);
    expect((await list(env)).leader).toBeNull();
  });
});

describe('petrel pause and resume', () => {
  it('keep leadership where it is, and let it move again', async () => {
    const env = await start(['a1', 'b1']);
    expect(await change(env, 'pause', '--reason', 'maintenance')).toMatchObject({
      code: 0,
      result: { changed: true, term: null, outcome: null },
    });
    expect((await list(env)).paused).toMatchObject({ reason: 'maintenance' });
    expect(await runCommand(['list'], env)).toMatchObject({
      stdout: expect.stringMatching(/^Paused by .*: maintenance\./m),
    });
    expect(await change(env, 'site', 'priority', 'a', '0')).toMatchObject({
      code: 0,
      result: { follows: { node: 'a1', changes: false }, outcome: null },
    });
    expect(await change(env, 'resume')).toMatchObject({
      code: 0,
      result: { outcome: { state: 'READY', node: 'b1' } },
    });
  });
});

describe('waiting', () => {
  it('is left out with --no-wait', async () => {
    const env = await start(['a1', 'b1']);
    expect(await change(env, 'switchover', '--no-wait')).toMatchObject({
      code: 0,
      result: { term: 2, outcome: null },
    });
    expect((await runCommand(['wait', '--term', '2'], env)).code).toBe(0);
  });

  it('ends with exit code 6 when its time is over, and 130 on ^C', async () => {
    await using tree = await newGroup();
    await tree.node('a1');
    await tree.node('b1');
    await tree.lead('a1', 1);
    const env = { PETREL_ZOOKEEPER: tree.zookeeper, PETREL_ROOT: tree.root };
    expect(await change(env, 'switchover', '--wait-timeout', '300ms')).toMatchObject({
      code: 6,
      result: { changed: true, term: 2, outcome: null },
      error: {
        code: 'UNDER_WAY',
        message: 'term 2 has no outcome yet',
        reasons: [expect.stringContaining('waiting for the decision of the elector a1')],
      },
    });
    await using waiting = await startProcess(['wait', '--term', '2'], env);
    await until(() => waiting.stderr.includes('waiting for the decision of the elector'));
    process.kill(waiting.pid, 'SIGINT');
    expect(await waiting.exited).toMatchObject({ code: 130 });
    expect(waiting.stderr).toContain('petrel: interrupted\n');
  });
});
