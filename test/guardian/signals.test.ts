/** V5: what signals do to the processes of a node, and to others of Petrel, as docs/signals.md has it. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { startProcess } from '../support/agents.js';
import { sharedZooKeeper } from '../support/ensemble.js';
import { childOf } from '../support/process-list.js';
import { service, useRunGroup } from '../support/run-group.js';
import { until } from '../support/until.js';

const at = useRunGroup(sharedZooKeeper);
const ignored = ['SIGUSR1', 'SIGUSR2', 'SIGPIPE'] as const;
/** What Node.js says when its inspector begins, or cannot. */
const inspector = /Debugger listening|Starting inspector/;
/** Port 9229, as /proc has it. */
const inspectorPort = ':240D';

function caughtSignals(pid: number): bigint {
  return BigInt(`0x${/^SigCgt:\s*(\S+)/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1] ?? 0}`);
}

function hasInspector(pid: number): boolean {
  const links = readdirSync(`/proc/${pid}/fd`).map((fd) => linkOf(`/proc/${pid}/fd/${fd}`));
  return readFileSync(`/proc/${pid}/net/tcp`, 'latin1')
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .some(
      ([, local = '', , , , , , , , inode]) =>
        local.endsWith(inspectorPort) && links.includes(`socket:[${inode}]`),
    );
}

/** Empty for a file that has been closed meanwhile. */
function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}

describe('V5 a signal', () => {
  it('that is sent to all that somebody knows is ignored by each process of a node', async () => {
    const a = await at().run('a1', service);
    await at().noted('a1', 'begins');
    const agent = a.agentPid ?? 0;
    const sentinel = await until(() => childOf(a.pid, 'petrel-sentinel'));
    for (const pid of [a.pid, agent, sentinel]) for (const signal of ignored) process.kill(pid, signal);
    // What comes after them, and is answered by the agent, to which the guardian passes one of them on.
    process.kill(agent, 'SIGHUP');
    await a.logged(/^settings read anew/);
    process.kill(a.pid, 'SIGHUP');
    await until(() => a.log.filter(({ msg }) => msg.startsWith('settings read anew')).length === 2);
    expect([a.agentPid, childOf(a.pid, 'petrel-sentinel')]).toEqual([agent, sentinel]);
    expect(a.stderr).not.toMatch(inspector);
    expect(await at().notes()).toHaveLength(1);
  });

  it('SIGQUIT, which some images name for their stop, leaves in order', async () => {
    const a = await at().run('a1', service);
    await at().noted('a1', 'begins');
    process.kill(a.pid, 'SIGQUIT');
    expect(await a.exited).toEqual({ code: 4, signal: null });
    await a.logged(/^SIGQUIT: leaving the group/);
    await at().noted('a1', 'told');
  });

  it('SIGUSR1 leaves no inspector behind, though it comes while Node.js starts', async () => {
    await using a = await startProcess(['zookeeper', '--port', '0'], {});
    await until(() => (caughtSignals(a.pid) & (1n << 9n)) !== 0n, { intervalMs: 1 });
    process.kill(a.pid, 'SIGUSR1');
    await until(() => a.stdout !== '');
    await until(() => !hasInspector(a.pid), { describe: 'the inspector to be closed' });
    process.kill(a.pid, 'SIGUSR1');
    process.kill(a.pid, 'SIGTERM');
    expect(await a.exited).toEqual({ code: 0, signal: null });
  });
});
