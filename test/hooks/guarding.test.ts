/**
 * The fate of a workload when the agent or its supervisor is frozen or killed. Uses real processes and
 * signals.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/ports/clock.js';
import { builtFixture, builtModule } from '../support/built.js';
import { startStopwatch } from '../support/stopwatch.js';
import { bench, eventually, residentMiB } from './support.js';

const at = bench();
const source = path('../../src/hooks/command-workload.ts');
const leaseMs = { releaseInMs: 1500, endsInMs: 3000 };
const stubborn = 'trap "" TERM; (trap "" TERM; sleep 1000; sleep 1000) & echo $! > $DIR/workload; ';

let built = '';
let fixture = '';
beforeAll(async () => {
  built = await builtModule('hooks/command-workload.js');
  fixture = await builtFixture('hooks/agent');
});

const agents: ChildProcess[] = [];
afterEach(() => {
  for (const agent of agents.splice(0)) agent.kill('SIGKILL');
});

const processes = (name: string) =>
  at()
    .processes()
    .filter(({ args }) => args.includes(name) && !/\/agent\.[tj]s/.test(args));
const workloads = () => processes('sleep 1000');
const supervisor = () => processes('/supervisor.')[0]?.pid ?? Number.NaN;

function path(relative: string): string {
  return fileURLToPath(new URL(relative, import.meta.url));
}

interface Said {
  readonly atMs: number;
  readonly [key: string]: unknown;
}

function startAgent(
  commands: { onTakeover: string; onRelease: string | null },
  module = built,
  { foreground = false, lease = leaseMs } = {},
) {
  const json = JSON.stringify({ commands, ...lease, foreground });
  const program = module === source ? ['--import', 'tsx', path('./agent.ts')] : [fixture];
  const child = spawn(process.execPath, [...program, module, json], {
    stdio: ['pipe', 'pipe', 'ignore'],
    cwd: path('../..'),
  });
  agents.push(child);
  const said: Said[] = [];
  const output: string[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => {
    if (line.startsWith('{')) said.push(JSON.parse(line));
    else output.push(line);
  });
  return { child, said, output, pid: child.pid ?? Number.NaN };
}

/** Returns an agent whose takeover has succeeded. */
async function leadingAgent(
  onRelease: string | null,
  onTakeover = stubborn,
  { module = built, lease = leaseMs } = {},
) {
  const agent = startAgent({ onTakeover, onRelease }, module, { lease });
  await eventually(() => agent.said).toMatchObject([{ takeover: { result: 'ok', provenDead: false } }]);
  await eventually(workloads).not.toEqual([]);
  return agent;
}

async function closed({ child, said }: { child: ChildProcess; said: Said[] }): Promise<void> {
  child.stdin?.end();
  await eventually(() => said.at(-1)).toMatchObject({ closed: true });
  await eventually(() => child.exitCode).toBe(0);
}

describe.each([
  ['run from its sources', () => source],
  ['built', () => built],
])('an agent %s', (_, module) => {
  it('that is frozen has its workload ended before the lease is, and is notified of it first of all', async () => {
    const onRelease = 'echo "$PETREL_REASON" >> $DIR/log; kill -0 $(cat $DIR/workload); echo $? >> $DIR/log';
    const agent = await leadingAgent(onRelease, stubborn, { module: module() });
    const sinceFrozen = startStopwatch();
    process.kill(agent.pid, 'SIGSTOP');
    await eventually(workloads).toEqual([]);
    expect(sinceFrozen.ms).toBeLessThan(leaseMs.endsInMs);
    expect(at().lines('log')).toEqual(['the lease was not renewed in time', '0']);
    agent.child.stdin.write('release\n');
    process.kill(agent.pid, 'SIGCONT');
    await eventually(() => agent.said.length).toBe(3);
    expect(agent.said[1]).toMatchObject({
      cause: 'lease-ended',
      release: { result: 'ok', provenDead: true },
    });
    await closed(agent);
  });

  it('that is killed has its release run by the supervisor, which then goes', async () => {
    const agent = await leadingAgent('echo "$PETREL_REASON" >> $DIR/log', stubborn, { module: module() });
    const sinceKill = startStopwatch();
    process.kill(agent.pid, 'SIGKILL');
    await eventually(() => at().processes()).toEqual([]);
    expect(sinceKill.ms).toBeLessThan(leaseMs.endsInMs + 500);
    expect(at().lines('log')).toEqual(['the agent died']);
  });
});

describe('an agent that is killed', () => {
  it('while it takes over: the takeover is aborted, then released', async () => {
    const agent = startAgent({
      onTakeover: 'trap "echo aborted >> $DIR/log; exit" TERM; echo begun >> $DIR/log; sleep 1000 & wait',
      onRelease: 'echo released >> $DIR/log',
    });
    await eventually(() => at().lines('log')).toEqual(['begun']);
    process.kill(agent.pid, 'SIGKILL');
    await eventually(() => at().processes()).toEqual([]);
    expect(at().lines('log')).toEqual(['begun', 'aborted', 'released']);
  });

  it('while its release hangs: all is dead when the lease ends', async () => {
    const agent = await leadingAgent('trap "" TERM; while :; do sleep 0.1; done');
    process.kill(agent.pid, 'SIGKILL');
    const sinceKill = startStopwatch();
    await eventually(() => at().processes()).toEqual([]);
    expect(sinceKill.ms).toBeLessThan(leaseMs.endsInMs + 500);
  });

  it('with its release under way: it is finished, and not run twice', async () => {
    const agent = await leadingAgent('echo begun >> $DIR/log; sleep 0.7; echo done >> $DIR/log');
    agent.child.stdin.write('release\n');
    await eventually(() => at().lines('log')).toEqual(['begun']);
    process.kill(agent.pid, 'SIGKILL');
    await eventually(() => at().processes()).toEqual([]);
    expect(at().lines('log')).toEqual(['begun', 'done']);
  });
});

describe('a workload in the foreground', () => {
  it('writes to the output of the agent, and is ended when that is killed', async () => {
    const agent = startAgent({ onTakeover: `echo hello; ${stubborn} wait`, onRelease: null }, built, {
      foreground: true,
    });
    await eventually(() => agent.said).toMatchObject([{ takeover: { result: 'ok', provenDead: false } }]);
    await eventually(() => agent.output).toEqual(['hello']);
    await eventually(workloads).not.toEqual([]);
    process.kill(agent.pid, 'SIGKILL');
    const sinceKill = startStopwatch();
    await eventually(() => at().processes()).toEqual([]);
    expect(sinceKill.ms).toBeLessThan(leaseMs.endsInMs + 500);
  });
});

describe('a frozen agent', () => {
  it('costs its supervisor no memory, and holds up no release, whatever the commands write', async () => {
    // Reading megabytes takes seconds on a slow machine, so the release gets more time.
    const lease = { releaseInMs: 1_500, endsInMs: 60_000 };
    const agent = await leadingAgent('seq 1 300000; echo done >> $DIR/log', 'sleep 1000 & yes & ', { lease });
    process.kill(agent.pid, 'SIGSTOP');
    await eventually(() => at().lines('log')).toEqual(['done']);
    expect(residentMiB(supervisor())).toBeLessThan(250);
    await eventually(workloads).toEqual([]);
    process.kill(agent.pid, 'SIGCONT');
    await closed(agent);
  });
});

describe('a supervisor', () => {
  it('has a session of its own, and is not ended by signals meant for the agent', async () => {
    const agent = await leadingAgent('echo released >> $DIR/log');
    expect(sessionOf(supervisor())).toBe(supervisor());
    const pid = supervisor();
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.kill(pid, signal);
    agent.child.stdin.write('release\n');
    await eventually(() => agent.said[1]).toMatchObject({ release: { result: 'ok', provenDead: true } });
    expect(supervisor()).toBe(pid);
    await closed(agent);
  });

  it('that is killed: the agent kills the workload, says so, and the release runs in a new one', async () => {
    const agent = await leadingAgent('echo released >> $DIR/log');
    const killed = supervisor();
    process.kill(killed, 'SIGKILL');
    await eventually(() => agent.said[1]).toMatchObject({ cause: 'guard-lost', provenDead: true });
    expect(workloads()).toEqual([]);
    agent.child.stdin.write('release\n');
    await eventually(() => agent.said[2]).toMatchObject({ release: { result: 'ok', provenDead: true } });
    expect(at().lines('log')).toEqual(['released']);
    expect(supervisor()).not.toBe(killed);
    await closed(agent);
  });

  it('that is killed while a takeover runs: the takeover has failed', async () => {
    const agent = startAgent({ onTakeover: 'echo begun >> $DIR/log; sleep 1000', onRelease: null });
    await eventually(() => at().lines('log')).toEqual(['begun']);
    process.kill(supervisor(), 'SIGKILL');
    await eventually(() => agent.said).toMatchObject([
      { cause: 'guard-lost', provenDead: true },
      { takeover: { result: 'failed', error: 'the supervisor was killed by SIGKILL', provenDead: true } },
    ]);
    expect(workloads()).toEqual([]);
    await closed(agent);
  });

  it('that stood still for a while does not end a lease that was renewed meanwhile', async () => {
    const agent = await leadingAgent('echo released >> $DIR/log');
    const pid = supervisor();
    process.kill(pid, 'SIGSTOP');
    const untilMs = systemClock.monotonicMs() + leaseMs.releaseInMs + 500;
    await eventually(() => systemClock.monotonicMs()).toBeGreaterThan(untilMs);
    process.kill(pid, 'SIGCONT');
    agent.child.stdin.write('release\n');
    await eventually(() => agent.said[1]).toMatchObject({ release: { result: 'ok', provenDead: true } });
    expect(agent.said).toHaveLength(2);
    await closed(agent);
  });

  it('releases when the agent closes without having done so', async () => {
    const agent = await leadingAgent('echo released >> $DIR/log');
    await closed(agent);
    expect(at().lines('log')).toEqual(['released']);
    expect(at().processes()).toEqual([]);
  });
});

function sessionOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[3]);
}
