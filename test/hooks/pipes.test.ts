/** Fault A3 (docs/reports/faults.md): a hook can open its outputs by name. Uses real processes. */
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { HookProcess } from '../../src/hooks/hook-process.js';
import { keepPipesReady } from '../../src/hooks/pipes.js';
import { context } from './hook-context.js';
import { bench, machine } from './support.js';

const at = bench();
afterEach(() => vi.unstubAllEnvs());

function run(script: string, on = machine) {
  const lines: string[] = [];
  const spec = {
    name: 'onTakeover',
    program: '/bin/sh',
    args: ['-c', script],
    commandText: script,
    env: {},
    timeoutMs: 30_000,
    graceMs: 1_000,
    leavesWorkload: false,
    passesOutput: false,
    drainMs: 30_000,
  };
  const hook = new HookProcess(
    spec,
    { line: (stream, text) => lines.push(`${stream} ${text}`), leftOut: () => {} },
    on,
  );
  return hook.outcome.then((outcome) => ({ ...outcome, lines }));
}

/** Returns a machine on which no pipes are ready. */
async function freshMachine() {
  vi.resetModules();
  const { systemProcesses } = await import('../../src/hooks/system-processes.js');
  return { ...machine, processes: systemProcesses };
}

const opens = 'set -e; echo one > /dev/stderr; echo two > /dev/stdout; echo three >> /proc/self/fd/2';
const written = ['stderr one', 'stderr three', 'stdout two'];

describe('A3 a hook', () => {
  it('can open /dev/stderr and /dev/stdout', async () => {
    const workload = at().workload({ onTakeover: opens, onRelease: opens });
    for (const phase of ['takeover', 'release'] as const) {
      const { result, outputTail } = await workload.run(context(phase)).outcome;
      expect(result).toBe('ok');
      expect([...outputTail].sort()).toEqual(['one', 'three', 'two']);
    }
  });

  it('can, however many run at the same time, and each gets its own output', async () => {
    const hooks: ReturnType<typeof run>[] = [];
    for (let n = 0; n < 12; n++) {
      // If more hooks start at the same time than there are pipes ready, the result depends on the speed of
      // mkfifo.
      if (n % 4 === 0) await keepPipesReady();
      hooks.push(run(`${opens}; echo mine ${n}; sleep 0.2`));
    }
    const outcomes = await Promise.all(hooks);
    outcomes.forEach(({ result, error, lines }, n) => {
      expect({ result, error }, lines.join('\n')).toEqual({ result: 'ok', error: null });
      expect(lines.sort()).toEqual([...written, `stdout mine ${n}`].sort());
    });
  });

  it('can where /dev/shm takes a directory, but no pipe', async () => {
    const bin = at().directory;
    const fake = `#!/bin/sh\ncase "$*" in */dev/shm/*) exit 1; esac\nPATH=\${PATH#*:} exec mkfifo "$@"\n`;
    writeFileSync(join(bin, 'mkfifo'), fake, { mode: 0o755 });
    vi.stubEnv('PATH', `${bin}:${process.env.PATH}`);
    const full = await freshMachine();
    for (let n = 0; n < 6; n++) expect((await run(opens, full)).error).toBeNull();
  });

  it('runs, and is read, where no pipes can be made', async () => {
    vi.stubEnv('PATH', '/nowhere');
    const without = await freshMachine();
    const { result, lines } = await run('echo one >&2; echo two', without);
    expect(result).toBe('ok');
    expect(lines.sort()).toEqual(['stderr one', 'stdout two']);
    expect((await run(opens, without)).result).toBe('failed');
  });

  it('has no pipes of others open, and leaves none', async () => {
    await keepPipesReady();
    const own = readdirSync('/proc/self/fd').length;
    for (let n = 0; n < 20; n++) await run(opens);
    await keepPipesReady();
    // Each pair of pipes that is ready uses four descriptors.
    expect(readdirSync('/proc/self/fd').length).toBeLessThan(own + 4 * 8 + 1);
    // Only stderr of `ls` is a pipe of Petrel, because its stdout is the pipe to `grep`.
    const { lines } = await run('ls -l /proc/self/fd | grep -c petrel-pipes');
    expect(lines).toEqual(['stdout 1']);
  });
});
