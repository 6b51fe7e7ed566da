import { describe, expect, it, vi } from 'vitest';
import { systemClock } from '../../src/ports/clock.js';
import { context } from './hook-context.js';
import { bench, eventually, residentMiB } from './support.js';

const at = bench();
const service = 'sleep 1000 & echo $! >> $DIR/workload';

/** Returns the processes of the workload, which run `sleep 1000`. */
const workloads = () =>
  at()
    .processes()
    .filter(({ args }) => args === 'sleep 1000');

describe('a command', () => {
  it('finds out from its environment what happens', async () => {
    const workload = at().workload({ onTakeover: 'env > $DIR/env' });
    const outcome = await workload.run(context('takeover')).outcome;
    expect(outcome).toMatchObject({ result: 'ok', exitCode: 0, signal: null, error: null, provenDead: true });
    const environment = at().lines('env');
    expect(environment).toEqual(
      expect.arrayContaining([
        'PETREL_PHASE=takeover',
        'PETREL_ROOT=/cluster',
        'PETREL_NODE=a1',
        'PETREL_SITE=a',
        'PETREL_TERM=3',
        'PETREL_FENCING_TOKEN=4294967312',
        'PETREL_REASON=a test',
        'PETREL_PREVIOUS_LEADER=b1',
        'PETREL_PREVIOUS_SITE=b',
        'PETREL_NEW_LEADER=',
        'PETREL_DEADLINE_MS=10000',
      ]),
    );
    expect(environment.filter((line) => line.startsWith('NODE_CHANNEL'))).toEqual([]);
  });

  it('is started whatever the texts in its environment say, and however long they are', async () => {
    const workload = at().workload({ onRelease: 'env > $DIR/env' });
    const reason = `b1 is elected:\0 ${'x'.repeat(500_000)}`;
    const { outcome } = workload.run(context('release', { reason, previousSite: 'b\0' }));
    expect(await outcome).toMatchObject({ result: 'ok', error: null });
    expect(
      at()
        .lines('env')
        .find((line) => line.startsWith('PETREL_REASON=')),
    ).toMatch(/^PETREL_REASON=b1 is elected: x{1000,}…$/);
  });

  it('may be a list, which no shell touches', async () => {
    const workload = at().workload({ onFence: ['/bin/echo', '$PETREL_NODE', "it's; x"] });
    const outcome = await workload.run(context('fence')).outcome;
    expect(outcome).toMatchObject({
      result: 'ok',
      command: `/bin/echo '$PETREL_NODE' 'it'\\''s; x'`,
      outputTail: ["$PETREL_NODE it's; x"],
    });
  });

  it('fails with its exit code and the last lines it wrote', async () => {
    const workload = at().workload({ onTakeover: 'seq 1 30; printf "no\\r\\nlast" >&2; exit 3' });
    const outcome = await workload.run(context('takeover')).outcome;
    expect(outcome).toMatchObject({ result: 'failed', exitCode: 3, error: 'onTakeover exited with code 3' });
    expect(outcome.outputTail).toHaveLength(20);
    expect(outcome.outputTail).toEqual(expect.arrayContaining(['30', 'no', 'last']));
  });

  it('fails clearly when its program is not there or not executable', async () => {
    const missing = at().workload({ onTakeover: ['/no/such/program'] });
    expect(await missing.run(context('takeover')).outcome).toMatchObject({
      result: 'failed',
      exitCode: null,
      error: 'onTakeover: program "/no/such/program" not found',
      provenDead: true,
    });
    const notExecutable = at().workload({ onTakeover: ['/etc/passwd'] });
    expect(await notExecutable.run(context('takeover')).outcome).toMatchObject({
      result: 'failed',
      error: 'onTakeover: program "/etc/passwd" is not executable',
    });
  });

  it('is stopped when its time is over', async () => {
    const workload = at().workload({ onTakeover: 'trap "echo stopping; exit 0" TERM; sleep 1000 & wait' });
    const outcome = await workload.run(context('takeover', { timeoutMs: 1000 })).outcome;
    expect(outcome).toMatchObject({ result: 'timed-out', outputTail: ['stopping'], provenDead: true });
    expect(outcome.error).toMatch(/^onTakeover timed out after 1000 ms$/);
    expect(workloads()).toEqual([]);
  });

  it('P12 is killed with all its children when it does not listen', async () => {
    const script = 'trap "" TERM; (sleep 1000; echo) & (sleep 1000; echo) & wait';
    const workload = at().workload({ onTakeover: script });
    const outcome = await workload.run(context('takeover', { timeoutMs: 1000, graceMs: 300 })).outcome;
    expect(outcome).toMatchObject({ result: 'timed-out', signal: 'SIGKILL', provenDead: true });
    expect(outcome.error).toContain('and had to be killed');
    expect(outcome.durationMs).toBeGreaterThanOrEqual(1300);
    expect(workloads()).toEqual([]);
  });

  it('hears that it is to stop though it stands still', async () => {
    const workload = at().workload({ onFence: 'trap "echo stopping; exit" TERM; kill -STOP $$; sleep 1000' });
    const outcome = await workload.run(context('fence', { timeoutMs: 1000, graceMs: 5000 })).outcome;
    expect(outcome).toMatchObject({ result: 'timed-out', outputTail: ['stopping'], provenDead: true });
  });

  it('can be aborted while it runs, and while it waits', async () => {
    const workload = at().workload({
      onPrepare: 'touch $DIR/prepared; sleep 1000',
      onFence: 'touch $DIR/fenced',
    });
    const prepare = workload.run(context('prepare'));
    const fence = workload.run(context('fence'));
    await eventually(() =>
      at()
        .processes()
        .some(({ args }) => args === 'sleep 1000'),
    ).toBe(true);
    fence.abort('no need');
    expect(await fence.outcome).toMatchObject({ result: 'aborted', error: 'not started: no need' });
    prepare.abort('outvoted');
    expect(await prepare.outcome).toMatchObject({
      result: 'aborted',
      error: 'onPrepare was aborted: outvoted',
      signal: 'SIGTERM',
      provenDead: true,
    });
    expect(at().lines('fenced')).toEqual([]);
  });

  it('is killed at the instant given with the abort, if that comes before the end of the grace', async () => {
    const workload = at().workload({ onPrepare: 'trap "" TERM; while :; do sleep 0.1; done' });
    const prepare = workload.run(context('prepare', { graceMs: 60_000 }));
    await eventually(() =>
      at()
        .processes()
        .some(({ args }) => args === 'sleep 0.1'),
    ).toBe(true);
    prepare.abort('slowly');
    prepare.abort('quickly', systemClock.monotonicMs() + 100);
    expect(await prepare.outcome).toMatchObject({ result: 'aborted', signal: 'SIGKILL', provenDead: true });
  });

  it('never overlaps another, and they run in the requested order', async () => {
    const log = (name: string) => `echo ${name}+ >> $DIR/log; sleep 0.1; echo ${name}- >> $DIR/log`;
    const workload = at().workload({
      onPrepare: log('prepare'),
      onTakeover: log('takeover'),
      onFence: log('fence'),
    });
    await Promise.all(
      (['fence', 'prepare', 'takeover', 'fence'] as const).map((p) => workload.run(context(p)).outcome),
    );
    expect(at().lines('log').join(' ')).toBe(
      'fence+ fence- prepare+ prepare- takeover+ takeover- fence+ fence-',
    );
  });

  it('leaves nothing behind unless it takes over', async () => {
    const workload = at().workload({ onPrepare: service, onFence: `${service}; exit 1` });
    expect(await workload.run(context('prepare')).outcome).toMatchObject({ result: 'ok', provenDead: true });
    expect(await workload.run(context('fence')).outcome).toMatchObject({
      result: 'failed',
      provenDead: true,
    });
    expect(at().lines('workload')).toHaveLength(2);
    expect(workloads()).toEqual([]);
  });

  it('fails when there is no supervisor to run it, and is run as soon as there can be one', async () => {
    // An environment that is larger than the system accepts for a new process.
    vi.stubEnv('HUGE', 'x'.repeat(200_000));
    const workload = at().workload({ onTakeover: 'true' });
    const takeover = await workload.run(context('takeover')).outcome;
    expect(takeover).toMatchObject({ result: 'failed', provenDead: true });
    expect(takeover.error).toContain('the supervisor could not be started');
    vi.stubEnv('HUGE', '');
    expect(await workload.run(context('takeover')).outcome).toMatchObject({ result: 'ok', error: null });
  });

  it('costs no memory by writing without end', async () => {
    const workload = at().workload({ onFence: 'yes 0123456789 & tr "\\0" x < /dev/zero & wait' });
    const fence = workload.run(context('fence', { timeoutMs: 1000, graceMs: 100 }));
    const outcome = await fence.outcome;
    expect(outcome).toMatchObject({ result: 'timed-out', provenDead: true });
    expect(Math.max(...outcome.outputTail.map((line) => line.length))).toBeLessThanOrEqual(501);
    expect(outcome.outputTail).toHaveLength(20);
    const supervisor = at()
      .processes()
      .find(({ args }) => args.includes('supervisor'));
    expect(supervisor).toBeDefined();
    expect(residentMiB(supervisor?.pid ?? 0)).toBeLessThan(250);
  });
});
