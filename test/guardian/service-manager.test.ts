/**
 * The messages from a node to systemd, through a socket like systemd's. Messages from other processes must
 * not reach systemd in the node's name.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { sharedZooKeeper } from '../support/ensemble.js';
import { NotifySocket } from '../support/notify-socket.js';
import { service, useRunGroup } from '../support/run-group.js';
import { until } from '../support/until.js';

const at = useRunGroup(sharedZooKeeper);
const command = (script: string) => ['--', '/bin/sh', '-c', script];
const isHere = spawnSync('systemd-notify', ['--version']).status === 0;
const notHere = isHere ? '' : ' (not here: no systemd-notify)';

async function zookeeper(): Promise<{ PETREL_ZOOKEEPER: string }> {
  return { PETREL_ZOOKEEPER: await sharedZooKeeper() };
}

describe.skipIf(!isHere)(`systemd${notHere}`, () => {
  it('is notified when the node has joined, what it does, that it reloads settings, and that it leaves', async () => {
    await using systemd = await NotifySocket.open();
    const a = await at().start(command(service), { ...(await zookeeper()), NOTIFY_SOCKET: systemd.path });
    await systemd.hears('READY=1');
    expect(systemd.states).toEqual(['READY=1']);
    expect(a.log.map(({ msg }) => msg)).toContain(`joined ${at().root}`);
    await systemd.hears(`STATUS=leads ${at().root} in term 1`);
    process.kill(a.pid, 'SIGHUP');
    await until(() => systemd.states.length > 2, { describe: 'the end of the reload' });
    expect(systemd.states).toEqual(['READY=1', 'RELOADING=1', 'READY=1']);
    a.term();
    await a.exited;
    await systemd.hears('STOPPING=1');
    expect(systemd.states).toEqual(['READY=1', 'RELOADING=1', 'READY=1', 'STOPPING=1']);
    expect(systemd.said).not.toContain('WATCHDOG=1');
  });

  it('hears the end of a reload also when the agent dies of it', async () => {
    await using systemd = await NotifySocket.open();
    const a = await at().start(command(service), {
      ...(await zookeeper()),
      NOTIFY_SOCKET: systemd.path,
      PETREL_RESTART: 'always',
    });
    await systemd.hears(`STATUS=leads ${at().root} in term 1`);
    a.pause();
    process.kill(a.pid, 'SIGHUP');
    await systemd.hears('RELOADING=1');
    a.signal('SIGKILL');
    await until(() => systemd.states.length > 2, { describe: 'the end of the reload' });
    expect(systemd.states).toEqual(['READY=1', 'RELOADING=1', 'READY=1']);
  });

  it('hears no READY from a node that cannot reach the ensemble', async () => {
    await using systemd = await NotifySocket.open();
    const env = { PETREL_ZOOKEEPER: '127.0.0.1:1', NOTIFY_SOCKET: systemd.path, WATCHDOG_USEC: '200000' };
    const a = await at().start(command(service), env);
    await systemd.hears(`STATUS=is not connected to ${at().root}`);
    process.kill(a.pid, 'SIGHUP');
    await a.logged(/^settings reloaded/);
    await systemd.hears('WATCHDOG=1');
    expect(systemd.states).toEqual([]);
  });

  it('hears again and again that all is well, also while a dead agent is replaced, and not from a frozen guardian', async () => {
    await using systemd = await NotifySocket.open();
    const watched = { NOTIFY_SOCKET: systemd.path, WATCHDOG_USEC: '200000' };
    const a = await at().start(command(service), {
      ...(await zookeeper()),
      ...watched,
      PETREL_RESTART: 'always',
    });
    await systemd.hears(`STATUS=leads ${at().root} in term 1`);
    const joined = () => a.log.filter(({ msg }) => msg.startsWith('joined')).length;
    // The third pause is long enough to see several pings in it.
    for (const [index, pause] of ['1 s', '2 s', '4 s'].entries()) {
      await until(() => joined() === index + 1, { describe: 'the agent', timeoutMs: 20_000 });
      a.signal('SIGKILL');
      await a.logged(new RegExp(`restarting the agent in ${pause}`));
    }
    const pings = () => systemd.said.filter((line) => line === 'WATCHDOG=1').length;
    const before = pings();
    await until(() => pings() > before + 3, { describe: 'signs of life' });
    expect(joined()).toBe(3);
    process.kill(a.pid, 'SIGSTOP');
    const frozenAtMs = performance.now();
    let [last, lastAtMs] = [pings(), frozenAtMs];
    // Waits until there has been no ping for five times the usual interval.
    await until(() => {
      if (pings() !== last) [last, lastAtMs] = [pings(), performance.now()];
      return performance.now() - lastAtMs > 500;
    });
    process.kill(a.pid, 'SIGCONT');
    await until(() => pings() > last, { describe: 'signs of life' });
  });

  it('is no affair of the agent’s, nor of what it runs', async () => {
    await using systemd = await NotifySocket.open();
    const env = { NOTIFY_SOCKET: systemd.path, WATCHDOG_USEC: '60000000', WATCHDOG_PID: '1' };
    const script = 'echo "[$NOTIFY_SOCKET$WATCHDOG_USEC$WATCHDOG_PID]"; sleep 1000';
    const a = await at().start(command(script), { ...(await zookeeper()), ...env });
    await until(() => a.stdout !== '');
    expect(a.stdout).toBe('[]\n');
    expect(readFileSync(`/proc/${a.agentPid}/environ`, 'latin1')).not.toMatch(/NOTIFY_SOCKET|WATCHDOG/);
  });

  it('that cannot be notified is worth one warning, and nothing else', async () => {
    const env = { NOTIFY_SOCKET: '/nowhere/notify', WATCHDOG_USEC: '50000' };
    const a = await at().start(command('echo leads; exit 0'), { ...(await zookeeper()), ...env });
    expect(await a.exited).toEqual({ code: 0, signal: null });
    expect(a.stdout).toBe('leads\n');
    expect(a.stderr.split('\n').filter((line) => line.includes('cannot notify systemd'))).toHaveLength(1);
  });
});
