/**
 * Explores every reachable world, breadth first and each once, until no world is left. The explorer judges
 * each step immediately, and the whole graph at the end (`liveness.ts`).
 */
import { epoch0Ms } from '../core/builders.js';
import { facetsFor } from './facets.js';
import { Keyer } from './key.js';
import { type Fault, type Graph, judgeGraph } from './liveness.js';
import type { Rules, Step } from './step.js';
import { Rulebook } from './steps.js';
import { HashTable, Numbers } from './table.js';
import type { World } from './world.js';

export interface Exploration {
  readonly rules: Rules;
  readonly start: World;
  /** Maximum time by which the ensemble's clock may be set back in total. */
  readonly backMs: number;
  /** Whether the tree may be deleted. Versions start over after that. */
  readonly mayRestart: boolean;
  isGood(world: World): boolean;
  /** Whether some node could become the leader. */
  isHopeful(world: World): boolean;
  readonly goal: CoverageGoal | null;
}

/**
 * The event that a scenario is about. An exploration without violations means little if this event never
 * happened.
 */
export interface CoverageGoal {
  readonly what: string;
  isReached(before: World, after: World): boolean;
}

export interface Finding {
  readonly what: string;
  /** Description of each step, one line per step. */
  readonly trace: readonly string[];
}

export interface Result {
  readonly states: number;
  readonly transitions: number;
  /** Length of the shortest path to the most distant state, in steps. */
  readonly depth: number;
  readonly seconds: number;
  /** CPU time of the whole process. Unlike `seconds`, it hardly depends on the load of the machine. */
  readonly cpuSeconds: number;
  readonly isExhausted: boolean;
  /** Number of steps that reached the goal. Null if the scenario has no goal. */
  readonly seen: number | null;
  readonly finding: Finding | null;
}

export interface Limits {
  readonly maxStates: number;
}

const flags = { due: 1, unrest: 2 };

export class Explorer {
  readonly #exploration: Exploration;
  readonly #book: Rulebook;
  readonly #facets: ReturnType<typeof facetsFor>;
  readonly #keyer = new Keyer();
  readonly #table = new HashTable();
  readonly #parents = new Numbers();
  /** For each state, the index of the step that first led to the state, among all steps of its parent. */
  readonly #places = new Numbers();
  readonly #marks = new Numbers();
  readonly #starts = new Numbers();
  readonly #targets = new Numbers();
  readonly #labels = new Numbers();
  #seen = 0;

  constructor(exploration: Exploration) {
    this.#exploration = exploration;
    const { rules } = exploration;
    this.#book = new Rulebook(rules);
    this.#facets = facetsFor(rules.setting, rules.readsClock);
  }

  run({ maxStates }: Limits): Result {
    const began = performance.now();
    const cpuBefore = process.cpuUsage();
    const seconds = () => (performance.now() - began) / 1000;
    const cpuSeconds = () => {
      const { user, system } = process.cpuUsage(cpuBefore);
      return (user + system) / 1e6;
    };
    const { start } = this.#exploration;
    this.#know(start, 0, 0);
    let level: World[] = [start];
    let depth = 0;
    const result = (isExhausted: boolean, finding: Finding | null): Result => ({
      states: this.#table.size,
      transitions: this.#targets.length,
      depth,
      seconds: seconds(),
      cpuSeconds: cpuSeconds(),
      isExhausted,
      seen: this.#exploration.goal === null ? null : this.#seen,
      finding,
    });
    let expanded = 0;
    while (level.length > 0) {
      const next: World[] = [];
      for (const world of level) {
        const violation = this.#expand(world, expanded, next);
        if (violation !== null) return result(false, violation);
        expanded += 1;
        if (this.#table.size > maxStates) return result(false, null);
      }
      if (next.length > 0) depth += 1;
      level = next;
    }
    this.#starts.push(this.#targets.length);
    const fault = judgeGraph(this.#graph());
    return result(true, fault === null ? null : this.#livenessFinding(fault));
  }

  /** Returns the number of a state. Adds the state to the table if it is new. */
  #know(world: World, parent: number, place: number): number {
    const before = this.#table.size;
    const { low, high } = this.key(world);
    const id = this.#table.idOf(low, high);
    if (id === before) {
      this.#parents.push(parent);
      this.#places.push(place);
      const { isGood, isHopeful } = this.#exploration;
      this.#marks.push((isGood(world) ? 1 : 0) + (isHopeful(world) ? 2 : 0));
    }
    return id;
  }

  key(world: World): { low: number; high: number } {
    const { backMs, mayRestart } = this.#exploration;
    const { nowMs, skewMs } = world;
    const times = { nowMs, ensembleNowMs: nowMs + skewMs, backMs, exact: false, mayRestart };
    this.#keyer.hash(this.#facets.world(world), times);
    return this.#keyer;
  }

  #expand(world: World, id: number, next: World[]): Finding | null {
    this.#starts.push(this.#targets.length);
    const steps = this.#book.stepsOf(world);
    for (const [place, step] of steps.entries()) {
      if (step.violation !== null) return this.#finding(step.violation, id, place);
      if (this.#exploration.goal?.isReached(world, step.world) === true) this.#seen += 1;
      const before = this.#table.size;
      const target = this.#know(step.world, id, place);
      if (target === before) next.push(step.world);
      this.#targets.push(target);
      const isDue = step.kind === 'due' ? flags.due : 0;
      this.#labels.push(step.actor * 4 + isDue + (step.isUnrest ? flags.unrest : 0));
    }
    return null;
  }

  #graph(): Graph {
    return {
      size: this.#table.size,
      starts: this.#starts,
      targets: this.#targets,
      actorOf: (edge) => this.#labels.at(edge) >> 2,
      isDue: (edge) => (this.#labels.at(edge) & flags.due) !== 0,
      isUnrest: (edge) => (this.#labels.at(edge) & flags.unrest) !== 0,
      isGood: (state) => (this.#marks.at(state) & 1) !== 0,
      isHopeful: (state) => (this.#marks.at(state) & 2) !== 0,
    };
  }

  /** Returns the indexes of the steps from the start to a state. */
  #way(id: number): number[] {
    const places: number[] = [];
    for (let at = id; at !== 0; at = this.#parents.at(at)) places.push(this.#places.at(at));
    return places.reverse();
  }

  #replay(places: readonly number[]): { lines: string[]; world: World } {
    let world = this.#exploration.start;
    const lines = places.map((place) => {
      const step = this.#book.stepsOf(world)[place];
      if (step === undefined) throw new Error('a trace that cannot be played again');
      const line = lineOf(world, step);
      world = step.world;
      return line;
    });
    return { lines, world };
  }

  #finding(what: string, id: number, place: number): Finding {
    return { what, trace: this.#replay([...this.#way(id), place]).lines };
  }

  #livenessFinding({ what, state, cycle }: Fault): Finding {
    const { lines, world } = this.#replay(this.#way(state));
    const around = this.#around(world, state, cycle);
    return { what, trace: [...lines, `-- then, for ever (${cycle.length} states):`, ...around] };
  }

  /**
   * Returns a path within a cycle, for display. From each state, the path takes the first step that stays
   * within the cycle.
   */
  #around(from: World, state: number, cycle: readonly number[]): string[] {
    const inside = new Set(cycle);
    const lines: string[] = [];
    const seen = new Set<number>();
    let world = from;
    let id = state;
    while (lines.length < 60) {
      seen.add(id);
      const first = this.#starts.at(id);
      const steps = this.#book.stepsOf(world);
      const inner = steps
        .map((step, place) => ({ step, target: this.#targets.at(first + place) }))
        .filter(({ step, target }) => step.kind === 'due' && inside.has(target));
      const taken = inner.find(({ target }) => !seen.has(target)) ?? inner[0];
      if (taken === undefined) break;
      lines.push(lineOf(world, taken.step));
      if (seen.has(taken.target)) break;
      world = taken.step.world;
      id = taken.target;
    }
    return lines;
  }
}

function lineOf({ nowMs }: World, { words }: Step): string {
  return `${String(nowMs / 1000).padStart(4)} s  ${words}`;
}

export function ensembleNowMs({ nowMs, skewMs }: World): number {
  return epoch0Ms + nowMs + skewMs;
}
