/**
 * Who is there to end what runs on a machine: the agent that began it, and its guardian or the keeper that it has after
 * that. Where a guardian is killed its sentinel is, at once; where all stand still nobody is until one of them goes on.
 */
import type { Group } from './machine.js';
import type { Node } from './node.js';
import type { Process } from './process.js';

/** Within which whoever goes on has ended what it is no longer to run: it looks at its clock, then at the processes. */
const reactionMs = 600;

export class Guards {
  readonly #of = new WeakMap<Group, { readonly agent: Process | null; readonly keepers: Set<Process> }>();

  /** A group has just been started on the node's machine. */
  begun(node: Node, group: Group): void {
    this.#of.set(group, { agent: node.process, keepers: new Set(node.machine.keepers) });
  }

  /** Whether somebody has been there for long enough to have ended the group. */
  watch(node: Node, group: Group): boolean {
    const known = this.#of.get(group);
    if (known === undefined) return true;
    // The keepers of a later life know nothing of it.
    if (node.process === known.agent) for (const keeper of node.machine.keepers) known.keepers.add(keeper);
    const guards = [...known.keepers, ...(known.agent === null ? [] : [known.agent])];
    return guards.some((guard) => {
      const sentinelForMs = node.machine.guardians.has(guard) ? guard.deadForMs : 0;
      return Math.max(guard.runsForMs, sentinelForMs) >= reactionMs;
    });
  }
}
