/** What an agent asks its supervisor to run. */
import { describe, expect, it } from 'vitest';
import type { HookCommands } from '../../src/hooks/command-workload.js';
import type { Phase } from '../../src/ports/workload.js';
import { context } from './hook-context.js';
import { all, first, stage } from './played-supervisor.js';

describe('a supervisor', () => {
  it.each<[Partial<HookCommands>, number]>([
    [{ onTakeover: 'x' }, 1],
    [{ onRelease: 'x' }, 1],
    [{ onPrepare: 'x', onFence: 'x' }, 0],
    [{}, 0],
  ])('is started at once where there is something to take over or to release: %j', (commands, count) => {
    expect(stage(commands).supervisors).toHaveLength(count);
  });

  it.each([true, false])('learns its node, its group, and whether it passes output on: %s', (foreground) => {
    const { options } = first(stage(all, { foreground }));
    expect(options).toEqual({ node: 'a1', root: '/cluster', passesOutput: foreground });
  });

  it('is started for the first hook where it was not needed before', () => {
    const on = stage({ onFence: 'fence' });
    void on.workload.run(context('fence'));
    expect(first(on).types).toEqual(['run']);
  });
});

describe('a phase', () => {
  it.each<[Partial<HookCommands>, readonly Phase[]]>([
    [{}, []],
    [{ onTakeover: 'x' }, ['takeover', 'release']],
    [{ onRelease: 'x' }, ['takeover', 'release']],
    [{ onPrepare: 'x' }, ['prepare']],
    [{ onFence: 'x' }, ['fence']],
  ])('has something to run: %j', (commands, expected) => {
    const phases = ['prepare', 'takeover', 'release', 'fence'] as const;
    expect(phases.filter((phase) => stage(commands).workload.has(phase))).toEqual(expected);
  });

  it('without anything to run has succeeded at once', async () => {
    const on = stage({ onFence: 'fence' });
    const run = on.workload.run(context('takeover'));
    run.abort('too late');
    expect(await run.outcome).toMatchObject({ result: 'ok', command: null, provenDead: true });
    expect(on.supervisors).toHaveLength(0);
  });
});

describe('a request', () => {
  it('says what to run, for which leadership, and how long', () => {
    const on = stage(all, { environment: { EXTRA: 'yes' } });
    void on.workload.run(context('takeover', { slot: 2, slots: 3 }));
    expect(first(on).requests[0]).toMatchObject({
      id: 1,
      leadership: 1,
      phase: 'takeover',
      term: 3,
      slot: 2,
      name: 'onTakeover',
      foreground: false,
      command: { program: 'take', args: ['over'], text: 'take over' },
      env: { EXTRA: 'yes', PETREL_RUN: 'one.1', PETREL_PHASE: 'takeover' },
      timeoutMs: 10_000,
      graceMs: 2_000,
    });
  });

  it('names a slot only in a group that has several, and a leadership only where it belongs to one', () => {
    const on = stage();
    for (const phase of ['prepare', 'takeover', 'release'] as const) void on.workload.run(context(phase));
    expect(first(on).requests.map(({ id, leadership, slot }) => [id, leadership, slot])).toEqual([
      [1, 0, null],
      [2, 1, null],
      [3, 1, null],
    ]);
  });

  it('for a command in the foreground calls its takeover the workload', () => {
    const on = stage({ onTakeover: 'serve' }, { foreground: true });
    void on.workload.run(context('takeover'));
    void on.workload.run(context('release'));
    expect(first(on).requests).toMatchObject([
      { name: 'the workload', foreground: true, command: { text: 'serve' } },
      { name: 'onRelease', foreground: false, command: null },
    ]);
  });

  it('can be aborted until it has settled', async () => {
    const on = stage();
    const run = on.workload.run(context('takeover'));
    run.abort('b1 is elected', 900);
    run.abort('b1 is elected');
    const abort = { type: 'abort', id: 1, reason: 'b1 is elected' };
    expect(first(on).sent.slice(1)).toEqual([
      { ...abort, killAtMs: 900 },
      { ...abort, killAtMs: null },
    ]);
    await first(on).ended(1, { result: 'aborted', error: 'onTakeover was aborted' });
    run.abort('again');
    expect(first(on).sent).toHaveLength(3);
    expect(await run.outcome).toMatchObject({ result: 'aborted' });
  });

  it('is logged from its start to its end, with its output', async () => {
    const on = stage();
    void on.workload.run(context('takeover'));
    const supervisor = first(on);
    await supervisor.says({ type: 'started', id: 1, pgid: 5_102 });
    await supervisor.says({ type: 'line', id: 1, stream: 'stderr', text: 'hello' });
    await supervisor.says({ type: 'left-out', id: 1, lines: 7 });
    await supervisor.ended(1);
    await supervisor.says({ type: 'line', id: 1, stream: 'stdout', text: 'from the background' });
    await supervisor.says({ type: 'gone', pgid: 5_102 });
    await supervisor.says({ type: 'line', id: 1, stream: 'stdout', text: 'of nobody' });
    expect(on.logged).toEqual([
      'info takeover onTakeover started',
      'info takeover stderr hello',
      'warn takeover 7 lines of output were dropped because they came too fast',
      'info takeover onTakeover succeeded',
      'info takeover stdout from the background',
      'info stdout of nobody',
    ]);
  });

  it('settles once, whatever comes afterwards', async () => {
    const on = stage();
    const run = on.workload.run(context('prepare'));
    const supervisor = first(on);
    await supervisor.says({ type: 'started', id: 1, pgid: 5_102 });
    await supervisor.ended(1, { exitCode: 0 });
    await supervisor.ended(1, { exitCode: 1, result: 'failed' });
    await supervisor.ended(9);
    expect(await run.outcome).toMatchObject({ exitCode: 0 });
    expect(on.logged.filter((line) => line.includes('onPrepare'))).toHaveLength(2);
  });

  it('is forgotten with its processes, and no sooner', async () => {
    const on = stage();
    const supervisor = first(on);
    for (const pgid of [5_102, 5_103]) {
      void on.workload.run(context('takeover'));
      await supervisor.says({ type: 'started', id: pgid - 5_101, pgid });
      await supervisor.ended(pgid - 5_101);
    }
    void on.workload.run(context('prepare'));
    await supervisor.ended(3);
    await supervisor.says({ type: 'gone', pgid: 5_103 });
    const heard = on.logged.length;
    for (const id of [1, 2, 3])
      await supervisor.says({ type: 'line', id, stream: 'stdout', text: `from ${id}` });
    expect(on.logged.slice(heard)).toEqual([
      'info takeover stdout from 1',
      'info stdout from 2',
      'info stdout from 3',
    ]);
  });
});

it('the end of a leadership starts no supervisor', () => {
  const on = stage({ onFence: 'fence' });
  on.workload.endLeadership();
  expect(on.supervisors).toHaveLength(0);
});
