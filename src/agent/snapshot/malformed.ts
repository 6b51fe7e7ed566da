/**
 * Reports the group's malformed znodes. Each is reported once, and again only if it has been well-formed in
 * the meantime.
 */
import type { Logger } from 'pino';
import { type GroupPaths, pathsOfSlot } from '../../model/paths.js';
import { slotStates } from '../../model/slots.js';
import type { GroupSnapshot, Member } from '../../model/snapshot.js';

export class MalformedReport {
  readonly #paths: GroupPaths;
  readonly #log: Logger;
  #logged: ReadonlySet<string> = new Set();

  constructor(paths: GroupPaths, log: Logger) {
    this.#paths = paths;
    this.#log = log;
  }

  look(snapshot: GroupSnapshot, members: readonly Member[]): void {
    const { history, successor = null } = snapshot;
    const parts = [
      ...slotStates(snapshot).flatMap(({ slot, elected, current }) => {
        const paths = pathsOfSlot(this.#paths, slot);
        return [
          { path: paths.elected, part: elected },
          { path: paths.current, part: current },
        ];
      }),
      { path: this.#paths.history, part: history },
      { path: this.#paths.successor, part: successor },
      ...members.map((member) => ({ path: this.#paths.node(member.node), part: member })),
    ];
    const lines = parts.flatMap(({ path, part }) =>
      part === null || part.problem === null ? [] : [`${path} is malformed: ${part.problem}`],
    );
    for (const line of lines) if (!this.#logged.has(line)) this.#log.warn(line);
    this.#logged = new Set(lines);
  }
}
