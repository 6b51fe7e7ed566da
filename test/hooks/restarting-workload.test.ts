/** Tests when a foreground process is restarted, and when its leadership ends instead. */
import { describe, expect, it } from 'vitest';
import { nothingRun, notRun } from '../../src/hooks/outcomes.js';
import {
  type CommandEnd,
  RestartingWorkload,
  type RestartPolicy,
} from '../../src/hooks/restarting-workload.js';
import type { HookContext, HookResult, Workload, WorkloadEnd } from '../../src/ports/workload.js';
import { HandClock, settled } from '../support/hand-clock.js';
import { capturedLog } from './captured-log.js';
import { context } from './hook-context.js';

const succeeded: HookResult = { ...nothingRun, command: 'serve', exitCode: 0 };
const failed: HookResult = { ...succeeded, result: 'failed', exitCode: 1, error: 'serve: exit code 1' };
const running: HookResult = { ...nothingRun, command: 'serve', provenDead: false };
const lease = { releaseAtMs: 1_000, endsAtMs: 2_000 };

interface Setting {
  readonly policy?: RestartPolicy;
  readonly restartLimit?: number;
}

/** Returns a workload whose process only the test ends. `outcomes` are the results of the next runs. */
function setting({ policy = 'on-failure', restartLimit = 2 }: Setting = {}) {
  const clock = new HandClock();
  const runs: { readonly atMs: number; readonly context: HookContext }[] = [];
  const outcomes: HookResult[] = [];
  const held: HookContext[] = [];
  let end: (end: WorkloadEnd) => void = () => {};
  let [ended, closed] = [0, 0];
  const inner: Workload = {
    has: (phase) => phase === 'takeover' || phase === 'release',
    run: (run) => {
      runs.push({ atMs: clock.monotonicMs(), context: run });
      const outcome = outcomes.shift() ?? (run.phase === 'takeover' ? running : nothingRun);
      return { outcome: Promise.resolve(outcome), abort: () => {} };
    },
    holdLease: (_, release) => held.push(release),
    endLeadership: () => {
      ended += 1;
    },
    onEnd: (listener) => {
      end = listener;
      return () => {};
    },
    close: async () => {
      closed += 1;
      return true;
    },
  };
  const { log, logged, fields } = capturedLog();
  const finished: CommandEnd[] = [];
  const stopped: (CommandEnd | null)[] = [];
  const ends: WorkloadEnd[] = [];
  const workload = new RestartingWorkload({
    workload: inner,
    policy,
    restartLimit,
    clock,
    log,
    onFinished: (how) => finished.push(how),
    onStopped: (how) => stopped.push(how),
  });
  workload.onEnd((one) => ends.push(one));
  return {
    clock,
    workload,
    runs,
    outcomes,
    held,
    finished,
    stopped,
    ends,
    logged,
    fields,
    calls: () => ({ ended, closed }),
    takeovers: () => runs.filter((run) => run.context.phase === 'takeover').map(({ atMs }) => atMs),
    takeOver: async () => {
      await workload.run(context('takeover')).outcome;
      await settled();
    },
    processEnds: async (how: HookResult) => {
      end({ cause: 'workload-ended', workload: how });
      await settled();
    },
    report: (how: WorkloadEnd) => end(how),
  };
}

describe('the log of a process that ends on its own', () => {
  it('says when it is restarted, and when leadership is handed over', async () => {
    const { clock, takeOver, processEnds, logged, fields } = setting({ restartLimit: 1 });
    await takeOver();
    await processEnds(failed);
    await clock.advance(250);
    await processEnds(failed);
    expect(logged).toEqual([
      'warn takeover restarting the workload in 250 ms',
      'error takeover the workload keeps failing: handing leadership over',
    ]);
    expect(fields).toMatchObject([{ pauseMs: 250, failures: 1 }, { failures: 2 }]);
  });

  it('names the workload where a listener fails', async () => {
    const { takeOver, processEnds, workload, logged } = setting({ restartLimit: 0 });
    workload.onEnd(() => {
      throw new Error('no');
    });
    await takeOver();
    await processEnds(failed);
    expect(logged.at(-1)).toContain('the workload');
  });

  it('is empty without a leadership', async () => {
    const { processEnds, logged, ends } = setting();
    await processEnds(failed);
    expect([logged, ends]).toEqual([[], []]);
  });
});

describe('a process that ends on its own', () => {
  it.each([
    { policy: 'no', exitCode: 1, restarts: 0 },
    { policy: 'no', exitCode: 0, restarts: 0 },
    { policy: 'on-failure', exitCode: 1, restarts: 1 },
    { policy: 'on-failure', exitCode: 0, restarts: 0 },
    { policy: 'always', exitCode: 1, restarts: 1 },
    { policy: 'always', exitCode: 0, restarts: 1 },
  ] as const)('with the policy $policy and exit code $exitCode: $restarts restarts', async (how) => {
    const { clock, takeOver, processEnds, takeovers } = setting({ policy: how.policy });
    await takeOver();
    await processEnds(how.exitCode === 0 ? succeeded : failed);
    await clock.advance(100_000);
    expect(takeovers()).toHaveLength(1 + how.restarts);
  });

  it('is restarted after 250 ms, then after twice as long each time, up to 10 s', async () => {
    const { clock, takeOver, processEnds, takeovers } = setting({ policy: 'always', restartLimit: 100 });
    await takeOver();
    for (let ends = 0; ends < 8; ends += 1) {
      await processEnds(failed);
      await clock.advance(10_000);
    }
    const pauses = takeovers().map((atMs) => atMs % 10_000);
    expect(pauses).toEqual([0, 250, 500, 1_000, 2_000, 4_000, 8_000, 0, 0]);
  });

  it('ends the leadership if it fails once more often than the limit', async () => {
    const { clock, takeOver, processEnds, takeovers, ends, stopped, workload } = setting({ restartLimit: 2 });
    await takeOver();
    for (let failure = 1; failure <= 2; failure += 1) {
      await processEnds(failed);
      await clock.advance(1_000);
    }
    expect(ends).toEqual([]);
    await processEnds(failed);
    await clock.advance(100_000);
    expect(takeovers()).toHaveLength(3);
    expect(ends).toEqual([{ cause: 'workload-ended', workload: failed }]);
    await workload.run(context('release')).outcome;
    await settled();
    expect(stopped).toEqual([]);
  });

  it('starts with no failures again after it ran for a minute', async () => {
    const { clock, takeOver, processEnds, takeovers, ends } = setting({ restartLimit: 1 });
    await takeOver();
    for (let failure = 1; failure <= 3; failure += 1) {
      await processEnds(failed);
      await clock.advance(250);
      await clock.advance(60_000);
    }
    expect(takeovers()).toHaveLength(4);
    await processEnds(failed);
    await clock.advance(250);
    await clock.advance(59_999);
    await processEnds(failed);
    expect(ends).toHaveLength(1);
  });

  it('counts only failures against the limit', async () => {
    const { clock, takeOver, processEnds, takeovers, ends } = setting({ policy: 'always', restartLimit: 0 });
    await takeOver();
    for (let time = 0; time < 5; time += 1) {
      await processEnds(succeeded);
      await clock.advance(10_000);
    }
    expect(takeovers()).toHaveLength(6);
    expect(ends).toEqual([]);
  });

  it('ends the leadership if one of its processes may still run: two must not run at once', async () => {
    const { clock, takeOver, processEnds, takeovers, ends } = setting({ policy: 'always' });
    await takeOver();
    await processEnds({ ...failed, provenDead: false });
    await clock.advance(100_000);
    expect(takeovers()).toHaveLength(1);
    expect(ends).toHaveLength(1);
  });

  it('counts a restart that fails as a failure', async () => {
    const { clock, takeOver, processEnds, outcomes, takeovers, ends } = setting({ restartLimit: 2 });
    await takeOver();
    outcomes.push(failed, failed);
    await processEnds(failed);
    await clock.advance(1_000);
    expect(takeovers()).toHaveLength(3);
    expect(ends).toHaveLength(1);
  });

  it('is reported as finished only after its leadership has been ended', async () => {
    const { takeOver, processEnds, finished, ends, stopped, workload } = setting({ policy: 'no' });
    await takeOver();
    await processEnds(failed);
    expect(ends).toEqual([{ cause: 'workload-ended', workload: failed }]);
    expect(finished).toEqual([]);
    await workload.run(context('release')).outcome;
    workload.endLeadership();
    workload.endLeadership();
    expect(finished).toEqual([{ exitCode: 1, signal: null, error: 'serve: exit code 1' }]);
    expect(stopped).toEqual([]);
  });

  it('with success is reported as finished, and not as a failure', async () => {
    const { takeOver, processEnds, finished, ends } = setting();
    await takeOver();
    await processEnds(succeeded);
    expect(ends).toEqual([]);
    expect(finished).toEqual([{ exitCode: 0, signal: null, error: null }]);
  });
});

describe('a process that cannot be started', () => {
  const outcome: HookResult = { ...failed, exitCode: null, error: 'serve: not found' };
  const finishedBy = async (policy: RestartPolicy, how: HookResult) => {
    const { takeOver, outcomes, finished, workload } = setting({ policy });
    outcomes.push(how);
    await takeOver();
    workload.endLeadership();
    return finished;
  };

  it('has finished if it is not to be restarted', async () => {
    expect(await finishedBy('no', outcome)).toEqual([
      { exitCode: null, signal: null, error: 'serve: not found' },
    ]);
    expect(await finishedBy('on-failure', outcome)).toEqual([]);
  });

  it('has not failed if it was not even tried', async () => {
    expect(await finishedBy('no', notRun('the supervisor was killed', 'failed'))).toEqual([]);
  });
});

describe('the end of a leadership', () => {
  it('prevents a restart that is due', async () => {
    const { clock, takeOver, processEnds, takeovers, workload } = setting();
    await takeOver();
    await processEnds(failed);
    workload.run(context('release'));
    await clock.advance(100_000);
    expect(takeovers()).toHaveLength(1);
  });

  it.each<WorkloadEnd>([
    { cause: 'lease-ended', release: nothingRun, leaseLeftMs: 100 },
    { cause: 'guard-lost', reason: 'the supervisor died', provenDead: true },
  ])('by $cause prevents a restart that is due, and is reported', async (how) => {
    const { clock, takeOver, processEnds, report, takeovers, ends } = setting();
    await takeOver();
    await processEnds(failed);
    report(how);
    await clock.advance(100_000);
    expect(takeovers()).toHaveLength(1);
    expect(ends).toEqual([how]);
  });

  it.each(['endLeadership', 'close'] as const)('by %s prevents a restart that is due', async (name) => {
    const { clock, takeOver, processEnds, takeovers, workload, calls } = setting();
    await takeOver();
    await processEnds(failed);
    await workload[name]();
    await clock.advance(100_000);
    expect(takeovers()).toHaveLength(1);
    expect(calls()).toEqual(name === 'close' ? { ended: 0, closed: 1 } : { ended: 1, closed: 0 });
  });

  it('makes the end of the process that follows no failure', async () => {
    const { clock, takeOver, processEnds, takeovers, ends, workload } = setting({ policy: 'always' });
    await takeOver();
    workload.run(context('release'));
    await processEnds(failed);
    await clock.advance(100_000);
    expect(takeovers()).toHaveLength(1);
    expect(ends).toEqual([]);
  });

  it('says how the process ended, once', async () => {
    const { takeOver, outcomes, report, stopped, workload } = setting();
    await takeOver();
    outcomes.push({ ...nothingRun, exitCode: null, signal: 'SIGTERM' });
    await workload.run(context('release')).outcome;
    await settled();
    report({ cause: 'guard-lost', reason: 'the supervisor died', provenDead: true });
    expect(stopped).toEqual([{ exitCode: null, signal: 'SIGTERM', error: null }]);
  });

  it('says so if nobody knows how the process ended', async () => {
    const { takeOver, report, stopped } = setting();
    await takeOver();
    report({ cause: 'guard-lost', reason: 'the supervisor died', provenDead: true });
    expect(stopped).toEqual([null]);
  });

  it('says nothing of a process that never ran', async () => {
    const { takeOver, outcomes, report, stopped } = setting();
    outcomes.push(notRun('the leadership has ended'));
    await takeOver();
    report({ cause: 'lease-ended', release: nothingRun, leaseLeftMs: 100 });
    expect(stopped).toEqual([]);
  });

  it('is not over while a process of it may still run', async () => {
    const { takeOver, outcomes, stopped, workload } = setting();
    await takeOver();
    outcomes.push({ ...nothingRun, result: 'failed', exitCode: 1, provenDead: false });
    await workload.run(context('release')).outcome;
    await settled();
    expect(stopped).toEqual([]);
  });
});

it('the process may take as long to stop as its release may take', async () => {
  const { workload, runs, held } = setting();
  const short = context('release', { timeoutMs: 9_000, graceMs: 500 });
  const long = context('release', { timeoutMs: 9_000, graceMs: 20_000 });
  workload.holdLease(lease, short);
  workload.holdLease(lease, short);
  workload.holdLease(lease, long);
  expect(held.map(({ graceMs }) => graceMs)).toEqual([9_000, 9_000, 20_000]);
  // The same release must remain the same object, because each other one is sent to the supervisor again.
  expect(held[1]).toBe(held[0]);
  workload.run(short);
  expect(runs.at(-1)?.context).toBe(held[0]);
});

it('a prepare and a fence are passed on as they are', async () => {
  const { workload, runs } = setting();
  const fence = context('fence', { timeoutMs: 9_000, graceMs: 500 });
  workload.run(fence);
  expect(runs.at(-1)?.context).toBe(fence);
  expect(workload.has('takeover')).toBe(true);
  expect(workload.has('fence')).toBe(false);
});
