/** The leases that an agent sends to its supervisor, and what follows from their end. */
import { describe, expect, it } from 'vitest';
import type { HookResult } from '../../src/ports/workload.js';
import { context } from './hook-context.js';
import { first, leader, ok, type Played, type Stage, stage } from './played-supervisor.js';

describe('the lease of a leadership', () => {
  const lease = { releaseAtMs: 4_000, endsAtMs: 5_000 };

  it('is sent with the release that it guards, and then alone', () => {
    const on = stage();
    const release = context('release');
    on.workload.holdLease(lease, release);
    on.workload.holdLease({ releaseAtMs: 4_500, endsAtMs: 5_500 }, release);
    expect(first(on).sent).toMatchObject([
      { type: 'guard', begun: false, release: { id: 0, phase: 'release', env: { PETREL_RUN: 'one.0' } } },
      { type: 'lease', leadership: 1, ...lease },
      { type: 'lease', leadership: 1, releaseAtMs: 4_500, endsAtMs: 5_500 },
    ]);
  });

  it('is not sent where there is nothing to release', () => {
    const on = stage({ onFence: 'fence' });
    on.workload.holdLease(lease, context('release'));
    expect(on.supervisors).toHaveLength(0);
  });

  it('belongs to the next leadership once one has ended', async () => {
    const on = await leader();
    on.workload.endLeadership();
    on.workload.holdLease(lease, context('release'));
    void on.workload.run(context('takeover'));
    expect(on.supervisor.sent.slice(3)).toMatchObject([
      { type: 'end-leadership', leadership: 1 },
      { type: 'guard' },
      { type: 'lease', leadership: 2 },
      { type: 'run', request: { leadership: 2 } },
    ]);
  });

  it('that has ended already is left to the supervisor', async () => {
    const on = stage();
    void on.workload.run(context('takeover'));
    await on.clock.advance(5_000);
    on.workload.holdLease(lease, context('release'));
    await on.clock.advance(5_000);
    expect([on.logged, first(on).killed]).toEqual([[], []]);
  });

  it('that ends before anything has begun has nothing killed', async () => {
    const on = stage();
    on.workload.holdLease(lease, context('release'));
    await on.clock.advance(9_000);
    expect([on.logged, first(on).killed]).toEqual([[], []]);
  });

  it('that the supervisor ended ends the leadership, and is reported', async () => {
    const on = await leader();
    await on.supervisor.says({ type: 'lease-ended', leadership: 7, outcome: ok, leaseLeftMs: 1 });
    expect(on.ends).toEqual([]);
    await on.supervisor.says({ type: 'lease-ended', leadership: 1, outcome: ok, leaseLeftMs: 300 });
    expect(on.ends).toEqual([{ cause: 'lease-ended', release: ok, leaseLeftMs: 300 }]);
    expect(on.logged.at(-1)).toBe('info release onRelease, run by the supervisor, succeeded');
    await on.supervisor.says({ type: 'lease-ended', leadership: 1, outcome: ok, leaseLeftMs: 300 });
    expect(on.ends).toHaveLength(1);
  });

  it('that ends unnoticed by the supervisor has the processes killed, and a second later the supervisor', async () => {
    const on = await leader();
    await on.clock.advance(4_999);
    expect(on.signals).toEqual([]);
    await on.clock.advance(1);
    expect(on.logged.at(-1)).toBe(
      'error the supervisor did not end the leadership before the lease expired: killing the processes that it started',
    );
    expect(on.signals[0]).toBe('5000: SIGTERM 5102');
    expect(on.signals).toContain('5000: SIGKILL 5102');
    await on.clock.advance(999);
    expect(on.supervisor.killed).toEqual([]);
    await on.clock.advance(1);
    expect(on.supervisor.killed).toEqual(['did not end the leadership']);
    expect(on.logged.at(-1)).toBe(
      'error the supervisor, which runs the hooks, did not end the leadership: it is hanging, and this agent is killing it',
    );
  });

  it.each([
    [
      'before it ends',
      async (on: Stage & { supervisor: Played }) => {
        void on.workload.run(context('release'));
        await on.supervisor.ended(2);
        await on.clock.advance(9_000);
      },
      [],
    ],
    [
      'within the second after it ended',
      async (on: Stage & { supervisor: Played }) => {
        await on.clock.advance(5_500);
        await on.supervisor.says({ type: 'lease-ended', leadership: 1, outcome: ok, leaseLeftMs: -300 });
        await on.clock.advance(9_000);
      },
      ['5000: SIGTERM 5102'],
    ],
    [
      'in the same moment',
      async (on: Stage & { supervisor: Played }) => {
        const fired = on.clock.advance(5_000);
        await on.supervisor.says({ type: 'lease-ended', leadership: 1, outcome: ok, leaseLeftMs: 0 });
        await fired;
        await on.clock.advance(9_000);
      },
      [],
    ],
  ])('kills no supervisor whose leadership is over %s', async (_when, live, signals) => {
    const on = await leader();
    await live(on);
    expect(on.supervisor.killed).toEqual([]);
    expect(on.signals.slice(0, 1)).toEqual(signals);
  });

  it.each([
    [100, 5_100],
    [101, 6_101],
  ])(
    'that a stalled agent finds %i ms late leaves the supervisor time if the stall was long',
    async (lateMs, atMs) => {
      const on = await leader();
      on.clock.freeze(5_000 + lateMs);
      await on.clock.advance(0);
      await on.clock.advance(3_000);
      expect(on.signals[0]).toBe(`${atMs}: SIGTERM 5102`);
    },
  );
});

it('a listener that fails is logged as one of the workload', async () => {
  const on = await leader();
  on.workload.onEnd(() => {
    throw new Error('no');
  });
  await on.supervisor.says({ type: 'lease-ended', leadership: 1, outcome: ok, leaseLeftMs: 0 });
  expect(on.logged.at(-1)).toContain('the workload');
});

describe('a workload that ended on its own', () => {
  it.each<[Partial<HookResult>, string]>([
    [{}, 'info the workload ended on its own, with exit code 0'],
    [
      { result: 'failed', exitCode: 3, error: 'the workload exited with code 3' },
      'warn the workload exited with code 3',
    ],
  ])('is reported: %j', async (change, line) => {
    const on = await leader();
    const workload = { ...ok, ...change };
    await on.supervisor.says({ type: 'workload-ended', leadership: 2, outcome: workload });
    expect(on.ends).toEqual([]);
    await on.supervisor.says({ type: 'workload-ended', leadership: 1, outcome: workload });
    expect(on.ends).toEqual([{ cause: 'workload-ended', workload }]);
    expect(on.logged.at(-1)).toBe(line);
    expect(on.fields.at(-1)).toMatchObject({ exitCode: workload.exitCode, signal: null, term: 3 });
  });
});
