/**
 * Checks the properties that can be seen only in the whole graph of states.
 *
 * - Reachability: from every state in which a node could lead, due steps can reach a good state, or a state
 *   in which no node could lead and an operator must help.
 * - Progress: no weakly fair infinite path stays in states in which a node could lead and none does. On a
 *   weakly fair path, an actor that can act continuously eventually acts. Such a path can stay in a strongly
 *   connected component forever under one condition: every actor that can act in all of the component's
 *   states does so in one of its steps.
 * - Rest: no weakly fair infinite path writes decisions or claims, or unseats electors, infinitely often.
 *
 * Faults are left out, and so are gifts: helpful steps that may never happen, such as a restart. The results
 * therefore apply after the last fault and the last gift.
 */
import type { Numbers } from './table.js';

export interface Graph {
  readonly size: number;
  /**
   * Index of each state's first edge. The edges of state s start at `starts[s]` and end before `starts[s +
   * 1]`.
   */
  readonly starts: Numbers;
  readonly targets: Numbers;
  actorOf(edge: number): number;
  isDue(edge: number): boolean;
  isUnrest(edge: number): boolean;
  isGood(state: number): boolean;
  isHopeful(state: number): boolean;
}

export interface Fault {
  readonly what: string;
  readonly state: number;
  readonly cycle: readonly number[];
}

export function judgeGraph(graph: Graph): Fault | null {
  return judgeReach(graph) ?? judgeLeaderless(graph) ?? judgeUnrest(graph);
}

/** Returns a state that violates reachability, as the head of this file defines it. Null if there is none. */
function judgeReach(graph: Graph): Fault | null {
  const canReach = new Uint8Array(graph.size);
  const into = reversed(graph);
  const open: number[] = [];
  for (let state = 0; state < graph.size; state += 1) {
    if (graph.isGood(state) || !graph.isHopeful(state)) {
      canReach[state] = 1;
      open.push(state);
    }
  }
  for (let state = open.pop(); state !== undefined; state = open.pop()) {
    for (let edge = into.starts[state] ?? 0; edge < (into.starts[state + 1] ?? 0); edge += 1) {
      const source = into.sources[edge] ?? 0;
      if (canReach[source] === 1) continue;
      canReach[source] = 1;
      open.push(source);
    }
  }
  const state = canReach.indexOf(0);
  return state === -1 ? null : { what: 'somebody could lead, and nobody ever will', state, cycle: [state] };
}

function reversed(graph: Graph): { starts: Uint32Array; sources: Uint32Array } {
  const starts = new Uint32Array(graph.size + 2);
  const each = (visit: (source: number, target: number) => void) => {
    for (let state = 0; state < graph.size; state += 1) {
      for (let edge = graph.starts.at(state); edge < graph.starts.at(state + 1); edge += 1) {
        if (graph.isDue(edge)) visit(state, graph.targets.at(edge));
      }
    }
  };
  each((_, target) => {
    starts[target + 2] = (starts[target + 2] ?? 0) + 1;
  });
  for (let state = 2; state < starts.length; state += 1) {
    starts[state] = (starts[state] ?? 0) + (starts[state - 1] ?? 0);
  }
  const sources = new Uint32Array(starts.at(-1) ?? 0);
  each((source, target) => {
    const place = starts[target + 1] ?? 0;
    sources[place] = source;
    starts[target + 1] = place + 1;
  });
  return { starts: starts.subarray(0, graph.size + 1), sources };
}

function judgeLeaderless(graph: Graph): Fault | null {
  const within = (state: number) => graph.isHopeful(state) && !graph.isGood(state);
  for (const cycle of components(graph, within)) {
    if (isFair(graph, cycle)) {
      return { what: 'somebody could lead, and nobody does, for ever', state: Math.min(...cycle), cycle };
    }
  }
  return null;
}

function judgeUnrest(graph: Graph): Fault | null {
  for (const cycle of components(graph, () => true)) {
    const inside = new Set(cycle);
    const isUnrestful = cycle.some((state) =>
      edgesOf(graph, state).some((edge) => graph.isUnrest(edge) && inside.has(graph.targets.at(edge))),
    );
    if (isUnrestful && isFair(graph, cycle)) {
      return { what: 'decisions never come to rest', state: least(cycle), cycle };
    }
  }
  return null;
}

function least(states: readonly number[]): number {
  return states.reduce((a, b) => Math.min(a, b));
}

function edgesOf(graph: Graph, state: number): number[] {
  const edges: number[] = [];
  for (let edge = graph.starts.at(state); edge < graph.starts.at(state + 1); edge += 1) {
    if (graph.isDue(edge)) edges.push(edge);
  }
  return edges;
}

/** Whether every actor that could act in all states of the cycle does act in it. */
function isFair(graph: Graph, cycle: readonly number[]): boolean {
  const inside = new Set(cycle);
  let couldAlways = -1;
  let goes = 0;
  for (const state of cycle) {
    let could = 0;
    for (const edge of edgesOf(graph, state)) {
      const bit = 1 << graph.actorOf(edge);
      could |= bit;
      if (inside.has(graph.targets.at(edge))) goes |= bit;
    }
    couldAlways &= could;
  }
  return (couldAlways & ~goes) === 0;
}

/**
 * Yields the strongly connected components that contain a cycle. Considers only the states of `within`, and
 * only due steps. Uses Tarjan's algorithm.
 */
function* components(graph: Graph, within: (state: number) => boolean): Generator<number[]> {
  const { size, starts, targets } = graph;
  const index = new Int32Array(size).fill(-1);
  const low = new Int32Array(size);
  const onStack = new Uint8Array(size);
  const stack: number[] = [];
  let count = 0;
  for (let root = 0; root < size; root += 1) {
    if (index[root] !== -1 || !within(root)) continue;
    const path: number[] = [root];
    const edges: number[] = [starts.at(root)];
    const enter = (state: number) => {
      index[state] = count;
      low[state] = count;
      count += 1;
      stack.push(state);
      onStack[state] = 1;
    };
    enter(root);
    while (path.length > 0) {
      const state = path.at(-1) ?? 0;
      const edge = edges.at(-1) ?? 0;
      if (edge < starts.at(state + 1)) {
        edges[edges.length - 1] = edge + 1;
        const target = targets.at(edge);
        if (!graph.isDue(edge) || !within(target)) continue;
        if (index[target] === -1) {
          enter(target);
          path.push(target);
          edges.push(starts.at(target));
        } else if (onStack[target] === 1) {
          low[state] = Math.min(low[state] ?? 0, index[target] ?? 0);
        }
        continue;
      }
      path.pop();
      edges.pop();
      const parent = path.at(-1);
      if (parent !== undefined) low[parent] = Math.min(low[parent] ?? 0, low[state] ?? 0);
      if (low[state] !== index[state]) continue;
      const component: number[] = [];
      for (let other = stack.pop(); other !== undefined; other = stack.pop()) {
        onStack[other] = 0;
        component.push(other);
        if (other === state) break;
      }
      if (component.length > 1 || hasLoop(graph, state)) yield component;
    }
  }
}

function hasLoop(graph: Graph, state: number): boolean {
  return edgesOf(graph, state).some((edge) => graph.targets.at(edge) === state);
}
