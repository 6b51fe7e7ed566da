/**
 * The guards of all groups that one agent is in. Each guard runs its group's hooks one after the other and
 * guards the group's leadership, independently of the other groups. Each group has a number that is never
 * reused while the agent runs.
 */
import type { Machine } from '../ports/processes.js';
import { Guard } from './guard.js';
import type { FromGuards, LeadershipLease, ToGuards } from './messages.js';

export interface GuardsListener {
  post(message: FromGuards): void;
  /** Called when no request of any group is running or waiting, and no process is alive. */
  idle(): void;
}

interface Guarded {
  readonly guard: Guard;
  /** Root of the group. Null until it is known. */
  root: string | null;
  /**
   * Whether the agent has left the group and is waiting for a report that nothing in the group is running any
   * more.
   */
  isLeft: boolean;
}

export class Guards {
  readonly #listener: GuardsListener;
  readonly #machine: Machine;
  readonly #noted: (group: number) => LeadershipLease | null;
  readonly #guarded = new Map<number, Guarded>();
  /** Groups in which a process may still be alive although the agent is gone. */
  readonly #left = new Set<number>();
  #hasRunWorkload = false;

  /** `noted` returns a group's newest lease. The agent may share leases this way instead of sending them. */
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
      guarded.guard.agentGone('the agent is stopping');
    } else guarded.guard.handle(message);
  }

  /** Whether a foreground workload has been started in any group. */
  get hasRunWorkload(): boolean {
    return this.#hasRunWorkload || [...this.#guarded.values()].some(({ guard }) => guard.hasRunWorkload);
  }

  /** Numbers of all groups, oldest first. */
  get numbers(): readonly number[] {
    return [...this.#guarded.keys()];
  }

  rootOf(group: number): string | null {
    return this.#guarded.get(group)?.root ?? null;
  }

  /** Returns the log context of a group's guarded leadership. Null if there is none. */
  logContext(group: number): Guard['logContext'] {
    return this.#guarded.get(group)?.guard.logContext ?? null;
  }

  /**
   * Records that the agent is gone, so no more requests will come. `idle` is called when everything has
   * ended.
   */
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
