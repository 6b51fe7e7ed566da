/** A supervisor that has died, hangs, or is no longer needed. */
import { describe, expect, it } from 'vitest';
import { now, settled } from '../support/hand-clock.js';
import { context } from './hook-context.js';
import { first, leader, type Stage, stage } from './played-supervisor.js';

/** Longest duration of a run, and how long the supervisor may be silent afterwards. */
const longestMs = 14_000;
const patienceMs = 10_000;

describe('a supervisor that has died', () => {
  it('is replaced once everything that it ran is dead, and its loss is reported', async () => {
    const on = await leader();
    on.alive.set(5_103, 'one.2');
    const run = on.workload.run(context('fence', { phase: 'prepare' }));
    await on.supervisor.dies();
    expect(on.logged.at(-1)).toBe(
      'error the supervisor, which runs the hooks, was killed: killing the processes that it started',
    );
    const late = on.workload.run(context('prepare'));
    on.workload.holdLease({ releaseAtMs: 6_000, endsAtMs: 7_000 }, context('release', { reason: 'new' }));
    expect(on.supervisors).toHaveLength(1);
    await on.clock.advance(100);
    expect([...on.alive]).toEqual([]);
    expect(await run.outcome).toMatchObject({
      result: 'failed',
      error: 'the supervisor was killed',
      provenDead: true,
    });
    expect(on.ends).toEqual([{ cause: 'guard-lost', reason: 'the supervisor was killed', provenDead: true }]);
    const next = first(on, 1);
    expect(next.sent).toMatchObject([
      { type: 'guard', begun: true },
      { type: 'lease', leadership: 1, releaseAtMs: 6_000 },
      { type: 'run', request: { id: 3 } },
      { type: 'guard' },
      { type: 'lease', releaseAtMs: 6_000 },
    ]);
    await next.ended(3);
    expect(await late.outcome).toMatchObject({ result: 'ok' });
  });

  it('leaves its release to the next one, once', async () => {
    const on = await leader();
    const run = on.workload.run(context('release'));
    await on.supervisor.dies();
    await on.clock.advance(100);
    expect(first(on, 1).requests).toMatchObject([{ id: 2, phase: 'release' }]);
    expect(await now(run.outcome)).toBe('pending');
    await first(on, 1).dies('was killed again');
    await on.clock.advance(100);
    expect(await now(run.outcome)).toMatchObject({
      result: 'failed',
      error: 'the supervisor was killed again',
    });
    expect(on.supervisors).toHaveLength(2);
  });

  it('leaves nothing but its release to the next one', async () => {
    const on = await leader();
    const prepare = on.workload.run(context('prepare'));
    void on.workload.run(context('release'));
    await on.supervisor.dies();
    await on.clock.advance(100);
    expect(first(on, 1).requests).toMatchObject([{ id: 3 }]);
    expect(await now(prepare.outcome)).toMatchObject({ result: 'failed' });
  });

  it('leaves no release of an earlier leadership to the next one', async () => {
    const on = await leader();
    const release = on.workload.run(context('release'));
    on.workload.endLeadership();
    await on.supervisor.dies();
    await on.clock.advance(100);
    expect(await now(release.outcome)).toMatchObject({ result: 'failed' });
    expect(on.supervisors).toHaveLength(1);
  });

  it('has a late release of an earlier leadership not taken for that of the present one', async () => {
    const on = await leader();
    void on.workload.run(context('release'));
    on.workload.endLeadership();
    void on.workload.run(context('takeover'));
    await on.supervisor.ended(2);
    await on.supervisor.dies();
    await on.clock.advance(100);
    expect(on.ends).toMatchObject([{ cause: 'guard-lost' }]);
  });

  it('has the release killed that it ran by itself', async () => {
    const on = await leader();
    on.alive.set(5_200, 'one.0');
    await on.supervisor.dies();
    await on.clock.advance(100);
    expect([...on.alive]).toEqual([]);
  });

  it('leaves no release to the next one that was aborted', async () => {
    const on = await leader();
    const run = on.workload.run(context('release'));
    run.abort('no more');
    await on.supervisor.dies();
    await on.clock.advance(100);
    expect(await now(run.outcome)).toMatchObject({ result: 'failed' });
  });

  it('is no loss to a leadership that was released or has not begun', async () => {
    const on = await leader();
    void on.workload.run(context('release'));
    await on.supervisor.ended(2);
    await on.supervisor.dies();
    await on.clock.advance(100);
    expect(on.ends).toEqual([]);
    const idle = stage();
    void idle.workload.run(context('prepare'));
    await first(idle).dies();
    await idle.clock.advance(100);
    expect(idle.ends).toEqual([]);
    expect(idle.supervisors).toHaveLength(1);
    for (const one of [on, idle]) {
      one.workload.holdLease({ releaseAtMs: 6_000, endsAtMs: 7_000 }, context('release'));
      expect(first(one, 1).sent).toMatchObject([{ type: 'guard', begun: false }, { type: 'lease' }]);
    }
  });

  it('leaves groups that do not die to the next one, which adopts them', async () => {
    const on = await leader();
    const forever = on.alive;
    forever.delete = () => false;
    await on.supervisor.dies();
    await on.clock.advance(3_000);
    expect(on.ends).toEqual([
      { cause: 'guard-lost', reason: 'the supervisor was killed', provenDead: false },
    ]);
    on.workload.holdLease({ releaseAtMs: 6_000, endsAtMs: 7_000 }, context('release'));
    expect(first(on, 1).sent[0]).toEqual({ type: 'adopt', pgid: 5_102 });
    expect(first(on, 1).types).toEqual(['adopt', 'guard', 'lease']);
  });

  it('is heard only if it is the present one', async () => {
    const on = await leader();
    await on.supervisor.dies();
    await on.clock.advance(100);
    const run = on.workload.run(context('prepare'));
    await on.supervisor.dies();
    await on.clock.advance(100);
    expect(on.supervisors).toHaveLength(2);
    expect(await now(run.outcome)).toBe('pending');
  });
});

describe('a supervisor that hangs', () => {
  it('is killed when its runs should have ended long ago', async () => {
    const on = stage();
    void on.workload.run(context('prepare'));
    await on.clock.advance(longestMs + patienceMs - 1);
    expect(first(on).killed).toEqual([]);
    await on.clock.advance(1);
    expect(first(on).killed).toEqual(['did not report the processes that it runs']);
  });

  it.each([
    [
      'it says something',
      async (on: Stage) => first(on).says({ type: 'line', id: 1, stream: 'stdout', text: '…' }),
      1,
    ],
    ['its runs have ended', async (on: Stage) => first(on).ended(1), 0],
    ['it has died', async (on: Stage) => first(on).dies(), 0],
  ])('is not killed where %s', async (_what, happens, later) => {
    const on = stage();
    void on.workload.run(context('prepare'));
    await on.clock.advance(longestMs);
    await happens(on);
    await on.clock.advance(longestMs + patienceMs - 1);
    expect(first(on).killed).toEqual([]);
    await on.clock.advance(1);
    expect(first(on).killed).toHaveLength(later);
  });

  it('is not killed if it has died in the same moment', async () => {
    const on = stage();
    void on.workload.run(context('prepare'));
    on.clock.freeze(longestMs + patienceMs);
    const fired = on.clock.advance(0);
    await first(on).dies();
    await fired;
    expect(first(on).killed).toEqual([]);
  });

  it('is not killed if its message was waiting while the agent was stalled', async () => {
    const on = stage();
    void on.workload.run(context('prepare'));
    on.clock.freeze(longestMs + patienceMs);
    const fired = on.clock.advance(0);
    await first(on).ended(1);
    await fired;
    expect(first(on).killed).toEqual([]);
  });
});

describe('a workload that is closed', () => {
  it('waits for its supervisor to leave, and settles what is still running', async () => {
    const on = await leader();
    const run = on.workload.run(context('prepare'));
    const closed = on.workload.close();
    expect(on.supervisor.hasLeft).toBe(true);
    await on.clock.advance(1_000);
    expect(await now(closed)).toBe('pending');
    on.alive.clear();
    on.supervisor.left();
    await settled();
    await on.clock.advance(100);
    expect(await now(closed)).toBe(true);
    expect(await run.outcome).toMatchObject({
      result: 'aborted',
      error: 'the process that runs the hooks closed its channel before it exited',
      provenDead: true,
    });
    expect(on.clock.armed).toBe(0);
  });

  it('may have its runs aborted until they have ended', async () => {
    const on = await leader();
    const run = on.workload.run(context('prepare'));
    void on.workload.close();
    run.abort('b1 is elected');
    expect(on.supervisor.sent.at(-1)).toMatchObject({ type: 'abort', id: 2 });
  });

  it('reports no loss, and repeats nothing, while its dead supervisor is cleared away', async () => {
    const on = await leader();
    void on.workload.run(context('release'));
    await on.supervisor.dies();
    const closed = on.workload.close();
    await on.clock.advance(1_000);
    expect(await now(closed)).toBe(true);
    expect(on.ends).toEqual([]);
    expect(on.supervisors).toHaveLength(1);
  });

  it('kills a supervisor that does not leave', async () => {
    const on = await leader();
    void on.workload.run(context('prepare', { timeoutMs: 20_000 }));
    void on.workload.close();
    await on.clock.advance(24_000 + patienceMs - 1);
    expect(on.supervisor.killed).toEqual([]);
    await on.clock.advance(1);
    expect(on.supervisor.killed).toEqual(['did not exit']);
  });

  it('runs nothing any more, and cannot prove that a release is done', async () => {
    const on = stage({ onFence: 'x', onTakeover: 'x' });
    void on.workload.close();
    first(on).left();
    await settled();
    for (const [phase, provenDead] of [
      ['takeover', true],
      ['fence', true],
      ['release', false],
    ] as const) {
      const run = on.workload.run(context(phase));
      run.abort('again');
      expect(await run.outcome).toMatchObject({
        result: 'aborted',
        error: 'not started: closed',
        provenDead,
      });
    }
    on.workload.holdLease({ releaseAtMs: 1, endsAtMs: 2 }, context('release'));
    await first(on).dies();
    await on.clock.advance(100);
    expect(first(on).sent).toEqual([]);
    expect(on.logged).toEqual([]);
    expect(on.supervisors).toHaveLength(1);
  });
});
