/**
 * Determines which processes can end a process group on a machine. They are the agent of the incarnation that
 * started the group, the guardian or supervisor that started it, and that agent's later supervisor. If a
 * guardian is killed, its reaper acts immediately. If all supervisors and the agent are killed, no process is
 * left that can end the group. If they are frozen, none of them can end it until it is thawed.
 */
import type { Group } from './machine.js';
import type { Node } from './node.js';
import type { Process } from './process.js';

/**
 * Time that a thawed process may need to end what it must no longer run. The process reads its clock first,
 * and then checks its process groups.
 */
const reactionMs = 600;
/** Time that a late release may take. A release hook runs even if it is late. */
const releaseMs = 2_500;

export class Guards {
  readonly #agents = new WeakMap<Group, Process | null>();
  /** Release groups that could not start earlier. */
  readonly #belated = new WeakSet<Group>();

  /** Records that a group was just started on the node's machine. */
  begun({ process, machine }: Node, group: Group): void {
    const agent = group.agent ?? process;
    this.#agents.set(group, agent);
    if (isBelated(group, agent, machine.guardians)) this.#belated.add(group);
  }

  /** Returns the agent of the incarnation that started the group. Null if there was none. */
  agentOf(group: Group): Process | null {
    return this.#agents.get(group) ?? null;
  }

  /**
   * Whether some process has run for long enough to have ended the group. A process also counts if it has
   * exited as if nothing were left to end.
   */
  isGuarded({ process, machine }: Node, group: Group): boolean {
    const agent = this.agentOf(group);
    // The supervisors of a later incarnation do not know the group.
    const later = agent === process ? machine.supervisors : [];
    const withinMs = group.phase === 'release' ? releaseMs : reactionMs;
    if (this.#belated.has(group) && readyForMs(group.starter) < releaseMs) return false;
    return [group.starter, ...later, ...(agent === null ? [] : [agent])].some((guard) => {
      const reaperForMs = machine.guardians.has(guard) ? guard.deadForMs : 0;
      return guard.hasExited || guard.runsForMs >= withinMs || reaperForMs >= reactionMs;
    });
  }
}

/** Returns how long the process has been able to run a hook. */
function readyForMs({ runsForMs, livesForMs }: Process): number {
  return Math.min(runsForMs, livesForMs);
}

/**
 * Whether a release could not start earlier. One reason is that its guardian was frozen until just now.
 * Another is that the agent has just started a supervisor to replace a guardian that was frozen, or that died
 * while the agent was frozen.
 */
function isBelated({ phase, starter }: Group, agent: Process | null, guardians: Iterable<Process>): boolean {
  if (phase !== 'release' || readyForMs(starter) >= reactionMs) return false;
  if (starter.runsForMs < reactionMs) return true;
  const isAgentLate = agent?.isAlive === true && agent.runsForMs < reactionMs;
  return [...guardians].some((one) => one !== starter && (one.wasFrozen || (!one.isAlive && isAgentLate)));
}
