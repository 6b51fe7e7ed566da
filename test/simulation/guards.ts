/**
 * Determines which processes can end what runs on a machine. They are the agent of the incarnation that
 * started it, the guardian or supervisor that started it, and the agent's later supervisor. If a guardian is
 * killed, its reaper acts immediately. If all supervisors and the agent are killed, no process is left to do
 * it. If they are frozen, none can until one of them continues.
 */
import type { Group } from './machine.js';
import type { Node } from './node.js';
import type { Process } from './process.js';

/**
 * How long a process that continues may take to end what it must no longer run. It reads its clock first,
 * then checks the processes.
 */
const reactionMs = 600;
/** How long a late release may run. It is still run. */
const releaseMs = 2_500;

export class Guards {
  readonly #agents = new WeakMap<Group, Process | null>();
  /** Releases that could not run earlier. */
  readonly #belated = new WeakSet<Group>();

  /** Records that a group was just started on the node's machine. */
  begun({ process, machine }: Node, group: Group): void {
    const agent = group.agent ?? process;
    this.#agents.set(group, agent);
    if (isBelated(group, agent, machine.guardians)) this.#belated.add(group);
  }

  /** Returns the agent of the incarnation that started the group. */
  agentOf(group: Group): Process | null {
    return this.#agents.get(group) ?? null;
  }

  /**
   * Whether some process has run for long enough to have ended the group, or has exited as if nothing were
   * left to end.
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

/** Returns for how long the process could have run a hook. */
function readyForMs({ runsForMs, livesForMs }: Process): number {
  return Math.min(runsForMs, livesForMs);
}

/**
 * Whether a release could not run earlier. Either its guardian was frozen until just now, or the agent has
 * just started a supervisor to replace a guardian. That guardian was frozen, or died while the agent itself
 * was frozen.
 */
function isBelated({ phase, starter }: Group, agent: Process | null, guardians: Iterable<Process>): boolean {
  if (phase !== 'release' || readyForMs(starter) >= reactionMs) return false;
  if (starter.runsForMs < reactionMs) return true;
  const isAgentLate = agent?.isAlive === true && agent.runsForMs < reactionMs;
  return [...guardians].some((one) => one !== starter && (one.wasFrozen || (!one.isAlive && isAgentLate)));
}
