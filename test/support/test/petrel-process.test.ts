import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { spawnBound } from '../bound-process.js';
import { PetrelProcess } from '../petrel-process.js';
import { until } from '../until.js';

/** Starts a process that runs `script` instead of the command line. */
function start(script: string): PetrelProcess {
  return new PetrelProcess(
    spawnBound(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'pipe'] }),
    '',
    null,
  );
}

const logs = (msg: string) =>
  `console.error(JSON.stringify({ level: 'info', time: 'now', msg: '${msg}', node: 'a' }));`;
const lasts = 'setInterval(() => {}, 1000);';

function stateOf({ pid }: PetrelProcess): string | undefined {
  return /^State:\s+(\S)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
}

describe('a process of the command line', () => {
  it('gives its output, its log and its exit code', async () => {
    await using started = start(
      `console.log('out'); ${logs('hello')} console.error('plain'); process.exitCode = 5;`,
    );
    expect(await started.exited).toEqual({ code: 5, signal: null });
    expect(started.stdout).toBe('out\n');
    expect(started.stderr).toContain('plain\n');
    expect(started.log).toMatchObject([{ level: 'info', msg: 'hello', node: 'a' }]);
  });

  it('waits for a log line, written or to come', async () => {
    await using started = start(`${logs('one')} setTimeout(() => { ${logs('two')} }, 50); ${lasts}`);
    expect(await started.logged(/two/)).toMatchObject({ msg: 'two' });
    expect(await started.logged((line) => line.msg === 'one')).toMatchObject({ msg: 'one' });
  });

  it('does not wait for a line from a process that has ended', async () => {
    await using started = start(logs('one'));
    await expect(started.logged(/two/)).rejects.toThrow('ended without a log line');
    expect(await started.logged(/one/)).toBeDefined();
  });

  it('can be frozen, resumed, asked to leave and killed', async () => {
    const onTerm = `process.on('SIGTERM', () => { ${logs('leaving')} });`;
    await using started = start(`${onTerm} ${logs('up')} ${lasts}`);
    await started.logged(/up/);
    started.pause();
    await until(() => stateOf(started) === 'T');
    started.resume();
    started.term();
    await started.logged(/leaving/);
    await started.kill9();
    expect(started.running).toBe(false);
    expect(await started.exited).toEqual({ code: null, signal: 'SIGKILL' });
  });

  it('counts as ended though something it started holds its output', async () => {
    const child = `require('child_process').spawn('sleep', ['2'], { stdio: 'inherit' }).on('spawn', () => { ${logs('up')} });`;
    await using started = start(`${child} ${lasts}`);
    await started.logged(/up/);
    await started.kill9();
    expect(started.running).toBe(false);
  });
});
