import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { describe, expect, it, vi } from 'vitest';
import { isOtherAlive } from '../../src/agent/session/process-life.js';
import { commandOf } from '../support/process-list.js';

describe('another process', () => {
  it('that has ended, and that its parent does not wait for, is not alive', async () => {
    // After `exec`, the parent process knows nothing of its child, so it does not wait for it.
    const parent = spawn('/bin/sh', ['-c', 'sleep 600 & echo $!; exec sleep 600'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    try {
      const [line] = await once(createInterface({ input: parent.stdout }), 'line');
      const child = { pid: Number(line), startedAt: null };
      expect(isOtherAlive(child)).toBe(true);
      // Before `exec`, the shell would wait for the child.
      await vi.waitFor(() => expect(commandOf(parent.pid ?? 0)).toMatch(/^sleep/), { timeout: 120_000 });
      process.kill(child.pid, 'SIGKILL');
      await vi.waitFor(() => expect(isOtherAlive(child)).toBe(false), { timeout: 120_000 });
      // The dead process must still be in the process table. Otherwise the check above proves nothing.
      expect(process.kill(child.pid, 0)).toBe(true);
    } finally {
      parent.kill('SIGKILL');
    }
  });
});
