import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { HookLog, type HookPhase } from '../hook-log.js';
import { until } from '../until.js';

let log: HookLog;

beforeEach(async () => {
  log = await HookLog.create();
});

afterEach(() => log.stop());

interface Env {
  readonly target?: string;
}

/** Resolves when the hook ends. Created at its start, because it may end before a test waits for its end. */
const closings = new Map<ChildProcess, Promise<unknown>>();

/** Starts a hook in a separate process group, as an agent does. */
function start(phase: HookPhase, node: string, token: string, { target = '' }: Env = {}): ChildProcess {
  const [program, ...args] = log.command(phase);
  const child = spawn(program, args, {
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      PATH: process.env.PATH,
      PETREL_NODE: node,
      PETREL_TERM: '7',
      PETREL_FENCING_TOKEN: token,
      PETREL_TARGET: target,
    },
  });
  child.stdout?.resume();
  closings.set(child, once(child, 'close'));
  return child;
}

/** Runs a hook. Resolves with its exit code when it has ended and no process holds its output open. */
async function run(phase: HookPhase, node: string, token: string, env?: Env): Promise<number | null> {
  return ended(start(phase, node, token, env));
}

async function ended(child: ChildProcess): Promise<number | null> {
  await closings.get(child);
  return child.exitCode;
}

function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) throw new Error('the hook has no process id');
  process.kill(-child.pid, signal);
}

/**
 * Waits until the whole process group is stopped, because a signal takes effect only some time after it is
 * sent.
 */
async function untilFrozen(child: ChildProcess): Promise<void> {
  await until(
    () => {
      const states = groupStates(child.pid ?? 0);
      return states.length > 0 && states.every((state) => state === 'T');
    },
    { describe: 'the group to stand still' },
  );
}

function groupStates(pgid: number): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        const [state = '', , group] = readFileSync(`/proc/${pid}/stat`, 'latin1')
          .replace(/.*\) /s, '')
          .split(' ');
        return Number(group) === pgid ? [state] : [];
      } catch {
        return [];
      }
    });
}

async function beats(node: string): Promise<number> {
  return (await log.events()).filter((event) => event.node === node && event.event === 'beat').length;
}

/** Waits until `node` is silent: two complete beats of `other` pass without a beat of `node`. */
async function untilSilent(node: string, other: string): Promise<void> {
  await until(
    async () => {
      const [before, others] = [await beats(node), await beats(other)];
      await until(async () => (await beats(other)) >= others + 2);
      return (await beats(node)) === before;
    },
    { describe: `${node} to be silent` },
  );
}

describe('the hooks of fault tests', () => {
  it('log what they did, with node, phase, term and token', async () => {
    expect(await run('takeover', 'a', '1')).toBe(0);
    expect(await run('release', 'a', '1')).toBe(0);
    const events = (await log.events()).filter(({ event }) => event !== 'beat');
    expect(events).toMatchObject([
      { node: 'a', phase: 'takeover', event: 'started', term: 7, token: '1' },
      { node: 'a', phase: 'takeover', event: 'ended' },
      { node: 'a', phase: 'release', event: 'started' },
      { node: 'a', phase: 'release', event: 'ended' },
    ]);
  });

  it('leave a workload that beats until the release ends it', async () => {
    await run('takeover', 'a', '1');
    await until(async () => (await beats('a')) > 3);
    await run('release', 'a', '1');
    await run('takeover', 'b', '2');
    await untilSilent('a', 'b');
    await log.assertExclusive();
  });

  it('show a takeover without a release as an overlap', async () => {
    await run('takeover', 'a', '1');
    await run('takeover', 'b', '2');
    const before = await beats('a');
    await until(async () => (await beats('a')) > before);
    await expect(log.assertExclusive()).rejects.toThrow(
      /b \(token 2\) took over .* while a \(token 1\) was alive\n.*a \(token 1\) was active/,
    );
  });

  it('show no overlap when the first workload was killed', async () => {
    const takeover = start('takeover', 'a', '1');
    await ended(takeover);
    await until(async () => (await beats('a')) > 1);
    signalGroup(takeover, 'SIGKILL');
    await run('takeover', 'b', '2');
    await untilSilent('a', 'b');
    await log.assertExclusive();
  });

  it('show an overlap when a workload that was frozen goes on', async () => {
    const takeover = start('takeover', 'a', '1');
    await ended(takeover);
    signalGroup(takeover, 'SIGSTOP');
    await untilFrozen(takeover);
    await run('takeover', 'b', '2');
    await untilSilent('a', 'b');
    await log.assertExclusive();
    signalGroup(takeover, 'SIGCONT');
    await until(() =>
      log.assertExclusive().then(
        () => false,
        () => true,
      ),
    );
  });

  it('fence: kill the target’s workload', async () => {
    await log.behave('a', 'takeover', { stubborn: true });
    await run('takeover', 'a', '1');
    await run('fence', 'c', '', { target: 'a' });
    await run('takeover', 'b', '2');
    await untilSilent('a', 'b');
    await log.assertExclusive();
    expect(await log.events()).toContainEqual(
      expect.objectContaining({ event: 'killed', node: 'a', token: '1' }),
    );
  });

  it('behave as configured: fail, take their time', async () => {
    await log.behave('a', 'takeover', { exitCode: 3, takeMs: 150 });
    const startedAtMs = performance.now();
    expect(await run('takeover', 'a', '1')).toBe(3);
    expect(performance.now() - startedAtMs).toBeGreaterThanOrEqual(149);
    expect(await run('takeover', 'b', '2')).toBe(0);
  });

  it('behave as configured: hang, deaf to SIGTERM, beating all the while', async () => {
    await log.behave('a', 'release', { hang: true });
    const release = start('release', 'a', '1');
    await until(async () => (await beats('a')) > 1);
    signalGroup(release, 'SIGTERM');
    const before = await beats('a');
    await until(async () => (await beats('a')) > before + 2);
    expect(release.exitCode).toBeNull();
    signalGroup(release, 'SIGKILL');
    await ended(release);
  });

  it('behave as configured: leave the workload for others to end', async () => {
    await log.behave('a', 'release', { leave: true });
    await run('takeover', 'a', '1');
    await run('release', 'a', '1');
    const before = await beats('a');
    await until(async () => (await beats('a')) > before + 1);
  });

  it('serve as the child of `petrel run`', async () => {
    const child = start('run', 'a', '1');
    await until(async () => (await beats('a')) > 1);
    child.kill('SIGTERM');
    expect(await ended(child)).toBe(0);
    expect((await log.events()).at(-1)).toMatchObject({ node: 'a', phase: 'run', event: 'ended' });
  });

  it('give up with the log', async () => {
    await log.behave('a', 'release', { hang: true });
    const takeover = start('takeover', 'a', '1');
    const release = start('release', 'a', '1');
    await ended(takeover);
    const gone = ended(release);
    await log.stop();
    await gone;
    log = await HookLog.create();
  });
});
