/**
 * Who is there to end what runs on a machine: the agent in whose life it was started, the guardian or keeper that started it,
 * and the keeper that the agent has after that. Where a guardian is killed its sentinel is, at once; where all keepers and
 * the agent are killed nobody is; where they stand still nobody is until one of them goes on.
 */
import type { Group } from './machine.js';
import type { Node } from './node.js';
import type { Process } from './process.js';

/** Within which whoever goes on has ended what it is no longer to run: it looks at its clock, then at the processes. */
const reactionMs = 600;
/** A release that is late is run all the same, for so long at most. */
const releaseMs = 2_500;

export class Guards {
  readonly #agents = new WeakMap<Group, Process | null>();

  /** A group has just been started on the node's machine. */
  begun({ process }: Node, group: Group): void {
    this.#agents.set(group, group.agent ?? process);
  }

  /** The agent in whose life it was started. */
  agentOf(group: Group): Process | null {
    return this.#agents.get(group) ?? null;
  }

  /** Whether somebody has been there for long enough to have ended it, or has gone as if there were nothing to end. */
  isGuarded({ process, machine }: Node, group: Group): boolean {
    const agent = this.agentOf(group);
    // The keepers of a later life know nothing of it.
    const later = agent === process ? machine.keepers : [];
    const withinMs = group.phase === 'release' ? releaseMs : reactionMs;
    if (isBelated(group, machine.guardians)) return group.starter.livesForMs >= withinMs;
    return [group.starter, ...later, ...(agent === null ? [] : [agent])].some((guard) => {
      const sentinelForMs = machine.guardians.has(guard) ? guard.deadForMs : 0;
      return guard.hasExited || guard.runsForMs >= withinMs || sentinelForMs >= reactionMs;
    });
  }
}

/** A release that was left to a guardian that stands still, and that the agent then has run by a keeper of its own. */
function isBelated({ phase, starter }: Group, guardians: Iterable<Process>): boolean {
  return phase === 'release' && [...guardians].some((guardian) => guardian !== starter && guardian.wasFrozen);
}
