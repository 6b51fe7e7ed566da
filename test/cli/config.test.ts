import { existsSync } from 'node:fs';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { groupConfigSchema } from '../../src/model/group-config.js';
import { runCommand } from '../support/command.js';
import { newGroup, type TestGroup } from '../support/group.js';
import { until } from '../support/until.js';

let group: TestGroup;
let directory: string;
beforeEach(async () => {
  group = await newGroup();
  directory = await mkdtemp(join(tmpdir(), 'petrel-config-'));
});
afterEach(async () => {
  await group[Symbol.asyncDispose]();
  await rm(directory, { recursive: true });
});

function run(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  return runCommand(args, { PETREL_ZOOKEEPER: group.zookeeper, PETREL_ROOT: group.root, ...env });
}

async function stored() {
  const { data } = await group.store.getData(group.paths.config);
  return groupConfigSchema.parse(JSON.parse(data.toString()));
}

/** Creates an editor that runs this `sh` script on the file. Returns the environment that selects it. */
async function editor(script: string): Promise<Record<string, string>> {
  const path = join(directory, 'editor');
  await writeFile(path, `#!/bin/sh\n${script}\n`);
  await chmod(path, 0o755);
  return { EDITOR: path };
}

describe('petrel config show', () => {
  it('prints all keys with their defaults, and which are set', async () => {
    await group.configure({ failback: 'manual' });
    const { stdout } = await run(['config', 'show']);
    expect(stdout).toMatch(/^failback +yes +auto +manual$/m);
    expect(stdout).toMatch(/^timeouts\.takeover +no +60s +60s$/m);
    expect(stdout).toMatch(/^backoff\.max +no +10m +10m$/m);
  });

  it('prints state, which commands set, apart from the settings', async () => {
    await group.configure({ paused: { by: 'eve', reason: 'network', at: '2026-01-01T00:00:00.000Z' } });
    const [settings = '', state = ''] = (await run(['config', 'show'])).stdout.split('\nState:\n');
    expect(settings).not.toContain('paused');
    expect(state).toMatch(/^paused +petrel pause or petrel resume +by eve: network$/m);
    expect(state).not.toContain('switchover');
    await group.configure({});
    expect((await run(['config', 'show'])).stdout).not.toContain('State:');
  });

  it('prints a configuration that can be validated again', async () => {
    await group.configure({ failback: 'manual' });
    const { stdout } = await run(['config', 'show', '-f', 'yaml']);
    expect(parse(stdout)).toEqual(await stored());
    const file = join(directory, 'config.yaml');
    await writeFile(file, stdout);
    expect(await run(['config', 'validate', file])).toMatchObject({
      code: 0,
      stdout: `${file} is a valid configuration\n`,
    });
  });
});

describe('petrel config set and reset', () => {
  it('set, show what would be set, and go back', async () => {
    const set = ['config', 'set', 'failback', 'manual', 'timeouts.takeover', '90s'];
    const dry = await run([...set, '--dry-run']);
    expect(dry.stdout).toContain('  failback: auto → manual\n  timeouts.takeover: 60s → 90s\n');
    expect((await stored()).failback).toBe('auto');
    expect((await run(set)).code).toBe(0);
    expect(await stored()).toMatchObject({ failback: 'manual', timeouts: { takeover: '90s' } });
    expect((await run(['config', 'reset', 'failback'])).code).toBe(0);
    expect(await stored()).toMatchObject({ failback: 'auto', timeouts: { takeover: '90s' } });
  });

  it('refuse a key or value that will not do', async () => {
    expect(await run(['config', 'set', 'failbak', 'auto'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('unknown key failbak: did you mean failback?'),
    });
    const { code, stderr } = await run(['config', 'set', 'foo', 'bar']);
    expect(code).toBe(2);
    expect(stderr).toMatch(/^petrel: unknown key foo: similar keys: \S+, \S+, \S+\n$/);
    expect(await run(['config', 'set', 'minLeadership', '10'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('minLeadership: 10 has no unit: write 10s, 10m or 10h'),
    });
  });
});

describe('petrel config edit', () => {
  it('writes what the editor leaves', async () => {
    const env = await editor('sed -i "s/failback: auto/failback: manual/" "$1"');
    expect(await run(['config', 'edit', '--reason', 'tests'], env)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('Done: configuration: failback: auto → manual'),
    });
    expect((await stored()).failback).toBe('manual');
    expect((await run(['config', 'edit'], env)).stdout).toBe(
      'Nothing to change: the configuration is unchanged\n',
    );
  });

  it('keeps the text of one that is wrong', async () => {
    const env = await editor('echo "failbak: manual" > "$1"');
    const { code, stderr } = await run(['config', 'edit'], env);
    expect(code).toBe(2);
    expect(stderr).toContain('unknown `failbak`; expected one of strategy');
    const kept = /your edited text is saved in (\S+)/.exec(stderr)?.[1] ?? '';
    expect(await readFile(kept, 'utf8')).toBe('failbak: manual\n');
    await rm(join(kept, '..'), { recursive: true });
    expect((await stored()).failback).toBe('auto');
  });

  it('overwrites nothing that somebody else changed meanwhile', async () => {
    // The editor waits until its flag file is gone. The test removes the flag once it has written the other
    // change.
    const flag = join(directory, 'editing');
    const env = await editor(
      `sed -i "s/failback: auto/failback: manual/" "$1"; touch ${flag}; while [ -e ${flag} ]; do sleep 0.05; done`,
    );
    const editing = run(['config', 'edit'], env);
    await until(() => existsSync(flag), { describe: 'the editor to run', timeoutMs: 20_000 });
    await group.configure({ minLeadership: '1h' });
    await rm(flag);
    const { code, stderr } = await editing;
    expect(code).toBe(5);
    expect(stderr).toContain('nothing was written: another client changed');
    expect(await stored()).toMatchObject({ minLeadership: '1h', failback: 'auto' });
    const kept = /your edited text is saved in (\S+)/.exec(stderr)?.[1] ?? '';
    expect(await readFile(kept, 'utf8')).toContain('failback: manual');
    await rm(join(kept, '..'), { recursive: true });
  });

  it('repairs a configuration that cannot be read', async () => {
    await group.store.set(group.paths.config, Buffer.from('failback: sometimes'), 'any');
    expect(await run(['config', 'show'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('petrel config edit'),
    });
    const env = await editor('sed -i "s/sometimes/manual/" "$1"');
    expect(await run(['config', 'edit', '--dry-run', '-f', 'json'], env)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('"configVersion": null'),
    });
    expect((await run(['config', 'show'])).code).toBe(2);
    expect((await run(['config', 'edit'], env)).code).toBe(0);
    expect((await stored()).failback).toBe('manual');
  });
});

describe('petrel config validate', () => {
  it('says what is wrong in a file, without ZooKeeper', async () => {
    const file = join(directory, 'config.yaml');
    await writeFile(
      file,
      stringify({ failback: 'sometimes', backoff: { base: '1h' }, timeouts: { claim: 5 } }),
    );
    const { code, stderr } = await runCommand(['config', 'validate', file], {
      PETREL_ZOOKEEPER: '127.0.0.1:1',
    });
    expect(code).toBe(2);
    expect(stderr).toContain('failback: expected auto, manual, or after:DURATION');
    expect(stderr).toContain('timeouts.claim: 5 has no unit');
    expect(await runCommand(['config', 'validate', join(directory, 'none')])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('cannot read'),
    });
  });
});
