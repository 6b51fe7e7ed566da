/**
 * Reduces the number of worlds without losing behaviour. A step that nothing can precede and no other agent
 * can observe is merged into the step before it. docs/reports/exploration-reduction.md argues that no
 * behaviour is lost. `reduce.test.ts` compares the results with and without the reduction.
 */
import type { ElectorMemory } from '../../src/core/round.js';
import type { Decider } from './decide.js';
import { versionIn } from './facets.js';
import { partFor } from './look.js';
import { isAlive, type Rules, type Step, withAgent } from './step.js';
import { type Agent, newSession, unread, type World } from './world.js';

export class Reduction {
  readonly #rules: Rules;
  readonly #decider: Decider;
  readonly #mayRestart: boolean;
  readonly #isUndisturbed: boolean;

  constructor(rules: Rules, decider: Decider) {
    this.#rules = rules;
    this.#decider = decider;
    const { faults, changes } = rules;
    this.#mayRestart = faults.includes('delete-tree');
    const taken = ['evict', 'evict-dead', 'delete-seat', 'delete-tree'] as const;
    this.#isUndisturbed =
      !taken.some((kind) => faults.includes(kind)) && changes.every(({ isOfConfig }) => isOfConfig);
  }

  /**
   * Whether an agent without a seat joins in isolation. It does if no fault remains, and if no other agent
   * sees its join or acts on its behalf.
   */
  joinsAlone({ faults }: World): boolean {
    const { reduces, setting } = this.#rules;
    return reduces && faults === 0 && this.#isUndisturbed && !setting.canFence;
  }

  /**
   * Whether an agent can read everything in one step. It can if only a write to `config` or `elected` during
   * the read would make a difference.
   */
  readsAtOnce({ faults }: World): boolean {
    const { reduces, readsClock, setting } = this.#rules;
    return reduces && faults === 0 && this.#isUndisturbed && !readsClock && !setting.audits;
  }

  /**
   * Returns the steps that replace a step from `before`. Each of them has later steps merged into it. There
   * are several if agents may have begun to read before the step.
   */
  of(before: World, step: Step): Step[] {
    if (!this.#rules.reduces) return [step];
    return this.#withReaders(before, step.world).map((world) => ({ ...step, world: this.#takenOn(world) }));
  }

  #takenOn(world: World): World {
    const joined = this.joinsAlone(world) ? this.#joined(world) : world;
    return this.#forgotten(this.#quieted(joined));
  }

  /**
   * Returns the worlds that are possible after a write. Before a write to `config` or `elected`, every agent
   * that was about to read may have begun, and may have read the old value. Without such a write, it makes no
   * difference whether an agent has begun to read, because it reads the same values later.
   */
  #withReaders(before: World, after: World): World[] {
    const { config, elected } = before.tree;
    const isWritten = config !== after.tree.config || elected !== after.tree.elected;
    if (!isWritten || !this.readsAtOnce(before)) return [after];
    const view = { ...unread, config, elected };
    const reads = { at: 'reading', done: 2, view } as const;
    const worlds = [after];
    for (const agent of before.agents) {
      if (!isAboutToLook(agent) || !isAlive(before, agent)) continue;
      for (const world of [...worlds]) {
        const now = world.agents[agent.index];
        const goesOn = now?.round.at === 'asleep' && now.process === 'up';
        if (goesOn) worlds.push(withAgent(world, { ...now, awake: true, round: reads }));
      }
    }
    return worlds;
  }

  /**
   * Lets each agent that has lost its session open another session immediately. The agent also ends the
   * leadership of the old session if everything of that leadership is dead.
   */
  #joined(before: World): World {
    let world = before;
    for (const { index } of before.agents) {
      for (let next = this.#joins(world, index); next !== null; next = this.#joins(world, index))
        world = next;
    }
    return world;
  }

  #joins(world: World, index: number): World | null {
    const agent = world.agents[index];
    if (agent === undefined || agent.process !== 'up' || agent.frozen || agent.cut) return null;
    const { round, work, hook, awake, seat, drainUntilMs } = agent;
    if (!isAlive(world, agent)) {
      const hears = round.at === 'reading' || round.at === 'sent' || (round.at === 'asleep' && awake);
      return hears ? newSession(world, agent) : null;
    }
    const mayGoOn = round.at === 'asleep' && awake && seat === null && drainUntilMs === null;
    if (!mayGoOn || work !== null || hook !== null) return null;
    const next = this.#decider.outOfTouch(agent, world.nowMs);
    return next === agent || next.hook !== null || next.work !== null ? null : withAgent(world, next);
  }

  /**
   * Lets a standby read immediately if it would find nothing relevant. Any change that lets a later read find
   * more fires a watch, which wakes the standby again. A deletion of the standby's own registration fires no
   * watch, so every read is a step if other agents can delete registrations.
   */
  #quieted(world: World): World {
    const { faults, setting } = this.#rules;
    const { tree } = world;
    if (faults.includes('evict') || this.#mayRestart || setting.audits || tree.elected === null) return world;
    const isQuiet = (agent: Agent) =>
      agent.awake && agent.part === 0 && this.#isIdle(agent, world) && partFor(agent, tree) === 0;
    if (!world.agents.some(isQuiet)) return world;
    return { ...world, agents: world.agents.map((one) => (isQuiet(one) ? { ...one, awake: false } : one)) };
  }

  #isIdle(agent: Agent, { tree, sessions }: World): boolean {
    if (agent.process !== 'up' || agent.frozen || agent.cut || agent.round.at !== 'asleep') return false;
    if (agent.leadership !== null || agent.drainUntilMs !== null) return false;
    if (!tree.seats.some(({ id }) => id === agent.seat)) return false;
    const own = tree.members.find(({ node }) => node === agent.node);
    const isThere = own?.owner === agent.session && sessions.some(({ id }) => id === agent.session);
    return isThere && own.value !== null && this.#decider.isPublished(agent.registration, own.value);
  }

  /** Makes electors forget a decision or a claim that no agent can read any more. */
  #forgotten(world: World): World {
    const { elected, current } = world.tree;
    if (this.#mayRestart || elected === null) return world;
    const { version } = elected;
    const token = current?.token ?? null;
    let isSame = true;
    const agents = world.agents.map((agent) => {
      const { memory } = agent;
      if (memory.watched === null && memory.progress === null) return agent;
      const readVersion = versionBeingRead(agent, version);
      if (readVersion === null) return agent;
      const next = withoutOld(memory, readVersion, token);
      if (next !== memory) isSame = false;
      return next === memory ? agent : { ...agent, memory: next };
    });
    return isSame ? world : { ...world, agents };
  }
}

function isAboutToLook({ process, frozen, cut, round, awake, seat, part }: Agent): boolean {
  return process === 'up' && !frozen && !cut && round.at === 'asleep' && awake && seat !== null && part > 0;
}

/**
 * Returns the oldest version of `elected` that an agent may still decide on. Returns null if the agent may
 * also decide on an old claim.
 */
function versionBeingRead({ round }: Agent, version: number): number | null {
  if (round.at === 'asleep') return version;
  return round.at === 'reading' && round.done <= 2 ? (round.view.elected?.version ?? null) : null;
}

function withoutOld(memory: ElectorMemory, version: number, token: bigint | null): ElectorMemory {
  const { watched, progress } = memory;
  const seen = watched?.key.split(' ') ?? [];
  const isHeld = watched?.condition.kind === 'holding';
  const isOldWatch =
    watched !== null && (isHeld ? seen.at(-1) !== String(token) : versionIn(seen.at(-2)) < version);
  const isOldProgress = progress !== null && versionIn(progress.decision) < version;
  if (!isOldWatch && !isOldProgress) return memory;
  return { ...memory, watched: isOldWatch ? null : watched, progress: isOldProgress ? null : progress };
}
