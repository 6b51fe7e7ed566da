/** The reaper of a process that is killed. Uses real processes. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { describe, expect, it } from 'vitest';
import { present } from '../../src/errors.js';
import { systemProcesses } from '../../src/hooks/system-processes.js';
import { builtFixture } from '../support/built.js';
import { childOf } from '../support/process-list.js';
import { until } from '../support/until.js';

const fixture = (name: string) => builtFixture(`guardian/fixtures/${name}`);

/** Starts a process with a reaper and two process groups. The reaper watches only the first group. */
async function watched(): Promise<{ kill(): Promise<void>; end(): Promise<void>; groups: number[] }> {
  const child = spawn(process.execPath, [await fixture('watched')], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const [line] = await once(createInterface({ input: child.stdout }), 'line');
  const exited = once(child, 'exit');
  return {
    groups: String(line).split(' ').map(Number),
    kill: async () => {
      child.kill('SIGKILL');
      await exited;
    },
    end: async () => {
      child.stdin.end();
      await exited;
    },
  };
}

describe('a reaper', () => {
  it('that cannot be started again for want of files takes nobody along, and comes back when there are some', async () => {
    const command = `ulimit -n 64; exec ${process.execPath} ${await fixture('starved')}`;
    const child = spawn('/bin/sh', ['-c', command], { stdio: ['pipe', 'pipe', 'inherit'] });
    try {
      await once(createInterface({ input: child.stdout }), 'line');
      const reaper = () => childOf(child.pid ?? 0, 'petrel-reaper');
      const first = present(reaper(), 'the reaper');
      process.kill(first, 'SIGKILL');
      await until(() => reaper() === null);
      child.stdin.end();
      expect(await until(reaper)).not.toBe(first);
    } finally {
      child.kill('SIGKILL');
    }
  });

  it('kills what a killed process had it watch over, and nothing else', async () => {
    const { groups, kill } = await watched();
    const [over = 0, other = 0] = groups;
    try {
      expect(groups.map((pgid) => systemProcesses.groupIsAlive(pgid))).toEqual([true, true]);
      await kill();
      await until(() => !systemProcesses.groupIsAlive(over), { describe: 'the group to be killed' });
      expect(systemProcesses.groupIsAlive(other)).toBe(true);
    } finally {
      systemProcesses.signalGroup(over, 'SIGKILL');
      systemProcesses.signalGroup(other, 'SIGKILL');
    }
  });

  it('kills nothing when the process has ended in good order', async () => {
    const { groups, end } = await watched();
    try {
      await end();
      expect(groups.map((pgid) => systemProcesses.groupIsAlive(pgid))).toEqual([true, true]);
    } finally {
      for (const pgid of groups) systemProcesses.signalGroup(pgid, 'SIGKILL');
    }
  });
});
