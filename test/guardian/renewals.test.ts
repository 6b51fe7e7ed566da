/** A guardian's use of the leases that its agent records. Uses real processes and signals. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { afterEach, describe, expect, it } from 'vitest';
import { GuardianChannel } from '../../src/guardian/channel.js';
import type { FromAgent } from '../../src/guardian/messages.js';
import { SharedLease } from '../../src/guardian/shared-lease.js';
import { systemSupervisors } from '../../src/hooks/supervisor-process.js';
import { systemClock } from '../../src/ports/clock.js';
import { bench, eventually } from '../hooks/support.js';
import { builtFixture, builtModule } from '../support/built.js';
import { startStopwatch } from '../support/stopwatch.js';

const at = bench();
/** Lengths of the lease. The agent renews it every 50 ms. */
const leaseMs = { releaseInMs: 1_500, endsInMs: 3_000 };

const guardians: ChildProcess[] = [];
afterEach(() => {
  for (const guardian of guardians.splice(0)) guardian.kill('SIGKILL');
});

const processes = (name: string) =>
  at()
    .processes()
    .filter(({ args }) => args.includes(name) && !args.includes('/guardian.js'))
    .filter(({ args }) => name === '/agent.js' || !args.includes('/agent.js'));
const workloads = () => processes('sleep 1000');
const agentPid = () => processes('/agent.js')[0]?.pid ?? Number.NaN;

interface Said {
  readonly received?: string;
  readonly noted?: { readonly releaseAtMs: number } | null;
  readonly [key: string]: unknown;
}

/** Starts a guardian with an agent that leads. */
async function leading(lease = leaseMs) {
  const commands = { onTakeover: 'sleep 1000 & ', onRelease: 'echo "$PETREL_REASON" >> $DIR/log' };
  const json = JSON.stringify({ commands, ...lease, foreground: false });
  const program = await builtFixture('guardian/fixtures/guardian');
  const agent = [await builtFixture('hooks/agent'), await builtModule('hooks/command-workload.js'), json];
  const guardian = spawn(process.execPath, [program, ...agent], { stdio: ['pipe', 'pipe', 'inherit'] });
  guardians.push(guardian);
  const said: Said[] = [];
  createInterface({ input: guardian.stdout }).on('line', (line) => said.push(JSON.parse(line)));
  await eventually(() => said).toContainEqual(
    expect.objectContaining({ takeover: expect.objectContaining({ result: 'ok' }) }),
  );
  await eventually(workloads).toHaveLength(1);
  const looks = () => said.filter(({ noted }) => noted !== undefined).length;
  return { guardian, said, looks, pid: guardian.pid ?? Number.NaN };
}

async function passed(ms: number): Promise<void> {
  const endMs = systemClock.monotonicMs() + ms;
  await eventually(() => systemClock.monotonicMs()).toBeGreaterThan(endMs);
}

async function left({ guardian, said }: { guardian: ChildProcess; said: Said[] }): Promise<void> {
  guardian.stdin?.end();
  await eventually(() => said).toContainEqual(expect.objectContaining({ closed: true }));
  await eventually(() => guardian.exitCode).toBe(0);
}

describe('renewals of a lease', () => {
  it('keep a leadership, though the guardian receives no message of them, and looks for them seldom', async () => {
    const leader = await leading();
    const from = leader.said.length;
    const before = leader.looks();
    await passed(5 * leaseMs.releaseInMs);
    expect(leader.said.slice(from).filter(({ received }) => received !== undefined)).toEqual([]);
    // The guardian reads the lease once per period after which a lease is due, and more often only if the
    // machine was delayed.
    expect(leader.looks() - before).toBeGreaterThan(3);
    expect(leader.looks() - before).toBeLessThan(15);
    expect(workloads()).toHaveLength(1);
    await left(leader);
    expect(at().lines('log')).toEqual(['the agent is stopping']);
  });

  it('come to an end with an agent that stands still, and the workload before the lease', async () => {
    await leading();
    const sinceStop = startStopwatch();
    process.kill(agentPid(), 'SIGSTOP');
    await eventually(workloads).toEqual([]);
    expect(sinceStop.ms).toBeLessThan(leaseMs.endsInMs);
    expect(at().lines('log')).toEqual(['the lease was not renewed in time']);
    process.kill(agentPid(), 'SIGKILL');
  });

  it('go on with an agent that stood still for less than the lease has', async () => {
    const leader = await leading({ releaseInMs: 5_000, endsInMs: 6_000 });
    process.kill(agentPid(), 'SIGSTOP');
    await passed(3_500);
    process.kill(agentPid(), 'SIGCONT');
    await passed(3_500);
    expect(workloads()).toHaveLength(1);
    expect(at().lines('log')).toEqual([]);
    await left(leader);
  });

  it('are good for a guardian that stood still for several leases', async () => {
    const leader = await leading();
    process.kill(leader.pid, 'SIGSTOP');
    await passed(3 * leaseMs.releaseInMs);
    process.kill(leader.pid, 'SIGCONT');
    await passed(2 * leaseMs.releaseInMs);
    expect(workloads()).toHaveLength(1);
    expect(at().lines('log')).toEqual([]);
    await left(leader);
  });
});

const lease = (leadership: number, releaseAtMs: number) => ({
  leadership,
  releaseAtMs,
  endsAtMs: releaseAtMs + 1.5,
});

describe('a guardian is notified', () => {
  const leases = [lease(1, 10), lease(1, 20), lease(1, 20), lease(2, 30), lease(2, 40), lease(2, 35)];
  const none = { message() {}, gone() {} };

  function sentBy(sharedLease: SharedLease | null): FromAgent[] {
    const sent: FromAgent[] = [];
    const parent = {
      isThere: true,
      sharedLease,
      send: (message: FromAgent) => sent.push(message),
      kill() {},
    };
    const hello = {
      node: 'a1',
      root: '/cluster',
      log: 'json',
      codeAtDeath: 0,
      codeOnSignal: 'done',
    } as const;
    const channel = new GuardianChannel({ ...parent, listen: () => () => {} }, hello);
    const supervisor = channel
      .supervisors(systemSupervisors)
      .start({ node: 'a1', root: '/cluster', passesOutput: false }, none);
    for (const each of leases) supervisor.send({ type: 'lease', ...each });
    return sent.slice(2);
  }

  it('of the first lease of each leadership, and of one that is due sooner than the one before', () => {
    const sharedLease = SharedLease.create();
    const due = [lease(1, 10), lease(2, 30), lease(2, 35)];
    expect(sentBy(sharedLease)).toEqual(due.map((each) => ({ type: 'lease', group: 0, ...each })));
    expect(sharedLease?.read()).toEqual(lease(2, 35));
    sharedLease?.close();
  });

  it('of every lease where there is no memory to share', () => {
    expect(sentBy(null)).toEqual(leases.map((each) => ({ type: 'lease', group: 0, ...each })));
  });
});

describe('a shared lease', () => {
  const made = () => SharedLease.create() ?? never();

  it('has the lease that was written last, at the other end and after it was closed', () => {
    const sharedLease = made();
    expect(sharedLease.read()).toBeNull();
    const other = new SharedLease(sharedLease.fd);
    for (const [leadership, atMs] of [
      [1, 10.25],
      [1, 20],
      [2, 5],
      [2, 4],
    ] as const) {
      other.write(lease(leadership, atMs));
      expect(sharedLease.read()).toEqual(lease(leadership, atMs));
    }
    sharedLease.close();
    expect(sharedLease.read()).toEqual(lease(2, 4));
    sharedLease.close();
  });

  it('has those of several groups next to one another', () => {
    const sharedLease = made();
    const other = new SharedLease(sharedLease.fd);
    expect(sharedLease.read(999)).toBeNull();
    for (const group of [0, 7, 999]) expect(other.write(lease(1, group), group)).toBe(true);
    expect(sharedLease.read(7)).toEqual(lease(1, 7));
    expect(sharedLease.read(8)).toBeNull();
    sharedLease.close();
    expect([0, 7, 999].map((group) => sharedLease.read(group))).toEqual([
      lease(1, 0),
      lease(1, 7),
      lease(1, 999),
    ]);
  });
});

function never(): never {
  throw new Error('no shared lease');
}
