/**
 * Random leaderships in simulated time. Hooks hang, fail and leave processes behind, and processes die late.
 * At a random step, the agent or its supervisor is killed or frozen. PETREL_TEST_SEED and PETREL_TEST_LIVES
 * select other runs.
 */
import { describe, it } from 'vitest';
import { CommandWorkload } from '../../src/hooks/command-workload.js';
import type { CommandLine } from '../../src/ports/processes.js';
import type { HookContext, HookResult, WorkloadLease } from '../../src/ports/workload.js';
import type { Process } from '../simulation/process.js';
import { type Chance, chance } from '../support/chance.js';
import { liveAll } from './drawn-lives.js';
import { context } from './hook-context.js';
import { type Behaviour, type Group, type Script, SimulatedMachine } from './simulated-machine.js';
import { silentLog } from './support.js';

type Mishap = 'none' | 'agent killed' | 'agent frozen' | 'supervisor killed' | 'supervisor frozen';
const forever = Number.POSITIVE_INFINITY;
const lifeMs = 30_000;

function drawBehaviour({ pick, odds }: Chance, isSticky: boolean): Behaviour {
  return {
    runsMs: pick([0, 5, 200, 3000]),
    code: pick([0, 0, 0, 1]),
    stopsInMs: pick([0, 10, 400, forever]),
    diesInMs: isSticky && odds(0.3) ? pick([100, 1500, 5000]) : 0,
  };
}

function drawScript(draw: Chance, { env }: CommandLine, isSticky: boolean): Script {
  const leader = drawBehaviour(draw, isSticky);
  const runsMs = draw.odds(0.05) ? forever : leader.runsMs;
  const leaves = draw.odds(env.PETREL_PHASE === 'takeover' ? 0.9 : 0.2);
  return {
    ...leader,
    runsMs,
    workload: leaves ? { ...drawBehaviour(draw, isSticky), runsMs: forever } : null,
  };
}

/** An agent that leads repeatedly, and the promises that it or its supervisor breaks. */
class Life {
  readonly wrong: string[] = [];
  readonly logContext: string[] = [];
  readonly #draw: Chance;
  readonly #machine: SimulatedMachine;
  readonly #agent: Process;
  readonly #workload: CommandWorkload;
  readonly #contexts = new Map<string, HookContext>();
  readonly #leases = new Map<string, WorkloadLease>();
  readonly #seen = new Map<number, Group>();
  /**
   * Whether processes may die late. If so, Petrel does not promise when they die, but its reports about them
   * must be correct.
   */
  readonly #isSticky: boolean;
  readonly #reserveMs: number;
  #mishap: Mishap = 'none';
  #pending = 0;
  #term = 0;
  #releasing = 0;
  #over = false;

  constructor(seed: number) {
    const draw = chance(seed);
    this.#draw = draw;
    this.#isSticky = draw.odds(0.4);
    this.#reserveMs = draw.pick([300, 500, 2000]);
    this.#machine = new SimulatedMachine((command) => drawScript(draw, command, this.#isSticky), draw);
    this.#agent = this.#machine.newProcess('agent');
    this.#workload = new CommandWorkload({
      commands: { onPrepare: null, onTakeover: ['start'], onRelease: ['stop'], onFence: null },
      node: 'a1',
      root: '/cluster',
      incarnation: 'one',
      log: silentLog,
      ...this.#machine.seenBy(this.#agent),
      supervisors: this.#machine.supervisorsOf(this.#agent),
    });
    this.#workload.onEnd((end) => {
      this.#log(`end: ${end.cause}`);
      if (end.cause === 'lease-ended') {
        this.#mustBeProven('lease-ended', this.#term, end.release);
        if (end.release.provenDead) this.#endLeadership();
        else this.#retryRelease();
      } else if (end.cause === 'guard-lost') void this.#release();
    });
  }

  async run(): Promise<void> {
    this.#planMishap();
    this.#lead();
    await this.#machine.run(lifeMs, () => this.#look());
    this.#over = true;
    this.#agent.thaw();
    let closed: boolean | null = null;
    if (this.#agent.isAlive) void this.#workload.close().then((provenDead) => (closed = provenDead));
    await this.#machine.run(2 * lifeMs, () => this.#look());
    if (this.#agent.isAlive) {
      if (closed !== true && !this.#isSticky) this.#blame(`close: ${closed}`);
      if (this.#pending > 0) this.#blame(`${this.#pending} runs never settled`);
    }
    if (this.#machine.groups.size > 0) this.#blame('something lives for ever');
    if (this.#machine.supervisor !== undefined) this.#blame('the supervisor lives for ever');
    this.#everyLeadershipWasReleased();
  }

  #planMishap(): void {
    const { world } = this.#machine;
    const atMs = this.#draw.upTo(8000);
    const wakesAfterMs = this.#draw.pick([300, 1500, 4000]);
    this.#mishap = this.#draw.pick([
      'none',
      'agent killed',
      'agent frozen',
      'supervisor killed',
      'supervisor frozen',
    ]);
    world.after(atMs, () => {
      this.#log(this.#mishap);
      const victim = this.#mishap.startsWith('agent') ? this.#agent : this.#machine.supervisor;
      // `doom` lets the process take a few more steps, so that the fault often occurs in the middle of an
      // action.
      victim?.doom(this.#draw.upTo(6), () => {
        this.#log('now');
        if (this.#mishap.endsWith('killed')) victim.kill();
        if (!this.#mishap.endsWith('frozen')) return;
        victim.freeze();
        world.after(wakesAfterMs, () => victim.thaw());
      });
    });
  }

  #lead(): void {
    if (this.#over) return;
    const term = ++this.#term;
    const untilMs = this.#machine.world.nowMs + this.#draw.pick([200, 3000, 8000]);
    this.#log(`leads, term ${term}`);
    this.#renew(term, untilMs);
    const run = this.#ask('takeover');
    const asksAfterMs = this.#draw.pick([1, 100, 2000, 6000, forever]);
    if (asksAfterMs < forever) {
      this.#agent.clock.timer(asksAfterMs, () => {
        if (this.#term === term) void this.#release();
      });
    }
    if (this.#draw.odds(0.2)) this.#agent.clock.timer(this.#draw.upTo(300), () => run.abort('a whim'));
  }

  #renew(term: number, untilMs: number): void {
    const { clock } = this.#agent;
    const now = clock.monotonicMs();
    if (this.#term !== term || this.#over || now > untilMs) return;
    const lease = { releaseAtMs: now + 1000, endsAtMs: now + 1000 + this.#reserveMs };
    this.#leases.set(String(term), lease);
    this.#workload.holdLease(lease, this.#context('release'));
    clock.timer(300, () => this.#renew(term, untilMs));
  }

  #context(phase: 'takeover' | 'release') {
    const key = `${phase} ${this.#term}`;
    const known = this.#contexts.get(key);
    if (known !== undefined) return known;
    const made = context(phase, {
      term: this.#term,
      timeoutMs: this.#draw.pick([100, 1000, 4000]),
      graceMs: this.#draw.pick([0, 100, 1000]),
    });
    this.#contexts.set(key, made);
    return made;
  }

  #ask(phase: 'takeover' | 'release') {
    const term = this.#term;
    const run = this.#workload.run(this.#context(phase));
    this.#pending++;
    void run.outcome.then((outcome) => {
      this.#pending--;
      this.#log(`${phase} ${term}: ${outcome.result} ${outcome.provenDead} ${outcome.error}`);
      if (phase === 'release') this.#mustBeProven(`release ${term}`, term, outcome);
    });
    return run;
  }

  async #release(): Promise<void> {
    const term = this.#term;
    if (this.#over || this.#releasing === term) return;
    this.#releasing = term;
    const { provenDead } = await this.#ask('release').outcome;
    if (this.#term !== term) return;
    if (!provenDead) return this.#retryRelease();
    this.#workload.endLeadership();
    this.#endLeadership();
  }

  #retryRelease(): void {
    this.#releasing = 0;
    const term = this.#term;
    this.#agent.clock.timer(500, () => {
      if (this.#term === term) void this.#release();
    });
  }

  #endLeadership(): void {
    this.#term += 0.5;
    this.#agent.clock.timer(this.#draw.pick([1, 500]), () => {
      this.#term = Math.floor(this.#term);
      this.#lead();
    });
  }

  /** Checks that everything that was reported dead is dead. */
  #mustBeProven(what: string, term: number, { provenDead }: HookResult): void {
    if (!provenDead && !this.#isSticky) this.#blame(`${what} is not proven dead`);
    if (!provenDead) return;
    for (const { command } of this.#machine.groups.values()) {
      if (Number(command.env.PETREL_TERM) <= term)
        this.#blame(`${what}, but ${command.env.PETREL_PHASE} ${command.env.PETREL_TERM} lives`);
    }
  }

  #look(): void {
    this.#notice();
    if (!this.#isSticky) this.#lookForLate();
  }

  #notice(): void {
    const { groups } = this.#machine;
    for (const [pgid, group] of groups) {
      if (!this.#seen.has(pgid)) {
        this.#seen.set(pgid, group);
        this.#log(`${group.command.env.PETREL_PHASE} ${group.command.env.PETREL_TERM} starts`);
      }
    }
  }

  #lookForLate(): void {
    const { groups, world } = this.#machine;
    for (const group of groups.values()) {
      const { PETREL_TERM: term = '', PETREL_PHASE: phase } = group.command.env;
      const endsAtMs = this.#leases.get(term)?.endsAtMs ?? forever;
      if (phase === 'takeover' && world.nowMs > endsAtMs + this.#slackMs()) {
        this.#blame(`term ${term} lives ${world.nowMs - endsAtMs} ms after its lease`);
      }
    }
    const hooks = [...groups.values()].filter(({ leader, members }) => members.has(leader));
    if (hooks.length > 1) {
      this.#blame(
        `overlap: ${hooks.map(({ command: { env } }) => `${env.PETREL_PHASE} ${env.PETREL_TERM}`)}`,
      );
    }
  }

  #slackMs(): number {
    return this.#mishap.startsWith('supervisor') ? 30 : 0;
  }

  #everyLeadershipWasReleased(): void {
    const started = (phase: string) =>
      [...this.#seen.values()]
        .filter(({ command }) => command.env.PETREL_PHASE === phase)
        .map(({ command }) => command.env.PETREL_TERM);
    const released = started('release');
    // If an agent closes or is killed while it kills its supervisor's remaining processes, no process remains
    // that could run a release.
    const mayBeMissed = (term = '') =>
      this.#isSticky && (Number(term) === Math.floor(this.#term) || !this.#agent.isAlive);
    for (const term of started('takeover')) {
      const times = released.filter((other) => other === term).length;
      if (times === 0 && !mayBeMissed(term)) this.#blame(`term ${term} was never released`);
      if (times > 1 && !this.#isSticky && !this.#mishap.startsWith('supervisor'))
        this.#blame(`term ${term} was released twice`);
    }
  }

  #log(what: string): void {
    this.logContext.push(`${this.#machine.world.nowMs}: ${what}`);
  }

  #blame(what: string): void {
    const line = `${this.#mishap}: ${what}`;
    if (this.wrong.includes(line)) return;
    this.wrong.push(line);
    this.#log(`WRONG ${what}`);
  }
}

describe('an agent that leads time and again', () => {
  it('lets nothing outlive its lease, and says of nothing that it is dead before it is', async () => {
    await liveAll((seed) => new Life(seed), 100);
  });
});
