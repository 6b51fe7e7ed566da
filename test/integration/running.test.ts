/** `petrel run` on nodes that lose their connection to the ensemble, or freeze. */
import { describe, expect, it } from 'vitest';
import { spawnBound } from '../support/bound-process.js';
import { Links } from '../support/links.js';
import { oncePerRun } from '../support/once-per-run.js';
import { childOf, isAlive } from '../support/process-list.js';
import { service, useRunGroup } from '../support/run-group.js';
import { useSharedServers } from '../support/servers.js';
import { until } from '../support/until.js';

const servers = useSharedServers();
const at = useRunGroup(() => servers.connectString);

const stubborn = 'trap "say stopping" TERM; while :; do say lives; sleep 0.02; done';

describe('a leader out of touch', () => {
  it.each([
    ['a command that stops', service],
    ['a command that ignores SIGTERM', stubborn],
  ])('has stopped %s before another runs it, and exits with 7', async (_, script) => {
    await using links = await Links.to(servers.all);
    const a = await at().run('a', script, [], links.connectString);
    const { token } = await at().noted('a', 'begins');
    await at().run('b', service);
    await using _cut = links.cut();
    await at().noted('a', 'stopping');
    const next = await at().noted('b', 'begins');
    expect(next.token).toBeGreaterThan(token);
    expect(await a.exited).toEqual({ code: 7, signal: null });
    const last = (await at().notes()).findLast(({ node }) => node === 'a');
    expect(last?.atMs).toBeLessThan(next.atMs);
  });

  it('P10 whose petrel is frozen has its command stopped all the same, and exits with 7 when it wakes', async () => {
    const a = await at().run('a', service);
    const { pid } = await at().noted('a', 'begins');
    await at().run('b', service);
    a.pause();
    await at().noted('a', 'stopping');
    await until(() => !isAlive(pid));
    await at().noted('b', 'begins');
    a.resume();
    expect(await a.exited).toEqual({ code: 7, signal: null });
  });
});

describe('an agent of petrel run that is killed', () => {
  it('after its command was stopped runs it no second time, and exits with 7', async () => {
    await using links = await Links.to(servers.all);
    const a = await at().run('a', service, [], links.connectString);
    await at().noted('a', 'begins');
    await using _cut = links.cut();
    // The agent needs the ensemble for everything that remains to be done.
    await a.logged(/^released/);
    a.signal('SIGKILL');
    expect(await a.exited).toEqual({ code: 7, signal: null });
  });

  it('has its command ended before the guardian, asked to leave meanwhile, exits as usual', async () => {
    const a = await at().run('a', stubborn, ['--restart', 'always']);
    await at().noted('a', 'begins');
    a.signal('SIGKILL');
    await at().noted('a', 'stopping');
    a.term();
    expect(await a.exited).toEqual({ code: 143, signal: null });
  });
});

describe('petrel run in a terminal', () => {
  it('leaves when that is closed, also if nothing but its input is the terminal', async () => {
    const command = `exec ${process.execPath} ${await oncePerRun('build')} run -- sleep 600 >/dev/null 2>&1`;
    const terminal = spawnBound('script', ['--quiet', '--flush', '--command', command, '/dev/null'], {
      stdio: ['pipe', 'ignore', 'ignore'],
      env: {
        PATH: process.env.PATH,
        PETREL_ZOOKEEPER: await servers.connectString,
        PETREL_ROOT: at().root,
        PETREL_NODE_ID: 'a',
        PETREL_STATE_DIR: at().stateDir,
      },
    });
    const guardian = await until(() => childOf(terminal.pid ?? 0, 'main.js'));
    try {
      await until(async () => (await at().view.leader())?.node === 'a');
      terminal.kill('SIGKILL');
      await until(() => !isAlive(guardian), { describe: 'petrel to have left' });
    } finally {
      if (isAlive(guardian)) process.kill(guardian, 'SIGKILL');
    }
  });
});
