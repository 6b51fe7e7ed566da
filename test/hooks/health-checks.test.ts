/** Health checks whose commands the test plays, in time that only the test moves. */
import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { type Health, type HealthCheck, HealthProber } from '../../src/hooks/health-prober.js';
import type { CommandLine, Exit } from '../../src/ports/processes.js';
import { settled } from '../support/hand-clock.js';
import { capturedLog } from './captured-log.js';
import { machineWith } from './hand-machine.js';

const rule: HealthCheck = { command: ['/bin/check', '-q'], intervalMs: 1_000, timeoutMs: 400, failures: 3 };

/** Starts a prober. Its checks run until the test ends them. */
function probing() {
  const commands: CommandLine[] = [];
  const startedAt: number[] = [];
  let isAlive = false;
  let stdout = new PassThrough();
  let exited: (exit: Exit) => void = () => {};
  const { clock, machine, signals } = machineWith({
    start: (command) => {
      commands.push(command);
      startedAt.push(clock.monotonicMs());
      isAlive = true;
      stdout = new PassThrough();
      const exit = new Promise<Exit>((resolve) => {
        exited = resolve;
      });
      return { pgid: 700 + commands.length, stdout, stderr: null, exit, closed: exit.then(() => {}) };
    },
    groupExists: () => isAlive,
    groupIsAlive: () => isAlive,
  });
  const { log, logged, fields } = capturedLog();
  log.level = 'debug';
  const about = { node: 'a1', root: '/cluster', site: 'a', log, ...machine };
  const prober = new HealthProber({ check: rule, ...about });
  const changes: Health[] = [];
  const unsubscribe = prober.onChange((health) => changes.push(health));
  /** Ends the running check. */
  const ends = async (exit: Partial<Exit>, output = '') => {
    if (output !== '') stdout.write(`${output}\n`);
    await settled();
    isAlive = false;
    exited({ code: 0, signal: null, startError: null, ...exit });
    await settled();
  };
  /** Ends the first process of the running check, which leaves another one. */
  const leaves = async () => {
    exited({ code: 0, signal: null, startError: null });
    await settled();
  };
  /** Ends the running check, and waits until the next one has started. */
  const round = async (code: number, output = '') => {
    await ends({ code }, output);
    await clock.advance(rule.intervalMs);
  };
  const seen = { signals, logged, fields, changes, commands, startedAt };
  return { clock, prober, unsubscribe, ends, leaves, round, ...seen };
}

const failed = (code: number) => ({ healthy: false, reason: `healthCheck exited with code ${code}` });
const healthy = { healthy: true, reason: null };

describe('a health check', () => {
  it('starts at once, and learns the node and its own time limit', () => {
    const { commands } = probing();
    expect(commands).toMatchObject([{ program: '/bin/check', args: ['-q'], passesOutput: false }]);
    expect(commands[0]?.env).toEqual({
      PETREL_PHASE: 'health',
      PETREL_ROOT: '/cluster',
      PETREL_NODE: 'a1',
      PETREL_SITE: 'a',
      PETREL_DEADLINE_MS: '400',
    });
  });

  it('starts one interval after the start of the last one, however long that took', async () => {
    const { clock, startedAt, ends } = probing();
    await clock.advance(300);
    await ends({});
    await clock.advance(699);
    expect(startedAt).toEqual([0]);
    await clock.advance(1);
    expect(startedAt).toEqual([0, 1_000]);
  });

  it('that hangs is stopped at its time limit, killed 500 ms later, and counts as failed', async () => {
    const { clock, signals, startedAt, prober, ends } = probing();
    await clock.advance(400);
    expect(signals).toEqual(['400: SIGTERM 701', '400: SIGCONT 701']);
    await clock.advance(499);
    expect(signals).toHaveLength(2);
    await clock.advance(1);
    expect(signals[2]).toBe('900: SIGKILL 701');
    await clock.advance(600);
    expect(startedAt).toEqual([0]);
    await ends({ code: null, signal: 'SIGKILL' });
    const reason = 'healthCheck timed out after 400 ms, and had to be killed';
    expect(prober.health).toEqual({ healthy: false, reason });
  });

  it('that succeeds may leave no process behind', async () => {
    const { signals, prober, leaves } = probing();
    await leaves();
    expect(signals).toEqual(['0: SIGTERM 701', '0: SIGCONT 701']);
    expect(prober.health.healthy).toBe(false);
  });

  it('has its output in the log, for those who look for it', async () => {
    const { logged, ends } = probing();
    await ends({}, 'all is well');
    expect(logged).toContain('debug health stdout all is well');
  });
});

describe('a node', () => {
  it('is unhealthy until a check has succeeded', async () => {
    const { prober, changes, logged, round } = probing();
    expect(prober.health).toEqual({ healthy: false, reason: 'the first health check has not completed' });
    await round(7);
    await round(0);
    expect(changes).toEqual([failed(7), healthy]);
    expect(prober.health).toEqual(healthy);
    expect(logged).toEqual([
      'warn the node is unhealthy: healthCheck exited with code 7',
      'info the node is healthy',
    ]);
  });

  it('becomes unhealthy only after as many failures in a row as its rule names', async () => {
    const { changes, logged, fields, round } = probing();
    for (const code of [0, 7, 7, 0, 7, 7]) await round(code);
    expect(changes).toEqual([healthy]);
    expect(logged.slice(1)).toEqual(
      Array(4).fill('warn healthCheck exited with code 7; the node is still considered healthy'),
    );
    expect(fields.slice(1)).toEqual([1, 2, 1, 2].map((failuresInRow) => ({ failuresInRow })));
    await round(7);
    expect(changes).toEqual([healthy, failed(7)]);
    await round(0);
    expect(changes).toEqual([healthy, failed(7), healthy]);
  });

  it('reports another way to fail, but not other output of the same failure', async () => {
    const { changes, round } = probing();
    await round(7, 'disk 91 % full');
    await round(7, 'disk 92 % full');
    await round(8);
    expect(changes).toEqual([
      { healthy: false, reason: 'healthCheck exited with code 7: disk 91 % full' },
      failed(8),
    ]);
  });

  it('that stays healthy reports nothing, and neither does one whose listener has left', async () => {
    const { changes, unsubscribe, prober, round } = probing();
    await round(0);
    await round(0);
    expect(changes).toEqual([healthy]);
    unsubscribe();
    for (let count = 0; count < 3; count += 1) await round(7);
    expect(prober.health).toEqual(failed(7));
    expect(changes).toEqual([healthy]);
  });
});

it('a listener of health that fails harms nobody, and the log names it', async () => {
  const { prober, changes, logged, round } = probing();
  prober.onChange(() => {
    throw new Error('no room');
  });
  await round(0);
  await round(0);
  expect(changes).toEqual([healthy]);
  expect(logged).toEqual(['info the node is healthy', 'warn a listener of health failed: no room']);
});

describe('a new rule for health checks', () => {
  const newRule: HealthCheck = { command: 'is-it-well', intervalMs: 5_000, timeoutMs: 90, failures: 1 };

  it('is used at once between two checks, and from then on', async () => {
    const { clock, prober, changes, commands, startedAt, ends } = probing();
    await ends({});
    await clock.advance(200);
    prober.use(newRule);
    expect(startedAt).toEqual([0, 200]);
    expect(commands[1]).toMatchObject({ program: '/bin/sh', args: ['-c', 'is-it-well'] });
    expect(commands[1]?.env.PETREL_DEADLINE_MS).toBe('90');
    expect(prober.health).toEqual(healthy);
    await ends({ code: 7 });
    expect(changes).toEqual([healthy, failed(7)]);
    await clock.advance(4_999);
    expect(startedAt).toHaveLength(2);
    await clock.advance(1);
    expect(startedAt).toEqual([0, 200, 5_200]);
  });

  it('starts no second check while one is running', async () => {
    const { clock, prober, commands, startedAt, ends } = probing();
    prober.use(newRule);
    expect(startedAt).toEqual([0]);
    await ends({});
    await clock.advance(5_000);
    expect(startedAt).toEqual([0, 5_000]);
    expect(commands[1]?.program).toBe('/bin/sh');
  });
});

describe('a closed prober', () => {
  it('has ended its check, whose result it does not report', async () => {
    const { clock, signals, prober, changes, logged, startedAt, ends } = probing();
    const closing = { isDone: false };
    void prober.close().then(() => {
      closing.isDone = true;
    });
    await settled();
    expect(signals[0]).toBe('0: SIGTERM 701');
    expect(closing.isDone).toBe(false);
    await ends({ code: null, signal: 'SIGTERM' });
    expect(closing.isDone).toBe(true);
    await clock.advance(60_000);
    expect([changes, logged]).toEqual([[], []]);
    expect(startedAt).toEqual([0]);
    expect(clock.armed).toBe(0);
  });

  it('starts no check any more, not even by a new rule', async () => {
    const { clock, prober, startedAt, ends } = probing();
    await ends({});
    await prober.close();
    prober.use(rule);
    await clock.advance(60_000);
    expect(startedAt).toEqual([0]);
    expect(clock.armed).toBe(0);
  });
});
