/**
 * The guards of all groups that one agent is in. Each runs the hooks of its group one after the other and
 * guards its leadership, beside the others and whatever becomes of them. A group has a number, which is never
 * given again in an agent's life.
 */
import type { Machine } from '../ports/processes.js';
import { Guard } from './guard.js';
import type { FromGuards, LeadershipLease, ToGuards } from './messages.js';

export interface GuardsListener {
  post(message: FromGuards): void;
  /** In no group anything runs, waits or lives. */
  idle(): void;
}

interface Guarded {
  readonly guard: Guard;
  /** Null before it is told. */
  root: string | null;
  /** The agent has left the group, and waits to hear that nothing of it is left. */
  isLeft: boolean;
}

export class Guards {
  readonly #listener: GuardsListener;
  readonly #machine: Machine;
  readonly #noted: (group: number) => LeadershipLease | null;
  readonly #guarded = new Map<number, Guarded>();
  /** Of an agent that has gone: those in which something may live. */
  readonly #left = new Set<number>();
  #hasRunWorkload = false;

  /** `noted` looks up the newest lease of a group where that is not told of every one. */
  constructor(
    listener: GuardsListener,
    machine: Machine,
    noted: (group: number) => LeadershipLease | null = () => null,
  ) {
    this.#listener = listener;
    this.#machine = machine;
    this.#noted = noted;
  }

  handle(message: ToGuards): void {
    const guarded = this.#of(message.group);
    if (message.type === 'begin') guarded.root = message.root;
    else if (message.type === 'clear') {
      guarded.isLeft = true;
      guarded.guard.agentGone('the agent is leaving');
    } else guarded.guard.handle(message);
  }

  /** A workload in the foreground was started. */
  get hasRunWorkload(): boolean {
    return this.#hasRunWorkload || [...this.#guarded.values()].some(({ guard }) => guard.hasRunWorkload);
  }

  /** Of all groups, oldest first. */
  get numbers(): readonly number[] {
    return [...this.#guarded.keys()];
  }

  rootOf(group: number): string | null {
    return this.#guarded.get(group)?.root ?? null;
  }

  /** The leadership that is guarded in a group; null where there is none. */
  logContext(group: number): Guard['logContext'] {
    return this.#guarded.get(group)?.guard.logContext ?? null;
  }

  /** Nobody will ask for anything any more. `idle` follows. */
  agentGone(reason: string): void {
    for (const group of this.#guarded.keys()) this.#left.add(group);
    if (this.#left.size === 0) this.#listener.idle();
    for (const { guard } of [...this.#guarded.values()]) guard.agentGone(reason);
  }

  #of(group: number): Guarded {
    const known = this.#guarded.get(group);
    if (known !== undefined) return known;
    const guard = new Guard(
      {
        post: (message) => this.#listener.post({ ...message, group }),
        idle: () => this.#idle(group),
      },
      this.#machine,
      () => this.#noted(group),
    );
    const guarded = { guard, root: null, isLeft: false };
    this.#guarded.set(group, guarded);
    return guarded;
  }

  #idle(group: number): void {
    const guarded = this.#guarded.get(group);
    if (guarded?.isLeft === true) {
      this.#hasRunWorkload ||= guarded.guard.hasRunWorkload;
      this.#guarded.delete(group);
      this.#listener.post({ type: 'cleared', group });
    }
    if (this.#left.delete(group) && this.#left.size === 0) this.#listener.idle();
  }
}
