/**
 * Processes of the simulated world. A process can be killed or frozen at any event, and in the middle of any
 * call that it makes to the outside. The later calls of a killed process have no effect. The later calls of a
 * frozen process take effect when the process is thawed. By then, its earlier clock readings are outdated.
 */
import type { Clock } from '../../src/ports/clock.js';
import type { World } from './world.js';

/** A machine's clock: its rate relative to true time, and its initial reading. */
export interface MachineClock {
  readonly rate: number;
  readonly startMs: number;
  /** Initial reading of the wall clock. No decision depends on this reading. */
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
  /** Effect that the n-th call from now triggers. Null if there is none. */
  #fate: { calls: number; readonly befall: () => void } | null = null;

  /** Creates a process. `runsCode` says whether its reaction to an event may continue in promises. */
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

  /** Whether the process has exited by itself. */
  get hasExited(): boolean {
    return this.#hasExited;
  }

  /** Whether the process has ever been frozen. */
  get wasFrozen(): boolean {
    return this.#wasFrozen;
  }

  get isRunning(): boolean {
    return this.#alive && !this.#frozen;
  }

  /** Time since the process started or was last thawed. 0 if it is dead or frozen. */
  get runsForMs(): number {
    return this.isRunning ? this.#world.nowMs - this.#runsSinceMs : 0;
  }

  /** Time since the process started. 0 if it is dead. */
  get livesForMs(): number {
    return this.#alive ? this.#world.nowMs - this.#bornAtMs : 0;
  }

  /** Time since the process died. 0 if it is alive. */
  get deadForMs(): number {
    return this.#alive ? 0 : this.#world.nowMs - this.#diedAtMs;
  }

  /**
   * Delivers an event to this process: immediately, or when the process is thawed. A dead process gets no
   * events.
   */
  deliver(run: () => void, kind: Delivery['kind'] = 'message'): void {
    if (!this.#alive) return;
    if (this.#frozen) {
      this.#incoming.push({ kind, run });
      return;
    }
    if (this.#runsCode) this.#world.codeRuns();
    run();
  }

  /**
   * Applies an effect of this process on the outside, unless the process is dead. The effect of a frozen
   * process is delayed.
   */
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

  /** Triggers `befall` at the n-th call from now, before that call takes effect. */
  doom(calls: number, befall: () => void): void {
    this.#fate = { calls, befall };
  }

  /** Cancels an effect that `doom` has prepared. */
  spare(): void {
    this.#fate = null;
  }

  freeze(): void {
    this.#wasFrozen = true;
    this.#frozen = true;
  }

  /**
   * Thaws the process. Its last calls take effect first. After that, it gets the events that it missed:
   * timers first or messages first, at random.
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

  /** Makes the process exit because its work is done. */
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
