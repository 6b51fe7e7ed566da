/** Says which znodes of the group hold what cannot be read, once for as long as they do. */
import type { Logger } from 'pino';
import type { GroupPaths } from '../core/paths.js';
import type { GroupSnapshot, Member } from '../core/snapshot.js';

export class JunkReport {
  readonly #paths: GroupPaths;
  readonly #log: Logger;
  #told: ReadonlySet<string> = new Set();

  constructor(paths: GroupPaths, log: Logger) {
    this.#paths = paths;
    this.#log = log;
  }

  look({ elected, current, history }: GroupSnapshot, members: readonly Member[]): void {
    const parts = [
      { path: this.#paths.elected, part: elected },
      { path: this.#paths.current, part: current },
      { path: this.#paths.history, part: history },
      ...members.map((member) => ({ path: this.#paths.node(member.node), part: member })),
    ];
    const lines = parts.flatMap(({ path, part }) =>
      part === null || part.problem === null ? [] : [`${path} cannot be read: ${part.problem}`],
    );
    for (const line of lines) if (!this.#told.has(line)) this.#log.warn(line);
    this.#told = new Set(lines);
  }
}
