/**
 * Who is there to end what runs on a machine: the agent in whose life it was started, the guardian or
 * supervisor that started it, and the supervisor that the agent has after that. Where a guardian is killed
 * its reaper is, at once; where all supervisors and the agent are killed nobody is; where they stand still
 * nobody is until one of them goes on.
 */
import type { Group } from './machine.js';
import type { Node } from './node.js';
import type { Process } from './process.js';

/**
 * Within which whoever goes on has ended what it is no longer to run: it looks at its clock, then at the
 * processes.
 */
const reactionMs = 600;
/** A release that is late is run all the same, for so long at most. */
const releaseMs = 2_500;

export class Guards {
  readonly #agents = new WeakMap<Group, Process | null>();
  /** Releases that could not be run before. */
  readonly #belated = new WeakSet<Group>();

  /** A group has just been started on the node's machine. */
  begun({ process, machine }: Node, group: Group): void {
    const agent = group.agent ?? process;
    this.#agents.set(group, agent);
    if (isBelated(group, agent, machine.guardians)) this.#belated.add(group);
  }

  /** The agent in whose life it was started. */
  agentOf(group: Group): Process | null {
    return this.#agents.get(group) ?? null;
  }

  /**
   * Whether somebody has been there for long enough to have ended it, or has gone as if there were nothing to
   * end.
   */
  isGuarded({ process, machine }: Node, group: Group): boolean {
    const agent = this.agentOf(group);
    // The supervisors of a later life know nothing of it.
    const later = agent === process ? machine.supervisors : [];
    const withinMs = group.phase === 'release' ? releaseMs : reactionMs;
    if (this.#belated.has(group) && readyForMs(group.starter) < releaseMs) return false;
    return [group.starter, ...later, ...(agent === null ? [] : [agent])].some((guard) => {
      const reaperForMs = machine.guardians.has(guard) ? guard.deadForMs : 0;
      return guard.hasExited || guard.runsForMs >= withinMs || reaperForMs >= reactionMs;
    });
  }
}

/** For how long it could have run a hook. */
function readyForMs({ runsForMs, livesForMs }: Process): number {
  return Math.min(runsForMs, livesForMs);
}

/**
 * A release that could not be run before: by a guardian that has stood still until just now; or by a
 * supervisor that the agent has just started in place of a guardian that stood still, or that died while the
 * agent itself stood still.
 */
function isBelated({ phase, starter }: Group, agent: Process | null, guardians: Iterable<Process>): boolean {
  if (phase !== 'release' || readyForMs(starter) >= reactionMs) return false;
  if (starter.runsForMs < reactionMs) return true;
  const isAgentLate = agent?.isAlive === true && agent.runsForMs < reactionMs;
  return [...guardians].some((one) => one !== starter && (one.wasFrozen || (!one.isAlive && isAgentLate)));
}
