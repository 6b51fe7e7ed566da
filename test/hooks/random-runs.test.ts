/**
 * Random leaderships of a foreground command in simulated time. The command ends by itself or ignores
 * signals, and is restarted or not. In the meantime, leases end, releases are requested, and the agent or its
 * supervisor is killed or frozen. PETREL_TEST_SEED and PETREL_TEST_LIVES select other runs.
 */
import { describe, it } from 'vitest';
import { CommandWorkload } from '../../src/hooks/command-workload.js';
import { type CommandEnd, RestartingWorkload, restartPolicies } from '../../src/hooks/restarting-workload.js';
import type { HookContext } from '../../src/ports/workload.js';
import type { Process } from '../simulation/process.js';
import { type Chance, chance } from '../support/chance.js';
import { liveAll } from './drawn-lives.js';
import { context } from './hook-context.js';
import { type Group, type Script, SimulatedMachine } from './simulated-machine.js';
import { silentLog } from './support.js';

const forever = Number.POSITIVE_INFINITY;
const lifeMs = 60_000;
const failureCode = 3;

/** The reports about one leadership. */
interface Reports {
  readonly finished: CommandEnd[];
  readonly stopped: (CommandEnd | null)[];
  handedOn: boolean;
  over: boolean;
}

class Life {
  readonly wrong: string[] = [];
  readonly logContext: string[] = [];
  readonly #draw: Chance;
  readonly #machine: SimulatedMachine;
  readonly #agent: Process;
  readonly #workload: RestartingWorkload;
  readonly #policy: (typeof restartPolicies)[number];
  readonly #restartLimit: number;
  readonly #reserveMs: number;
  readonly #leaseEnds = new Map<number, number>();
  readonly #reports = new Map<number, Reports>();
  readonly #seen = new Map<number, Group>();
  readonly #codes = new Map<number, number[]>();
  #mishap = 'none';
  #term = 0;
  #isLeading = false;
  #isReleasing = false;
  #isClosing = false;

  constructor(seed: number) {
    const draw = chance(seed);
    this.#draw = draw;
    this.#policy = draw.pick(restartPolicies);
    this.#restartLimit = draw.pick([0, 1, 3]);
    this.#reserveMs = draw.pick([300, 2000]);
    this.#machine = new SimulatedMachine(({ env }) => this.#script(Number(env.PETREL_TERM)), draw);
    this.#agent = this.#machine.newProcess('agent');
    const commands = { onPrepare: null, onTakeover: ['work'] as [string], onRelease: null, onFence: null };
    const seen = this.#machine.seenBy(this.#agent);
    this.#workload = new RestartingWorkload({
      workload: new CommandWorkload({
        commands,
        node: 'a1',
        root: '/cluster',
        incarnation: 'one',
        log: silentLog,
        ...seen,
        supervisors: this.#machine.supervisorsOf(this.#agent),
        foreground: true,
      }),
      policy: this.#policy,
      restartLimit: this.#restartLimit,
      clock: seen.clock,
      log: silentLog,
      onFinished: (end) => this.#reportsNow.finished.push(end),
      onStopped: (end) => {
        this.#reportsNow.stopped.push(end);
        const mayBeUnknown = this.#mishap.startsWith('supervisor') || this.#isClosing;
        if (end === null && !mayBeUnknown) this.#blame(`term ${this.#term}: nobody knows how it ended`);
      },
    });
    this.#workload.onEnd((end) => {
      this.#log(`end: ${end.cause}`);
      if (end.cause === 'workload-ended') this.#reportsNow.handedOn = true;
      if (end.cause === 'lease-ended') this.#endLeadership();
      else void this.#release();
    });
  }

  async run(): Promise<void> {
    this.#planMishap();
    this.#lead();
    await this.#machine.run(lifeMs, () => this.#look());
    this.#agent.thaw();
    this.#isClosing = true;
    if (this.#agent.isAlive) void this.#workload.close();
    await this.#machine.run(lifeMs + 20_000, () => this.#look());
    if (this.#machine.groups.size > 0) this.#blame('something lives for ever');
    for (const [term, reports] of this.#reports) this.#judge(term, reports);
  }

  get #reportsNow(): Reports {
    const known = this.#reports.get(this.#term);
    if (known !== undefined) return known;
    const reports: Reports = { finished: [], stopped: [], handedOn: false, over: false };
    this.#reports.set(this.#term, reports);
    return reports;
  }

  #script(term: number): Script {
    const { pick } = this.#draw;
    const runsMs = pick([0, 10, 400, 400, 5_000, forever]);
    const code = pick([0, failureCode, failureCode]);
    if (runsMs < forever) this.#codes.set(term, [...(this.#codes.get(term) ?? []), code]);
    const stopsInMs = pick([0, 10, 400, forever]);
    return { runsMs, code, stopsInMs, diesInMs: 0, workload: null };
  }

  #planMishap(): void {
    this.#mishap = this.#draw.pick([
      'none',
      'none',
      'agent killed',
      'agent frozen',
      'supervisor killed',
      'supervisor frozen',
    ]);
    const { world } = this.#machine;
    world.after(this.#draw.upTo(20_000), () => {
      const victim = this.#mishap.startsWith('agent') ? this.#agent : this.#machine.supervisor;
      if (this.#mishap === 'none' || victim === undefined) return;
      this.#log(this.#mishap);
      if (this.#mishap.endsWith('killed')) return victim.kill();
      victim.freeze();
      world.after(this.#draw.pick([300, 1500, 4000]), () => victim.thaw());
    });
  }

  #lead(): void {
    if (this.#machine.world.nowMs > lifeMs - 20_000) return;
    this.#term++;
    this.#isLeading = true;
    this.#isReleasing = false;
    this.#log(`leads, term ${this.#term}`);
    const term = this.#term;
    const release = this.#context('release');
    this.#renew(term, this.#machine.world.nowMs + this.#draw.pick([500, 6_000, 20_000]), release);
    void this.#workload.run(this.#context('takeover')).outcome.then(({ result }) => {
      if (result !== 'ok' && this.#term === term) void this.#release();
    });
    this.#agent.clock.timer(this.#draw.pick([1, 100, 420, 700, 6_000, 20_000]), () => {
      if (this.#term === term) void this.#release();
    });
  }

  #renew(term: number, untilMs: number, release: HookContext): void {
    const { clock } = this.#agent;
    const now = clock.monotonicMs();
    if (this.#term !== term || !this.#isLeading || now > untilMs) return;
    const lease = { releaseAtMs: now + 1000, endsAtMs: now + 1000 + this.#reserveMs };
    this.#leaseEnds.set(term, lease.endsAtMs);
    this.#workload.holdLease(lease, release);
    clock.timer(300, () => this.#renew(term, untilMs, release));
  }

  #context(phase: 'takeover' | 'release'): HookContext {
    return context(phase, { term: this.#term, timeoutMs: this.#draw.pick([100, 1000]), graceMs: 100 });
  }

  async #release(): Promise<void> {
    if (this.#isReleasing || !this.#isLeading) return;
    this.#isReleasing = true;
    const term = this.#term;
    const { provenDead, exitCode, signal } = await this.#workload.run(this.#context('release')).outcome;
    this.#log(`released: ${provenDead} ${exitCode} ${signal}`);
    if (this.#term !== term || !this.#isLeading) return;
    if (!provenDead) this.#blame('a release that proves nothing');
    this.#endLeadership();
  }

  #endLeadership(): void {
    this.#isLeading = false;
    this.#mustBeDead();
    this.#reportsNow.over = true;
    // The agent releases its claim, and no node is elected for some time. No command must start in that time.
    this.#agent.clock.timer(this.#draw.pick([0, 400]), () => this.#workload.endLeadership());
    this.#agent.clock.timer(this.#draw.pick([450, 15_000]), () => this.#lead());
  }

  #mustBeDead(): void {
    for (const { command } of this.#machine.groups.values())
      this.#blame(`term ${command.env.PETREL_TERM} lives on`);
  }

  #look(): void {
    const { groups, world } = this.#machine;
    for (const [pgid, group] of groups) {
      const term = Number(group.command.env.PETREL_TERM);
      if (!this.#seen.has(pgid)) {
        this.#seen.set(pgid, group);
        this.#log(`starts, term ${term}`);
        if (this.#reports.get(term)?.over) this.#blame(`term ${term} starts after its end`);
      }
      const slackMs = this.#mishap.startsWith('supervisor') ? 30 : 0;
      const lateMs = world.nowMs - (this.#leaseEnds.get(term) ?? forever) - slackMs;
      if (lateMs > 0) this.#blame(`term ${term} outlives its lease`);
    }
    if (groups.size > 1) this.#blame(`${groups.size} at once`);
  }

  #judge(term: number, reports: Reports): void {
    const starts = [...this.#seen.values()].filter(
      ({ command }) => Number(command.env.PETREL_TERM) === term,
    ).length;
    const { finished, stopped, handedOn } = reports;
    const failures = (this.#codes.get(term) ?? []).filter((code) => code !== 0).length;
    if (finished.length + stopped.length > 1) this.#blame(`term ${term} ended more than once`);
    if (this.#policy === 'no' && starts > 1) this.#blame(`term ${term} was started ${starts} times`);
    // The end of the leadership may have interrupted one more run, which then counts as failed.
    if (failures > this.#restartLimit + 2 && this.#policy !== 'no')
      this.#blame(`term ${term} failed ${failures} times`);
    if (this.#policy !== 'on-failure' && this.#policy !== 'no' && finished.length > 0)
      this.#blame('always, and finished');
    if (!reports.over || !this.#agent.isAlive) return;
    const isReported = finished.length + stopped.length > 0 || handedOn;
    if (starts > 0 !== isReported)
      this.#blame(`term ${term}: started ${starts} times, reported ${JSON.stringify(reports)}`);
    for (const end of [...finished, ...stopped]) {
      const isPossible = end?.signal != null || end?.exitCode === 0 || end?.exitCode === failureCode;
      if (end !== null && !isPossible) this.#blame(`term ${term} ended with ${end.exitCode}`);
    }
  }

  #log(what: string): void {
    this.logContext.push(`${this.#machine.world.nowMs}: ${what}`);
  }

  #blame(what: string): void {
    const line = `${this.#policy} ${this.#restartLimit}, ${this.#mishap}: ${what}`;
    if (this.wrong.includes(line)) return;
    this.wrong.push(line);
    this.#log(`WRONG ${what}`);
  }
}

describe('a command that runs only while its node leads', () => {
  it('never outlives its lease, runs once at a time, and is reported once', async () => {
    await liveAll((seed) => new Life(seed), 200);
  });
});
