/**
 * Processes of the simulated world. One can be killed and frozen at any event, and at any call that it makes
 * to the outside in the middle of one: from then on nothing it does has an effect (killed), or has it only
 * once it goes on (frozen), while the clock readings that it has taken by then grow old.
 */
import type { Clock } from '../../src/ports/clock.js';
import type { World } from './world.js';

/** A machine's clock: its rate against true time, and what it showed in the beginning. */
export interface MachineClock {
  readonly rate: number;
  readonly startMs: number;
  /** What its wall clock shows in the beginning. Decides nothing. */
  readonly wallMs: number;
}

interface Delivery {
  readonly kind: 'timer' | 'message';
  readonly run: () => void;
}

export class Process {
  readonly name: string;
  readonly clock: Clock;
  readonly #world: World;
  readonly #runsCode: boolean;
  #alive = true;
  readonly #bornAtMs: number;
  #diedAtMs = Number.POSITIVE_INFINITY;
  #frozen = false;
  #wasFrozen = false;
  #hasExited = false;
  #runsSinceMs = Number.NEGATIVE_INFINITY;
  #incoming: Delivery[] = [];
  #outgoing: (() => void)[] = [];
  readonly #mourners: (() => void)[] = [];
  /** What happens at the n-th call from now. */
  #fate: { calls: number; readonly befall: () => void } | null = null;

  /** `runsCode`: what it does upon an event may go on in promises. */
  constructor(world: World, name: string, machine: MachineClock, { runsCode = true } = {}) {
    this.#world = world;
    this.#bornAtMs = world.nowMs;
    this.#runsCode = runsCode;
    this.name = name;
    this.clock = {
      monotonicMs: () => machine.startMs + world.nowMs * machine.rate,
      wallMs: () => machine.wallMs + world.nowMs * machine.rate,
      timer: (delayMs, fire) => {
        let cancelled = false;
        const cancel = world.after(Math.max(0, Math.ceil(delayMs)) / machine.rate, () => {
          this.deliver(() => !cancelled && fire(), 'timer');
        });
        return () => {
          cancelled = true;
          cancel();
        };
      },
      turn: (fire) => {
        let cancelled = false;
        const cancel = world.after(0, () => this.deliver(() => !cancelled && fire(), 'timer'));
        return () => {
          cancelled = true;
          cancel();
        };
      },
    };
  }

  get isAlive(): boolean {
    return this.#alive;
  }

  get isFrozen(): boolean {
    return this.#frozen;
  }

  /** By itself. */
  get hasExited(): boolean {
    return this.#hasExited;
  }

  /** At any time in its life. */
  get wasFrozen(): boolean {
    return this.#wasFrozen;
  }

  get isRunning(): boolean {
    return this.#alive && !this.#frozen;
  }

  /** For how long it has been running since it stood still last; 0 while it does not run. */
  get runsForMs(): number {
    return this.isRunning ? this.#world.nowMs - this.#runsSinceMs : 0;
  }

  /** For how long it has been there; 0 once it is dead. */
  get livesForMs(): number {
    return this.#alive ? this.#world.nowMs - this.#bornAtMs : 0;
  }

  /** For how long it has been dead; 0 while it lives. */
  get deadForMs(): number {
    return this.#alive ? 0 : this.#world.nowMs - this.#diedAtMs;
  }

  /** Something reaches this process: now, when it goes on, or never. */
  deliver(run: () => void, kind: Delivery['kind'] = 'message'): void {
    if (!this.#alive) return;
    if (this.#frozen) {
      this.#incoming.push({ kind, run });
      return;
    }
    if (this.#runsCode) this.#world.codeRuns();
    run();
  }

  /** This process does something to the outside. */
  call(effect: () => void): void {
    if (this.#fate !== null) {
      this.#fate.calls -= 1;
      if (this.#fate.calls < 0) {
        const { befall } = this.#fate;
        this.#fate = null;
        befall();
      }
    }
    if (!this.#alive) return;
    if (this.#frozen) this.#outgoing.push(effect);
    else effect();
  }

  /** Lets `befall` happen at the n-th call from now, before it has an effect. */
  doom(calls: number, befall: () => void): void {
    this.#fate = { calls, befall };
  }

  /** Nothing happens at any call. */
  spare(): void {
    this.#fate = null;
  }

  freeze(): void {
    this.#wasFrozen = true;
    this.#frozen = true;
  }

  /**
   * What it did last takes effect, then it learns what it missed: timers first or messages first, as it
   * happens.
   */
  thaw(): void {
    if (!this.#alive || !this.#frozen) return;
    this.#frozen = false;
    this.#runsSinceMs = this.#world.nowMs;
    const outgoing = this.#outgoing;
    this.#outgoing = [];
    for (const effect of outgoing) effect();
    const incoming = this.#incoming;
    this.#incoming = [];
    const first: Delivery['kind'] = this.#world.chance.odds(0.5) ? 'timer' : 'message';
    const inOrder = [
      ...incoming.filter(({ kind }) => kind === first),
      ...incoming.filter(({ kind }) => kind !== first),
    ];
    for (const { kind, run } of inOrder) this.#world.after(0, () => this.deliver(run, kind));
  }

  /** It has done what it was there for. */
  exit(): void {
    this.#hasExited = this.#alive;
    this.kill();
  }

  kill(): void {
    if (!this.#alive) return;
    this.#alive = false;
    this.#diedAtMs = this.#world.nowMs;
    this.#incoming = [];
    this.#outgoing = [];
    this.#fate = null;
    for (const mourn of this.#mourners.splice(0)) mourn();
  }

  onDeath(mourn: () => void): void {
    this.#mourners.push(mourn);
  }
}
