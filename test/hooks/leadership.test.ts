import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/ports/clock.js';
import type { Workload, WorkloadEnd } from '../../src/ports/workload.js';
import { startStopwatch } from '../support/stopwatch.js';
import { context } from './hook-context.js';
import { bench, eventually, leaseIn } from './support.js';

const at = bench();
const service = 'sleep 1000 & ';
const stubborn = 'trap "" TERM; while :; do sleep 0.1; done';
/** Whether the shell of `stubborn` ignores SIGTERM already. It does so once it has executed its trap. */
const ignoringSigterm = () =>
  at()
    .processes()
    .some(({ args }) => args === 'sleep 0.1');
const workloads = () =>
  at()
    .processes()
    .filter(({ args }) => args === 'sleep 1000');
const releaseContext = context('release', { timeoutMs: 10_000, graceMs: 300 });

/** Returns the ends that the workload reports, and the order in which ends and outcomes arrive. */
function listen(workload: Workload) {
  const ends: WorkloadEnd[] = [];
  const order: string[] = [];
  workload.onEnd((end) => {
    ends.push(end);
    order.push(end.cause);
  });
  return { ends, order };
}

describe('a workload', () => {
  it('P12 lives from the takeover to the release, which ends what is left of it', async () => {
    const workload = at().workload({
      onTakeover: `${service} echo $! > $DIR/workload`,
      onRelease: 'kill -0 $(cat $DIR/workload) && echo lives',
    });
    const takeover = await workload.run(context('takeover')).outcome;
    expect(takeover).toMatchObject({ result: 'ok', provenDead: false });
    await eventually(workloads).toHaveLength(1);
    const release = await workload.run(releaseContext).outcome;
    expect(release).toMatchObject({ result: 'ok', outputTail: ['lives'], provenDead: true });
    expect(workloads()).toEqual([]);
  });

  it('is ended by a release that has no command of its own', async () => {
    const workload = at().workload({ onTakeover: `trap "" TERM; ${service}` });
    await workload.run(context('takeover')).outcome;
    const release = await workload.run(releaseContext).outcome;
    expect(release).toMatchObject({ result: 'ok', command: null, provenDead: true });
    expect(workloads()).toEqual([]);
  });

  it('is ended by a release that fails, and by one that hangs', async () => {
    for (const onRelease of ['exit 1', 'trap "" TERM; sleep 1000']) {
      const workload = at().workload({ onTakeover: service, onRelease });
      await workload.run(context('takeover')).outcome;
      const release = await workload.run({ ...releaseContext, timeoutMs: 300 }).outcome;
      expect(release.result).not.toBe('ok');
      expect(release.provenDead).toBe(true);
      expect(workloads()).toEqual([]);
    }
  });

  it('is ended when the leadership ends without a release', async () => {
    const workload = at().workload({ onTakeover: service });
    await workload.run(context('takeover')).outcome;
    workload.endLeadership();
    await eventually(workloads).toEqual([]);
  });

  it('of an earlier leadership never overlaps the next takeover', async () => {
    const workload = at().workload({ onTakeover: `pgrep -c -x sleep >> $DIR/log; trap "" TERM; ${service}` });
    await workload.run(context('takeover')).outcome;
    const [first] = workloads();
    workload.endLeadership();
    await workload.run(context('takeover', { term: 4 })).outcome;
    await eventually(workloads).toHaveLength(1);
    expect(workloads()[0]?.pid).not.toBe(first?.pid);
  });
});

describe('a workload in the foreground', () => {
  const lead = async (onTakeover: [string, ...string[]]) => {
    const workload = at().workload({ onTakeover }, { foreground: true });
    const heard = listen(workload);
    const takeover = await workload.run(context('takeover', { timeoutMs: 100 })).outcome;
    return { workload, takeover, ...heard };
  };

  it('has taken over once it runs, and lasts until the release', async () => {
    const { workload, takeover, ends } = await lead(['/bin/sh', '-c', 'trap "" HUP; sleep 1000; exit 5']);
    expect(takeover).toMatchObject({ result: 'ok', provenDead: false });
    await eventually(workloads).toHaveLength(1);
    expect(await workload.run(releaseContext).outcome).toMatchObject({ result: 'ok', provenDead: true });
    expect(workloads()).toEqual([]);
    expect(ends).toEqual([]);
  });

  it('ends the leadership when it ends, with all that it started', async () => {
    const { workload, takeover, ends } = await lead(['/bin/sh', '-c', 'sleep 1000 & sleep 0.3; exit 5']);
    expect(takeover).toMatchObject({ result: 'ok' });
    await eventually(() => ends).toMatchObject([
      {
        cause: 'workload-ended',
        workload: {
          result: 'failed',
          exitCode: 5,
          error: 'the workload exited with code 5',
          provenDead: true,
        },
      },
    ]);
    expect(workloads()).toEqual([]);
    expect(await workload.run(releaseContext).outcome).toMatchObject({ result: 'ok', provenDead: true });
    expect(ends).toHaveLength(1);
  });

  it('has not taken over when it cannot be started', async () => {
    const { takeover, ends } = await lead(['/no/such/program']);
    expect(takeover).toMatchObject({
      result: 'failed',
      error: 'the workload: program "/no/such/program" not found',
      provenDead: true,
    });
    expect(ends).toEqual([]);
  });
});

describe('a release', () => {
  it('aborts a takeover that runs, and what waits', async () => {
    const workload = at().workload({
      onTakeover: 'sleep 1000',
      onRelease: 'true',
      onPrepare: 'touch $DIR/prepared',
    });
    const takeover = workload.run(context('takeover'));
    const prepare = workload.run(context('prepare'));
    await eventually(workloads).toHaveLength(1);
    const release = workload.run(releaseContext);
    expect(await release.outcome).toMatchObject({ result: 'ok', provenDead: true });
    expect(await takeover.outcome).toMatchObject({ result: 'aborted', provenDead: true });
    expect(await prepare.outcome).toMatchObject({ result: 'aborted' });
    expect(at().lines('prepared')).toEqual([]);
  });
});

/** Returns a workload whose takeover has succeeded. Its lease is long. */
async function leading(commands: { onTakeover: string; onRelease?: string }) {
  const workload = at().workload(commands);
  const heard = listen(workload);
  workload.holdLease(leaseIn(60_000, 70_000), releaseContext);
  expect(await workload.run(context('takeover')).outcome).toMatchObject({ result: 'ok' });
  return { workload, ...heard };
}

describe('a lease that is not renewed', () => {
  it('is released by the supervisor, and nothing lives when it ends', async () => {
    const { workload, ends } = await leading({
      onTakeover: `trap "" TERM; ${service}`,
      onRelease: 'echo "$PETREL_REASON" > $DIR/reason; echo "$PETREL_DEADLINE_MS" > $DIR/deadline',
    });
    const lease = leaseIn(300, 4300);
    workload.holdLease(lease, releaseContext);
    await eventually(workloads).toEqual([]);
    expect(systemClock.monotonicMs()).toBeLessThan(lease.endsAtMs);
    await eventually(() => ends).toMatchObject([
      { cause: 'lease-ended', release: { result: 'ok', provenDead: true } },
    ]);
    expect(at().lines('reason')).toEqual(['the lease was not renewed in time']);
    expect(Number(at().lines('deadline')[0])).toBeLessThan(4000);
  });

  it('is not released while renewals come', async () => {
    const { workload, ends } = await leading({ onTakeover: service });
    let renewed = 0;
    const renewals = setInterval(() => {
      workload.holdLease(leaseIn(2000, 4000), releaseContext);
      renewed++;
    }, 50);
    await eventually(() => renewed).toBeGreaterThan(80);
    await eventually(workloads).toHaveLength(1);
    expect(ends).toEqual([]);
    clearInterval(renewals);
    await eventually(() => ends.map(({ cause }) => cause)).toEqual(['lease-ended']);
    expect(workloads()).toEqual([]);
  });

  it('aborts a takeover, and is reported before its outcome', async () => {
    const workload = at().workload({ onTakeover: 'trap "" TERM; sleep 1000; sleep 1000', onRelease: 'true' });
    const { ends, order } = listen(workload);
    const takeover = workload.run(context('takeover', { graceMs: 60_000 }));
    void takeover.outcome.then(({ result }) => order.push(result));
    await eventually(workloads).toHaveLength(1);
    workload.holdLease(leaseIn(0, 6000), releaseContext);
    expect(await takeover.outcome).toMatchObject({
      result: 'aborted',
      error: expect.stringContaining('the lease was not renewed in time'),
    });
    expect(order).toEqual(['lease-ended', 'aborted']);
    expect(ends).toMatchObject([{ release: { result: 'ok', provenDead: true } }]);
  });

  it('kills a release command that takes too long', async () => {
    const { workload, ends } = await leading({ onTakeover: service, onRelease: stubborn });
    const sinceLease = startStopwatch();
    workload.holdLease(leaseIn(0, 2000), releaseContext);
    await eventually(() => ends).toMatchObject([
      { release: { result: 'timed-out', signal: 'SIGKILL', provenDead: true } },
    ]);
    expect(sinceLease.ms).toBeLessThan(2000 + 500);
    const left = at().processes();
    expect(left.filter(({ args }) => !args.includes('supervisor'))).toEqual([]);
  });

  it('hurries a release that had been requested, and is not reported in addition', async () => {
    const { workload, ends } = await leading({ onTakeover: service, onRelease: stubborn });
    const release = workload.run(context('release', { timeoutMs: 60_000, graceMs: 60_000 }));
    const sinceLease = startStopwatch();
    workload.holdLease(leaseIn(500, 2500), releaseContext);
    expect(await release.outcome).toMatchObject({ result: 'timed-out', provenDead: true });
    expect(sinceLease.ms).toBeLessThan(2500 + 500);
    expect(workloads()).toEqual([]);
    expect(ends).toEqual([]);
  });

  it('leaves time for a release that had been requested, though the takeover before it ignores SIGTERM', async () => {
    const workload = at().workload({ onTakeover: stubborn, onRelease: 'echo released >> $DIR/log' });
    const takeover = workload.run(context('takeover', { graceMs: 60_000 }));
    await eventually(ignoringSigterm).toBe(true);
    const release = workload.run(releaseContext);
    const lease = leaseIn(0, 6000);
    workload.holdLease(lease, releaseContext);
    expect(await release.outcome).toMatchObject({ result: 'ok', provenDead: true });
    expect(systemClock.monotonicMs()).toBeLessThan(lease.endsAtMs);
    expect(await takeover.outcome).toMatchObject({ result: 'aborted', signal: 'SIGKILL', provenDead: true });
    expect(at().lines('log')).toEqual(['released']);
  });

  it('that had ended spares a release under way, and it alone', async () => {
    const { workload, ends } = await leading({
      onTakeover: `trap "" TERM; ${service}`,
      onRelease: 'echo begun >> $DIR/log; until [ -e $DIR/go ]; do sleep 0.05; done; echo done >> $DIR/log',
    });
    const release = workload.run(releaseContext);
    await eventually(() => at().lines('log')).toEqual(['begun']);
    workload.holdLease(leaseIn(-1000, -500), releaseContext);
    await eventually(workloads).toEqual([]);
    writeFileSync(join(at().directory, 'go'), '');
    expect(await release.outcome).toMatchObject({ result: 'ok', provenDead: true });
    expect(at().lines('log')).toEqual(['begun', 'done']);
    expect(ends).toEqual([]);
  });

  it('answers a release requested meanwhile with the one that runs', async () => {
    const { workload, ends } = await leading({
      onTakeover: service,
      onRelease: 'echo release >> $DIR/log; until [ -e $DIR/go ]; do sleep 0.05; done',
    });
    workload.holdLease(leaseIn(0, 20_000), releaseContext);
    await eventually(() => at().lines('log')).toHaveLength(1);
    const requested = workload.run(releaseContext);
    writeFileSync(join(at().directory, 'go'), '');
    const release = await requested.outcome;
    expect(ends).toEqual([{ cause: 'lease-ended', release, leaseLeftMs: expect.any(Number) }]);
    expect(at().lines('log')).toEqual(['release']);
  });

  it('that had ended already kills at once, and still runs the release', async () => {
    const { workload, ends } = await leading({
      onTakeover: `trap "" TERM; ${service}`,
      onRelease: 'echo released >> $DIR/log',
    });
    workload.holdLease(leaseIn(-1000, -500), releaseContext);
    await eventually(() => ends).toMatchObject([{ release: { result: 'ok', provenDead: true } }]);
    expect(at().lines('log')).toEqual(['released']);
    expect(workloads()).toEqual([]);
  });

  it('ends nothing when no takeover was requested', async () => {
    const workload = at().workload({ onTakeover: 'true', onRelease: 'echo released >> $DIR/log' });
    const { ends } = listen(workload);
    workload.holdLease(leaseIn(200, 500), releaseContext);
    await eventually(() => ends).toMatchObject([{ release: { result: 'ok', command: null } }]);
    expect(at().lines('log')).toEqual([]);
  });

  it('that had ended already lets no takeover begin', async () => {
    const workload = at().workload({
      onTakeover: 'echo begun >> $DIR/log',
      onRelease: 'echo released >> $DIR/log',
    });
    const { order } = listen(workload);
    workload.holdLease(leaseIn(-1000, -500), releaseContext);
    const takeover = await workload.run(context('takeover')).outcome;
    expect(takeover).toMatchObject({ result: 'aborted', provenDead: true });
    expect(order).toEqual(['lease-ended']);
    expect(at().lines('log')).toEqual([]);
  });

  it('finds the supervisor frozen: it and the workload are killed, as soon as the lease has ended', async () => {
    const workload = at().workload({ onTakeover: service, onRelease: 'echo released >> $DIR/log' });
    const { ends } = listen(workload);
    workload.holdLease(leaseIn(60_000, 70_000), releaseContext);
    await workload.run(context('takeover')).outcome;
    const supervisor = at()
      .processes()
      .find(({ args }) => args.includes('/supervisor.'));
    process.kill(supervisor?.pid ?? Number.NaN, 'SIGSTOP');
    workload.holdLease(leaseIn(200, 400), releaseContext);
    await eventually(() => ends).toMatchObject([{ cause: 'guard-lost', provenDead: true }]);
    expect(workloads()).toEqual([]);
    expect(await workload.run(context('release')).outcome).toMatchObject({ result: 'ok', provenDead: true });
    expect(at().lines('log')).toEqual(['released']);
  });

  it('is not revived, and the next leadership begins afresh', async () => {
    const { workload, ends } = await leading({ onTakeover: service });
    workload.holdLease(leaseIn(0, 2000), releaseContext);
    await eventually(() => ends).toHaveLength(1);
    workload.holdLease(leaseIn(60_000, 70_000), releaseContext);
    expect(await workload.run(context('takeover', { term: 4 })).outcome).toMatchObject({ result: 'ok' });
    await eventually(workloads).toHaveLength(1);
    expect(await workload.run(releaseContext).outcome).toMatchObject({ result: 'ok', provenDead: true });
    expect(ends).toHaveLength(1);
  });
});

describe('a workload without commands to lead by', () => {
  it('needs no process, and succeeds at once', async () => {
    const workload = at().workload({});
    expect(workload.has('takeover')).toBe(false);
    workload.holdLease(leaseIn(-1000, -500), releaseContext);
    expect(await workload.run(context('takeover')).outcome).toMatchObject({ result: 'ok', provenDead: true });
    expect(at().processes()).toEqual([]);
  });
});
