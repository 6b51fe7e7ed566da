/** Defines a step, and collects all steps that are possible in a world. */
import type { Hands } from './decide.js';
import type { Faults } from './faults.js';
import { judgeBackoffs, judgeToken, judgeWork } from './invariants.js';
import type { Agent, Request, Setting, World } from './world.js';

export type StepKind =
  /** The step must happen eventually if it remains possible. */
  | 'due'
  /** The step may never happen. For example, an operator acts, or a node returns. */
  | 'gift'
  /** The step may happen as often as the scenario allows faults. */
  | 'fault';

export interface Step {
  readonly words: string;
  readonly kind: StepKind;
  /** Number of the actor that makes the step. The number is less than 32. */
  readonly actor: number;
  readonly world: World;
  /** Description of the invariant that the step breaks. Null if it breaks none. */
  readonly violation: string | null;
  /**
   * Whether the step writes a decision, a claim or site changes, or unseats an elector. Such steps must not
   * recur forever.
   */
  readonly isUnrest: boolean;
}

export interface Change {
  readonly name: string;
  /** Whether the change affects only the configuration. */
  readonly isOfConfig: boolean;
  /** Returns the world after the change. Returns null if the change is not possible now. */
  make(world: World): World | null;
}

export interface Rules {
  readonly setting: Setting;
  readonly faults: readonly Faults[];
  readonly changes: readonly Change[];
  readonly hands: Hands;
  readonly readsClock: boolean;
  /** Whether a node's session may end while its workload is alive, as if there were no lease. */
  readonly withoutLease: boolean;
  /** Maximum number of times that leadership may move by itself. Null if moves are not counted. */
  readonly maxMoves: number | null;
  /** Whether to merge a step that matters to no other agent into the step before. */
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

/** Collects the possible steps of one world. */
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
    const claims = purpose.for === 'decide-and-claim' ? ', and claim' : '';
    return `elected: ${node ?? 'nobody'}, term ${term}, ${cause}, over version ${elected.version}${inBackoff.length === 0 ? '' : `, excluded ${inBackoff.join()}`}${claims}`;
  }
  return purpose.for === 'claim' ? `claim under version ${purpose.electedVersion}` : purpose.for;
}
