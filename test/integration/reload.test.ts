/** SIGHUP reloads settings while the node runs. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { PetrelProcess } from '../support/agents.js';
import { startProcess } from '../support/agents.js';
import { sharedZooKeeper } from '../support/ensemble.js';
import { signalIfAlive } from '../support/process-list.js';
import { useRunGroup } from '../support/run-group.js';
import { until } from '../support/until.js';

const at = useRunGroup(sharedZooKeeper);
let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'petrel-reload-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

const inDirectory = (name: string) => join(directory, name);

interface Settings {
  readonly lines?: readonly string[];
  readonly healthCheck?: string;
  readonly onRelease?: string;
}

function write({ lines = [], healthCheck = 'exit 0', onRelease = 'exit 0' }: Settings): void {
  const hooks = [
    'hooks:',
    '  healthCheckInterval: 100ms',
    `  healthCheck: ${healthCheck}`,
    `  onRelease: ${onRelease}`,
  ];
  writeFileSync(inDirectory('petrel.yaml'), [...lines, ...hooks, ''].join('\n'));
}

async function startLeader(settings: Settings, env: Readonly<Record<string, string>> = {}) {
  write(settings);
  const agent = await startProcess(['agent', '--config', inDirectory('petrel.yaml')], {
    PETREL_ZOOKEEPER: await sharedZooKeeper(),
    PETREL_ROOT: at().root,
    PETREL_NODE_ID: 'a1',
    ...env,
  });
  await agent.logged(/^READY/);
  return agent;
}

/** Returns the agent's log line about one reload. */
async function reload(agent: PetrelProcess, settings: Settings) {
  write(settings);
  const after = agent.log.length;
  process.kill(agent.pid, 'SIGHUP');
  return await agent.logged(/^(settings reloaded|keeping the old settings)/, { after });
}

describe('a leader that gets SIGHUP', () => {
  it('A4 names the secrets that were replaced in their files, and need a restart', async () => {
    const [auth, secret] = [inDirectory('auth'), inDirectory('probe')];
    const replace = (path: string, text: string) => writeFileSync(path, `${text}\n`, { mode: 0o600 });
    replace(auth, 'digest:a:first');
    replace(secret, 'the first secret of sixteen');
    const lines = [`authFile: ${auth}`, `probe: { listen: 127.0.0.1:0, secretFile: ${secret} }`];
    const agent = await startLeader({ lines }, { PETREL_PROBE_SECRET: '', PETREL_AUTH: '' });
    const after = agent.log.length;
    expect((await reload(agent, { lines })).msg).toBe('settings reloaded: no setting has changed');
    replace(auth, 'digest:a:second');
    replace(secret, 'the second secret of sixteen');
    await reload(agent, { lines });
    const { msg, settings } = await agent.logged(/take effect after a restart/, { after });
    expect(msg).toBe('these settings take effect after a restart: authFile, probe.secretFile');
    expect(settings).toEqual(['authFile', 'probe.secretFile']);
  });

  it('P49 has its new priority, tags, log level and health check at once, and leads on', async () => {
    await using agent = await startLeader({ lines: ['priority: 5'] });
    const leader = await at().view.leader();
    const lines = ['priority: 7', 'tags: { rack: r2 }', 'logLevel: debug'];
    const { msg } = await reload(agent, {
      lines,
      healthCheck: `touch ${inDirectory('checked')}; echo sound`,
    });
    expect(msg).toContain(
      'priority is 7, tags is {"rack":"r2"}, logLevel is debug, hooks.healthCheck is touch',
    );
    await until(() => readFile(inDirectory('checked')).then(() => true));
    const registration = () => at().view.registration('a1');
    await until(async () => (await registration())?.priority === 7);
    expect(await registration()).toMatchObject({ tags: { rack: 'r2' }, health: { ok: true } });
    await agent.logged(/^sound$/);
    expect((await reload(agent, { lines: ['priority: 5'] })).msg).toContain('priority is 5, tags is empty');
    await until(async () => (await registration())?.priority === 5);
    expect(await at().view.leader()).toEqual(leader);
  });

  it('measures by its new sources of scores at once', async () => {
    await using agent = await startLeader({ lines: ['scores: { load: echo 1, lag: echo 2 }'] });
    const published = async () => Object.fromEntries((await at().view.scores('a1')) ?? []);
    await until(async () => isDeepStrictEqual(await published(), { load: 1, lag: 2 }));
    const load = '{ command: echo 9223372036854775807, tolerance: 0 }';
    const { msg } = await reload(agent, { lines: [`scores: { load: ${load} }`] });
    expect(msg).toContain('scores is {"load":{"command":"echo 9223372036854775807","every":"1s"');
    await until(async () => isDeepStrictEqual(await published(), { load: 9223372036854775807n }), {
      timeoutMs: 20_000,
    });
    const bad = await reload(agent, { lines: ['scores: { load: [/not/there] }'] });
    expect(bad.msg).toContain('keeping the old settings: scores.load: program "/not/there" not found');
  });

  it('names what takes a restart, and leaves it as it is', async () => {
    await using agent = await startLeader({});
    const lines = ['sessionTimeout: 9s', 'site: b', 'priority: 7'];
    const onRelease = `touch ${inDirectory('released')}`;
    const { msg } = await reload(agent, { lines, onRelease });
    expect(msg).toBe('settings reloaded: priority is 7');
    const late = await agent.logged(/after a restart/);
    expect(late).toMatchObject({ level: 'warn', settings: ['site', 'sessionTimeout', 'hooks.onRelease'] });
    await until(async () => (await at().view.registration('a1'))?.priority === 7);
    expect(await at().view.registration('a1')).toMatchObject({ site: 'default' });
    agent.term();
    await agent.exited;
    await expect(readFile(inDirectory('released'))).rejects.toThrow('ENOENT');
  });

  it('while it leaves reads them, and leaves all the same', async () => {
    const onRelease = `touch ${inDirectory('releasing')}; until test -e ${inDirectory('go')}; do sleep 0.02; done`;
    // Both reloads must be over before the release hook times out.
    await at().view.changeConfig((config) => {
      config.timeouts.release = '60s';
    });
    await using agent = await startLeader({ lines: ['priority: 5'], onRelease });
    const pid = agent.agentPid ?? 0;
    agent.term();
    await until(() => readFile(inDirectory('releasing')).then(() => true));
    expect((await reload(agent, { lines: ['priority: 7'], onRelease })).msg).toContain('priority is 7');
    process.kill(pid, 'SIGHUP');
    await agent.logged(/no setting has changed/);
    writeFileSync(inDirectory('go'), '');
    expect(await agent.exited).toEqual({ code: 0, signal: null });
    expect(
      agent.log.filter(({ msg }) => /^onRelease (started|succeeded)|left the group/.test(msg)),
    ).toHaveLength(3);
    expect(await at().view.registration('a1')).toBeNull();
  });

  it.each(['SIGHUP', 'SIGTERM', 'SIGINT'] as const)(
    '%s to its agent when that has left changes nothing',
    async (signal) => {
      // A health check that ignores SIGTERM delays the agent's exit until everything else is done.
      const isSlow = inDirectory('slow');
      const healthCheck = `if test -e ${isSlow}; then trap "" TERM; touch ${isSlow}.now; sleep 5; fi`;
      await using agent = await startLeader({ healthCheck });
      const pid = agent.agentPid ?? 0;
      writeFileSync(isSlow, '');
      await until(() => readFile(`${isSlow}.now`).then(() => true));
      agent.term();
      await agent.logged(/^left the group/);
      // On a very slow machine, the agent may have exited by now.
      signalIfAlive(pid, signal);
      expect(await agent.exited).toEqual({ code: 0, signal: null });
    },
  );

  it('changes nothing for what cannot be, and says why', async () => {
    await using agent = await startLeader({ lines: ['priority: 5'] });
    for (const [settings, why] of [
      // An invalid setting, a file that is not YAML, and a health check that does not exist.
      [{ lines: ['priority: 7', 'site: a/b'] }, /petrel\.yaml:2:\d+: site/],
      [{ lines: ['priority: 7', '- {'] }, /petrel\.yaml/],
      [{ lines: ['priority: 7'], healthCheck: '[/no/such]' }, /not found/],
    ] as const) {
      const line = await reload(agent, settings);
      expect(line).toMatchObject({
        level: 'error',
        msg: expect.stringMatching(/^keeping the old settings/),
      });
      expect(line.msg).toMatch(why);
      expect((await reload(agent, { lines: ['priority: 5'] })).msg).toBe(
        'settings reloaded: no setting has changed',
      );
      expect(await at().view.registration('a1')).toMatchObject({ priority: 5, health: { ok: true } });
    }
  });

  it('whose environment says otherwise keeps to that', async () => {
    await using agent = await startLeader({ lines: ['priority: 5'] }, { PETREL_PRIORITY: '6' });
    expect((await reload(agent, { lines: ['priority: 7'] })).msg).toBe(
      'settings reloaded: no setting has changed',
    );
  });
});
