/** What a step is, and what steps are collected with. */
import type { Hands } from './decide.js';
import type { Faults } from './faults.js';
import { judgeBackoffs, judgeToken, judgeWork } from './invariants.js';
import type { Agent, Request, Setting, World } from './world.js';

export type StepKind =
  /** Happens in the end, if it stays possible. */
  | 'due'
  /** May never happen: a person acts, a node comes back. */
  | 'gift'
  /** May happen as often as the scenario says. */
  | 'fault';

export interface Step {
  readonly words: string;
  readonly kind: StepKind;
  /** Whose doing: a number below 32. */
  readonly actor: number;
  readonly world: World;
  /** Which invariant it breaks, in words. */
  readonly violation: string | null;
  /** Writes a decision, or unseats: what must come to rest. */
  readonly isUnrest: boolean;
}

export interface Change {
  readonly name: string;
  /** Nothing but the configuration is changed. */
  readonly isOfConfig: boolean;
  /** Null: not now. */
  make(world: World): World | null;
}

export interface Rules {
  readonly setting: Setting;
  readonly faults: readonly Faults[];
  readonly changes: readonly Change[];
  readonly hands: Hands;
  readonly readsClock: boolean;
  /** The session of a node may end while its workload lives: a lease that does not work. */
  readonly withoutLease: boolean;
  /** How often at most leadership may move by itself; null: not counted. */
  readonly maxMoves: number | null;
  /** Whether worlds are taken on to where steps that matter to nobody would take them. */
  readonly reduces: boolean;
}

export const actors = { agent: 0, hook: 1, lease: 2, session: 3, fence: 4, perAgent: 5, time: 31 };

export function actor(agent: Agent, what: 'agent' | 'hook' | 'lease' | 'session' | 'fence'): number {
  return agent.index * actors.perAgent + actors[what];
}

export function withAgent(world: World, agent: Agent): World {
  return { ...world, agents: world.agents.map((one) => (one.index === agent.index ? agent : one)) };
}

export function isAlive(world: World, { session }: Agent): boolean {
  return world.sessions.some(({ id }) => id === session);
}

/** Collects the steps of one world. */
export class Steps {
  readonly list: Step[] = [];
  readonly world: World;

  constructor(world: World) {
    this.world = world;
  }

  add(step: Omit<Step, 'violation' | 'isUnrest'> & Partial<Pick<Step, 'violation' | 'isUnrest'>>): void {
    const { newestWork } = this.world;
    const begun = step.world.agents.find(
      ({ work }, index) => work !== null && work !== this.world.agents[index]?.work,
    );
    const violation =
      step.violation ??
      (step.world.isClaimLost ? null : judgeWork(step.world)) ??
      judgeBackoffs(step.world) ??
      (begun ? judgeToken(this.world, begun.work ?? 0n) : null);
    const world = begun === undefined ? step.world : { ...step.world, newestWork: begun.work ?? newestWork };
    this.list.push({ isUnrest: false, ...step, world, violation });
  }
}

export function name({ node, host }: Pick<Agent, 'node' | 'host'>): string {
  return host === 0 ? node : `${node} (machine ${host + 1})`;
}

export function requestText({ purpose, operations }: Request): string {
  const elected = operations.find((operation) => 'set' in operation && operation.set === 'elected');
  if (elected !== undefined && 'set' in elected && elected.set === 'elected') {
    const { node, term, cause, failures } = elected.value;
    const inBackoff = failures.filter(({ until }) => until !== null).map((one) => `${one.node}×${one.count}`);
    return `elected: ${node ?? 'nobody'}, term ${term}, ${cause}, over version ${elected.version}${inBackoff.length === 0 ? '' : `, excluded ${inBackoff.join()}`}`;
  }
  return purpose.for === 'claim' ? `claim under version ${purpose.electedVersion}` : purpose.for;
}
