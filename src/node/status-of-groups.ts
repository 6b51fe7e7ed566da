/**
 * Reports the state of a node with many groups to the node's guardian, as one line of text. The rate of
 * updates is limited, so that operators can read them.
 */
import type { Clock } from '../ports/clock.js';
import type { NodeGroups } from './node-groups.js';

const pauseMs = 200;

export class StatusOfGroups {
  readonly #clock: Clock;
  readonly #report: (joined: boolean, text: string) => void;
  #said = '';
  #cancel: (() => void) | null = null;
  #isClosed = false;

  constructor(clock: Clock, report: (joined: boolean, text: string) => void) {
    this.#clock = clock;
    this.#report = report;
  }

  changed(groups: NodeGroups): void {
    if (this.#isClosed) return;
    this.#cancel ??= this.#clock.timer(pauseMs, () => {
      this.#cancel = null;
      this.#say(groups);
    });
  }

  close(): void {
    this.#isClosed = true;
    this.#cancel?.();
  }

  /** Reports the state. The node counts as joined even if some of its groups cannot be joined. */
  #say(groups: NodeGroups): void {
    const all = groups.all().map(({ agent }) => agent.status);
    const led = all.filter(({ leads }) => leads).length;
    const joined = all.filter((status) => status.joined).length;
    const { size, refused } = groups;
    const denied = refused === 0 ? '' : `, has no permission for ${refused}`;
    const text = `in ${size} groups: leads ${led}, is a standby for ${joined - led}, is not connected to ${size - joined - refused}${denied}`;
    if (text === this.#said) return;
    this.#said = text;
    this.#report(joined > 0 || groups.size === 0, text);
  }
}
