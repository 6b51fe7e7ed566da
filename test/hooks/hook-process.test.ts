/** One run of a command whose processes the test plays, in time that only the test moves. */
import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { HookProcess, type HookSpec } from '../../src/hooks/hook-process.js';
import type { Exit } from '../../src/ports/processes.js';
import type { HookResult } from '../../src/ports/workload.js';
import { type HandClock, settled } from '../support/hand-clock.js';
import { machineWith } from './hand-machine.js';

const pgid = 5_102;
const startedAtMs = 1_000;

interface Command {
  readonly clock: HandClock;
  readonly signals: readonly string[];
  readonly process: HookProcess;
  readonly stdout: PassThrough;
  readonly stderr: PassThrough;
  /** Lines that the command has written, each with its stream. */
  readonly lines: readonly (readonly [stream: string, text: string])[];
  /** The outcome, as soon as there is one. */
  readonly outcome: { value: HookResult | null };
  /** Ends the command's first process. The group ends with it, unless `leaves` is set. */
  exits(exit?: Partial<Exit>, how?: { leaves?: boolean; closes?: boolean }): Promise<void>;
  /** Ends the group's last process. */
  groupEnds(): void;
}

async function started(spec: Partial<HookSpec> = {}, group: number | null = pgid): Promise<Command> {
  let exited: (exit: Exit) => void = () => {};
  let closed = () => {};
  let isAlive = true;
  const lines: [stream: string, text: string][] = [];
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const { clock, machine, signals } = machineWith({
    start: () => ({
      pgid: group,
      stdout,
      stderr,
      exit: new Promise((resolve) => {
        exited = resolve;
      }),
      closed: new Promise((resolve) => {
        closed = resolve;
      }),
    }),
    groupExists: () => isAlive,
    groupIsAlive: () => isAlive,
  });
  clock.freeze(startedAtMs);
  const process = new HookProcess(
    {
      program: '/bin/it',
      args: [],
      env: {},
      passesOutput: false,
      name: 'onTakeover',
      commandText: 'it',
      timeoutMs: 10_000,
      graceMs: 2_000,
      leavesWorkload: false,
      ...spec,
    },
    { line: (...line) => lines.push(line), leftOut: () => {} },
    machine,
  );
  const outcome: Command['outcome'] = { value: null };
  void process.outcome.then((value) => {
    outcome.value = value;
  });
  await settled();
  return {
    clock,
    signals,
    process,
    stdout,
    stderr,
    outcome,
    lines,
    exits: async (exit = {}, { leaves = false, closes = true } = {}) => {
      if (!leaves) isAlive = false;
      exited({ code: 0, signal: null, startError: null, ...exit });
      if (closes) closed();
      await settled();
    },
    groupEnds: () => {
      isAlive = false;
    },
  };
}

describe('a command', () => {
  it('that succeeds has an outcome with its code, time, and last output', async () => {
    const { clock, stdout, stderr, exits, outcome, lines } = await started();
    stdout.write('one\n');
    stderr.write('two\n');
    await clock.advance(300);
    await exits();
    expect(outcome.value).toEqual({
      result: 'ok',
      exitCode: 0,
      signal: null,
      durationMs: 300,
      command: 'it',
      error: null,
      outputTail: ['one', 'two'],
      provenDead: true,
    });
    expect(lines).toEqual([
      ['stdout', 'one'],
      ['stderr', 'two'],
    ]);
  });

  it.each<[Partial<Exit>, string]>([
    [{ code: 3 }, 'onTakeover exited with code 3'],
    [{ code: null, signal: 'SIGSEGV' }, 'onTakeover was killed by SIGSEGV'],
    [{ code: null, startError: 'ENOENT' }, 'onTakeover: program "/bin/it" not found'],
    [{ code: null, startError: 'EACCES' }, 'onTakeover: program "/bin/it" is not executable'],
    [
      { code: null, startError: 'ENOEXEC' },
      'onTakeover: program "/bin/it" cannot be executed; a script must start with #!',
    ],
    [{ code: null, startError: 'EMFILE' }, 'onTakeover: program "/bin/it" could not be started: EMFILE'],
  ])('that fails says how: %j', async (exit, error) => {
    const { exits, outcome } = await started();
    await exits(exit);
    expect(outcome.value).toMatchObject({ result: 'failed', error, exitCode: exit.code, provenDead: true });
    expect(outcome.value?.signal).toBe(exit.signal ?? null);
  });

  it('that was not started has nobody to signal', async () => {
    const { clock, process, exits, outcome, signals } = await started({}, null);
    process.abort('b1 is elected');
    await clock.advance(3_000);
    await exits({ code: null, startError: 'EAGAIN' }, { leaves: true });
    expect(signals).toEqual([]);
    expect(outcome.value).toMatchObject({ provenDead: true });
  });

  it('whose output stays open is waited for a moment longer', async () => {
    const { clock, exits, outcome } = await started();
    await exits({}, { closes: false });
    await clock.advance(19);
    expect(outcome.value).toBeNull();
    await clock.advance(1);
    expect(outcome.value).toMatchObject({ result: 'ok', durationMs: 0 });
  });
});

describe('the time limit of a command', () => {
  it('has it stopped, and killed after the grace time', async () => {
    const { clock, signals, exits, outcome } = await started();
    await clock.advance(9_999);
    expect(signals).toEqual([]);
    await clock.advance(1);
    expect(signals).toEqual(['11000: SIGTERM 5102', '11000: SIGCONT 5102']);
    await clock.advance(2_000);
    expect(signals.slice(2)).toEqual(['13000: SIGKILL 5102']);
    await exits({ code: null, signal: 'SIGKILL' });
    expect(outcome.value).toMatchObject({
      result: 'timed-out',
      error: 'onTakeover timed out after 10000 ms, and had to be killed',
    });
  });

  it('is not felt by a command that has ended', async () => {
    const { clock, signals, process, exits, outcome } = await started();
    await exits();
    process.limit(2_000);
    process.abort('too late');
    await clock.advance(60_000);
    expect(signals).toEqual([]);
    expect(outcome.value).toMatchObject({ result: 'ok' });
    expect(clock.armed).toBe(0);
  });

  it('can be brought forward, but not be put off', async () => {
    const { clock, process, exits, outcome, signals } = await started();
    process.limit(startedAtMs + 300);
    process.limit(startedAtMs + 300);
    process.limit(startedAtMs + 900);
    await clock.advance(300);
    expect(signals[0]).toBe('1300: SIGTERM 5102');
    await exits({ code: 0 });
    expect(outcome.value).toMatchObject({ result: 'timed-out', error: 'onTakeover timed out after 300 ms' });
  });

  it('keeps its place when the command was aborted before', async () => {
    const { clock, process, exits, outcome, signals } = await started();
    process.abort('b1 is elected');
    process.limit(startedAtMs + 300);
    await clock.advance(1_000);
    await exits({ code: null, signal: 'SIGTERM' });
    expect(outcome.value).toMatchObject({
      result: 'aborted',
      error: 'onTakeover was aborted: b1 is elected',
    });
    expect(signals).toHaveLength(2);
  });

  it('may name the latest instant of the kill, also once the command is being stopped', async () => {
    for (const isStopped of [true, false]) {
      const { clock, process, signals } = await started();
      if (isStopped) process.abort('b1 is elected');
      process.limit(startedAtMs + 100, startedAtMs + 400);
      await clock.advance(399);
      expect(signals).toHaveLength(2);
      await clock.advance(1);
      expect(signals[2]).toBe('1400: SIGKILL 5102');
    }
  });
});

describe('an aborted command', () => {
  it('is asked once to stop, and killed at the earliest of all given instants', async () => {
    const { clock, process, signals } = await started();
    process.abort('b1 is elected');
    process.abort('again', startedAtMs + 900);
    process.abort('again', startedAtMs + 1_200);
    await clock.advance(2_500);
    expect(signals).toEqual(['1000: SIGTERM 5102', '1000: SIGCONT 5102', '1900: SIGKILL 5102']);
  });

  it('that outlives its kill by two seconds is given up, and not proven dead', async () => {
    const { clock, process, outcome } = await started();
    process.abort('b1 is elected', startedAtMs);
    await clock.advance(1_999);
    expect(outcome.value).toBeNull();
    await clock.advance(10_000);
    expect(outcome.value).toMatchObject({
      result: 'aborted',
      exitCode: null,
      signal: null,
      error: 'onTakeover is still running after SIGKILL',
      provenDead: false,
    });
  });
});

it('a command that is aborted after it has succeeded has succeeded', async () => {
  const { clock, process, exits, outcome } = await started();
  await exits({}, { closes: false });
  process.abort('b1 is elected');
  await clock.advance(20);
  expect(outcome.value).toMatchObject({ result: 'ok', error: null });
});

describe('what a command leaves behind', () => {
  it('is its workload, which lives on, if it may leave one and has succeeded', async () => {
    const { exits, outcome, signals } = await started({ leavesWorkload: true });
    await exits({}, { leaves: true });
    expect(outcome.value).toMatchObject({ result: 'ok', provenDead: false });
    expect(signals).toEqual([]);
    const without = await started({ leavesWorkload: true });
    await without.exits();
    expect(without.outcome.value).toMatchObject({ provenDead: true });
  });

  it.each<[string, Partial<HookSpec>, number]>([
    ['it has failed', { leavesWorkload: true }, 3],
    ['it may leave nothing', {}, 0],
  ])('is ended, and killed after the grace time, if %s', async (_why, spec, code) => {
    const { clock, exits, groupEnds, outcome, signals } = await started(spec);
    await clock.advance(500);
    await exits({ code }, { leaves: true });
    expect(signals[0]).toBe('1500: SIGTERM 5102');
    await clock.advance(1_999);
    expect(signals).toHaveLength(2);
    await clock.advance(1);
    expect(signals[2]).toBe('3500: SIGKILL 5102');
    groupEnds();
    await clock.advance(100);
    expect(outcome.value).toMatchObject({ provenDead: true });
  });

  it('is killed at the instant that was given for the command', async () => {
    const { clock, process, exits, signals } = await started();
    process.abort('b1 is elected', startedAtMs + 700);
    await exits({ code: 0 }, { leaves: true });
    await clock.advance(699);
    expect(signals.some((line) => line.includes('SIGKILL'))).toBe(false);
    await clock.advance(2);
    expect(signals.find((line) => line.includes('SIGKILL'))).toBe('1700: SIGKILL 5102');
  });

  it('is killed at an instant that is given while it is ended', async () => {
    const { clock, process, exits, signals } = await started();
    await exits({ code: 0 }, { leaves: true });
    process.limit(startedAtMs + 100, startedAtMs + 700);
    await clock.advance(750);
    expect(signals.find((line) => line.includes('SIGKILL'))).toMatch(/^1[67]\d\d: SIGKILL 5102$/);
  });
});
