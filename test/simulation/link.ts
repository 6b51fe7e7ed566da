/**
 * One direction of a connection between two machines. Messages arrive in order, each after its own delay. A
 * cut link holds messages until the cut ends, as TCP does. The receiver must ignore messages from a
 * connection that has ended before they arrive.
 */
import type { World } from './world.js';

export interface Delays {
  readonly leastMs: number;
  readonly mostMs: number;
}

export class Link {
  readonly #world: World;
  readonly #delays: Delays;
  #isCut = false;
  /** Time that is added to every delay. */
  #slowerByMs = 0;
  #lastArrivalMs = 0;
  #held: (() => void)[] = [];

  constructor(world: World, delays: Delays) {
    this.#world = world;
    this.#delays = delays;
  }

  get isCut(): boolean {
    return this.#isCut;
  }

  get isWhole(): boolean {
    return !this.#isCut && this.#slowerByMs === 0;
  }

  send(arrive: () => void): void {
    if (this.#isCut) {
      this.#held.push(arrive);
      return;
    }
    const { leastMs, mostMs } = this.#delays;
    const arrivalMs = this.#world.nowMs + this.#world.chance.between(leastMs, mostMs) + this.#slowerByMs;
    this.#lastArrivalMs = Math.max(this.#lastArrivalMs, arrivalMs);
    this.#world.at(this.#lastArrivalMs, () => {
      if (this.#isCut) this.#held.push(arrive);
      else arrive();
    });
  }

  cut(): void {
    this.#isCut = true;
  }

  slow(byMs: number): void {
    this.#slowerByMs = byMs;
  }

  repair(): void {
    this.#slowerByMs = 0;
    if (!this.#isCut) return;
    this.#isCut = false;
    for (const arrive of this.#held.splice(0)) this.send(arrive);
  }
}
