/**
 * Fault V5 (docs/reports/faults.md): the effects of signals on the processes of a node, and on other Petrel
 * processes. docs/reference/signals.md describes them.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { startProcess } from '../support/agents.js';
import { builtModule } from '../support/built.js';
import { sharedZooKeeper } from '../support/ensemble.js';
import { catchesUsr1, hasInspector } from '../support/inspector.js';
import { childOf } from '../support/process-list.js';
import { service, useRunGroup } from '../support/run-group.js';
import { until } from '../support/until.js';

const at = useRunGroup(sharedZooKeeper);
const ignored = ['SIGUSR1', 'SIGUSR2', 'SIGPIPE'] as const;
/** Output of Node.js when its inspector starts, or fails to start. */
const inspector = /Debugger listening|Starting inspector/;

describe('V5 a signal', () => {
  it('that is sent to all that somebody knows is ignored by each process of a node', async () => {
    const a = await at().run('a1', service);
    await at().noted('a1', 'begins');
    const agent = a.agentPid ?? 0;
    const reaper = await until(() => childOf(a.pid, 'petrel-reaper'));
    for (const pid of [a.pid, agent, reaper]) for (const signal of ignored) process.kill(pid, signal);
    // The agent answers these later signals. The guardian forwards one of them to the agent.
    process.kill(agent, 'SIGHUP');
    await a.logged(/^settings reloaded/);
    process.kill(a.pid, 'SIGHUP');
    await until(() => a.log.filter(({ msg }) => msg.startsWith('settings reloaded')).length === 2);
    expect([a.agentPid, childOf(a.pid, 'petrel-reaper')]).toEqual([agent, reaper]);
    expect(a.stderr).not.toMatch(inspector);
    expect(await at().notes()).toHaveLength(1);
  });

  it('SIGQUIT, which some images name for their stop, leaves in order', async () => {
    const a = await at().run('a1', service);
    await at().noted('a1', 'begins');
    process.kill(a.pid, 'SIGQUIT');
    expect(await a.exited).toEqual({ code: 4, signal: null });
    await a.logged(/^SIGQUIT: leaving the group/);
    await at().noted('a1', 'stopping');
  });

  it('SIGUSR1 leaves no inspector behind, though it comes while Node.js starts', async () => {
    await using a = await startProcess(['zookeeper', '--port', '0'], {});
    await until(() => catchesUsr1(a.pid), { intervalMs: 1 });
    process.kill(a.pid, 'SIGUSR1');
    await until(() => a.stdout !== '');
    await until(() => !hasInspector(a.pid), { describe: 'the inspector to be closed' });
    process.kill(a.pid, 'SIGUSR1');
    process.kill(a.pid, 'SIGTERM');
    expect(await a.exited).toEqual({ code: 0, signal: null });
  });

  it.each([
    '',
    // This option sets the inspector's address, but does not start an inspector.
    '--inspect-port=127.0.0.1:9229',
  ])('SIGUSR1 leaves no inspector behind in a supervisor either (NODE_OPTIONS=%s)', async (options) => {
    // The signal must come before the supervisor's own code runs.
    const supervisor = fork(await builtModule('hooks/supervisor.js'), ['a1', '/group'], {
      execArgv: ['--import', 'data:text/javascript,process.kill(process.pid,"SIGUSR1")'],
      env: { ...process.env, NODE_OPTIONS: options },
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
    const { pid = 0 } = supervisor;
    const said: string[] = [];
    supervisor.stderr?.setEncoding('utf8').on('data', (text: string) => said.push(text));
    await until(() => inspector.test(said.join('')));
    await until(() => !hasInspector(pid), { describe: 'the inspector to be closed' });
    const exit = once(supervisor, 'exit');
    supervisor.disconnect();
    expect(await exit).toEqual([0, null]);
  });
});
