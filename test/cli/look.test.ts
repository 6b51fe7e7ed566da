import { createServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { failureSchema } from '../../src/group/failure.js';
import { listingSchema } from '../../src/group/listing.js';
import { tokenVerdictSchema } from '../../src/group/token.js';
import { runProcess } from '../support/agents.js';
import { runCommand } from '../support/command.js';
import { newGroup, type TestGroup } from '../support/group.js';
import { freePorts } from '../support/ports.js';

let group: TestGroup;
beforeAll(async () => {
  group = await newGroup();
  await group.node('a1');
  await group.node('b1', { health: { ok: false, reason: 'disk \u001b[31mfull\n\u009breally\u202e' } });
  await group.lead('a1', 3);
});
afterAll(() => group[Symbol.asyncDispose]());

function env() {
  return { PETREL_ZOOKEEPER: group.zookeeper, PETREL_ROOT: group.root };
}

function run(...args: string[]) {
  return runCommand(args, env());
}

describe('petrel list', () => {
  it('prints a table that keeps to its lines, whatever the tree holds', async () => {
    const { code, stdout, stderr } = await runProcess(['list'], env());
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^a1 +a +elector,leader +READY +100 +100 +yes$/m);
    expect(stdout).toMatch(/^b1 +b +UNHEALTHY +100 +100 +no$/m);
    expect(stdout).toContain('Ineligible: b1: it is unhealthy: disk  [31mfull really<U+202E>\n');
    expect(stdout).not.toContain('\u001b');
  });

  it('prints json, yaml and tsv', async () => {
    const json = await run('list', '-f', 'json');
    const list = listingSchema.parse(JSON.parse(json.stdout));
    expect(list).toMatchObject({ root: group.root, elector: 'a1', leader: { node: 'a1', term: 3 } });
    const yaml = await run('-f', 'yaml', 'list');
    expect(parse(yaml.stdout)).toEqual(JSON.parse(json.stdout));
    for (const { stdout } of [json, yaml]) expect(stdout).not.toMatch(/[^\P{C}\n]/u);
    const rows = (await run('list', '--format', 'tsv')).stdout.split('\n').map((line) => line.split('\t'));
    expect(rows[0]?.slice(0, 4)).toEqual(['node', 'site', 'roles', 'state']);
    expect(rows[1]?.slice(0, 4)).toEqual(['a1', 'a', 'elector,leader', 'READY']);
    expect(rows[2]?.at(-1)).toBe('it is unhealthy: disk  [31mfull really<U+202E>');
  });
});

describe('petrel verify-token', () => {
  const tokenNow = async () => (await group.store.exists(group.paths.current))?.czxid ?? 0n;

  it('says whether a token is that of the present leadership, and nothing older or else', async () => {
    const token = await tokenNow();
    const valid = await run('verify-token', String(token), '-f', 'json');
    expect(valid.code).toBe(0);
    expect(tokenVerdictSchema.parse(JSON.parse(valid.stdout))).toEqual({
      root: group.root,
      token: String(token),
      valid: true,
      newest: String(token),
      leader: { node: 'a1', status: 'READY', term: 3 },
      reason: 'a1, in term 3, holds this token and is READY',
    });
    for (const other of [token - 1n, token + 1n, -1n]) {
      const { code, stdout } = await run('-f', 'tsv', 'verify-token', '--', String(other));
      expect(code).toBe(7);
      expect(stdout).toContain(`${other}\tno\t${token}\ta1\t`);
    }
  });

  it('takes it from the environment of a hook, and knows that a claim deleted and created again has another', async () => {
    const old = String(await tokenNow());
    const verify = () => runCommand(['verify-token'], { ...env(), PETREL_FENCING_TOKEN: old });
    expect(await verify()).toMatchObject({
      code: 0,
      stdout: `${old} is valid: a1, in term 3, holds this token and is READY\n`,
    });
    await group.session('a1').delete(group.paths.current, 'any');
    const nobody = {
      code: 7,
      stdout: `${old} is not valid: the group has no leader: the leadership of this token has ended\n`,
    };
    expect(await verify()).toMatchObject(nobody);
    await group.lead('a1', 3);
    const { code, stdout } = await verify();
    expect({ code, stdout }).toEqual({
      code: 7,
      stdout: `${old} is not valid: the token is outdated: a1, in term 3, holds the newer token ${await tokenNow()}\n`,
    });
  });

  it('has other codes where it cannot decide', async () => {
    const [port = 0] = await freePorts(1);
    const away = await run('verify-token', '5', '-z', `127.0.0.1:${port}`, '--connect-timeout', '300ms');
    expect(away).toMatchObject({ code: 3, stdout: '' });
    for (const args of [['five'], [], ['5', '-r', '/elsewhere']]) {
      expect(await run('verify-token', ...args)).toMatchObject({ code: 2, stdout: '' });
    }
  });
});

describe('what is refused', () => {
  it('is printed without what commands a terminal, whatever the tree holds', async () => {
    const { code, stderr } = await run('switchover', '--to', 'b1');
    expect(code).toBe(5);
    expect(stderr).toContain('it is unhealthy: disk  [31mfull really<U+202E>\n');
    expect(stderr).not.toContain('\u001b');
  });
});

describe('petrel explain', () => {
  it('says who would be elected without a site', async () => {
    const { code, stdout } = await run('explain', '--without-site', 'a');
    expect(code).toBe(0);
    expect(stdout).toContain(
      'a1 would no longer be elected, and no node would replace it: no node is eligible',
    );
    expect(stdout).toContain('b1 (site b)\n    it is unhealthy');
  });

  it('knows no node that is not there', async () => {
    expect(await run('explain', '--without', 'a1', 'zz')).toMatchObject({
      code: 2,
      stderr: 'petrel: not registered: node zz; registered: a1, b1\n',
    });
  });
});

describe('an error', () => {
  it.each([
    [['lst'], 'unknown command'],
    [['evict', 'a1'], "unknown command 'evict'; did you mean petrel node evict?"],
    [['frobnicate'], 'petrel --help lists all commands'],
    [['list', '--foo'], 'unknown option'],
    [['site', 'priority', 'a'], 'missing argument <n>\nSee: petrel site priority --help'],
    [
      ['site', 'priority', 'a', '-1'],
      "'-1' is not valid for <n>: expected a whole number from 0 to 1000000\nSee: petrel site priority --help",
    ],
    [['site', 'priority', 'a', 'many'], 'expected a whole number from 0 to 1000000\n'],
    [['site', 'priority', 'a', '1', '--duration', '2h'], "'--duration'\nSee: petrel site priority --help"],
    [['explain', 'b1'], 'petrel explain accepts no arguments, but 1 was given\nSee: petrel explain --help'],
    [['pause', 'a', 'b'], 'petrel pause accepts no arguments, but 2 were given'],
    [['acl', 'set', '--help'], "unknown command 'set'"],
    [['lst', '-h'], "unknown command 'lst'"],
    [
      ['site', 'priority', 'a', '1', '--for', '2'],
      "petrel: '2' is not valid for --for <duration>: 2 has no unit: write 2s, 2m or 2h\nSee: petrel site priority --help",
    ],
    [['site', 'priority', 'a', '1', '--for'], 'petrel: missing value for --for <duration>\nSee: '],
    [['site', 'priority', 'a/b', '1'], 'expected a name of 1 to 128 letters'],
    [['list', '-f', 'xml'], '--format: format: "xml": expected one of pretty, wide, json, yaml, tsv'],
    [['list', '-z', 'zk:99999'], 'expected 1 to 65535'],
    [['list', '-w', '0'], "'0' is not valid for -w, --watch [seconds]: expected a number of seconds"],
    [['switchover', '--to', 'b1', '--to-site', 'b'], 'cannot be used with'],
    [['switchover', '--at', '2026-01-01T00:00:00'], 'expected a timestamp with time zone'],
    [['wait'], 'missing option --term <n>: term to wait for, as shown by petrel list'],
    [['failover'], 'missing option --to <node>: node that takes over\nSee: petrel failover --help'],
    [['list', '-r', '/no/such/group'], 'there is no group at /no/such/group'],
    [['config', 'set', 'failback', 'manual', 'minLeadership'], 'minLeadership has no value'],
  ])('of usage is reported with exit code 2: %j', async (args, message) => {
    const { code, stderr, stdout } = await run(...args);
    expect(stderr).toContain(message);
    expect(stderr).not.toMatch(/^\s+at /m);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  });

  it('is JSON with -f json', async () => {
    const { code, stderr } = await run('explain', '--without', 'zz', '-f', 'json');
    expect(code).toBe(2);
    expect(failureSchema.parse(JSON.parse(stderr)).error).toMatchObject({
      code: 'INVALID',
      message: 'not registered: node zz; registered: a1, b1',
    });
  });

  it('says in one sentence that the only server refuses connections', async () => {
    const [port] = await freePorts(1);
    expect(await run('list', '-z', `127.0.0.1:${port}`, '--connect-timeout', '1s')).toEqual({
      code: 3,
      stdout: '',
      stderr: `petrel: ZooKeeper is unreachable at 127.0.0.1:${port} (--zookeeper, PETREL_ZOOKEEPER): connection refused, tried for 1 s\n`,
    });
  });

  it('names the servers when none answers, and exits with 3', async () => {
    const [refusing] = await freePorts(1);
    const mute = createServer();
    await new Promise<void>((resolve) => mute.listen(0, '127.0.0.1', resolve));
    const address = mute.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const servers = [`127.0.0.1:${refusing}`, `127.0.0.1:${port}`];
    try {
      const { code, stderr } = await run('list', '-z', servers.join(','), '--connect-timeout', '1s');
      expect(code).toBe(3);
      expect(stderr).toContain('ZooKeeper is unreachable (--zookeeper, PETREL_ZOOKEEPER), tried for 1 s: ');
      // The servers are tried in any order, and the mute one may take all the time.
      expect(stderr).toMatch(new RegExp(`${servers[0]}: (connection refused|not tried yet); `));
      expect(stderr).toContain(`; ${servers[1]}: no response yet`);
      expect(stderr.split(`${refusing}`)).toHaveLength(2);
    } finally {
      mute.close();
    }
  });
});

describe('petrel', () => {
  it('prints its version', async () => {
    expect(await run('--version')).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/),
    });
  });

  it('shows its help when no command is given, as an error', async () => {
    const { code, stderr } = await run();
    expect(code).toBe(2);
    expect(stderr).toContain('Usage: petrel');
  });

  it('helps with each command', async () => {
    const { code, stdout } = await run('help', 'switchover');
    expect(code).toBe(0);
    expect(stdout).toContain('petrel switchover --to b1');
    expect(stdout).not.toContain('--zookeeper <hosts>');
    expect((await run('options')).stdout).toContain('--zookeeper <hosts>');
  });

  it('explains topics, and names them if another is requested', async () => {
    expect(await run('help', 'exit-codes')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('  3    ZooKeeper is unreachable'),
    });
    expect(await run('help', 'exit-code')).toMatchObject({
      code: 2,
      stderr: 'petrel: Unknown command or topic exit-code; did you mean exit-codes?\n',
    });
  });
});
