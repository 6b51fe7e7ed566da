/**
 * A ring without ids: all nodes run the same deterministic program and know the number of nodes. By
 * induction, all nodes of a synchronous ring are in the same state after each round. Therefore, for any
 * program, either all nodes lead or none does. Each run draws its program at random.
 */

import { algorithm } from '../algorithm.js';
import { somebodyElse } from '../census.js';
import type { Conditions } from '../conditions.js';
import type { Context, Expectation, Node } from '../protocol.js';
import { randomFrom } from '../random.js';

const states = 16;
const mostRounds = 200;

interface Message {
  readonly kind: 'state';
  readonly state: number;
}

/** The program that all nodes of a run execute. */
interface Program {
  /** Maps a node's own state and the state that it received to its next state. */
  next(own: number, heard: number): number;
  leads(state: number): boolean;
}

function programOf(seed: number): Program {
  const random = randomFrom(seed);
  const table = Uint8Array.from({ length: states * states }, () => random.below(states));
  const leading = random.below(states);
  return {
    next: (own, heard) => table[own * states + heard] ?? 0,
    leads: (state) => state === leading,
  };
}

class Anonymous implements Node<Message> {
  readonly #context: Context<Message>;
  readonly #program: Program;
  #state = 1;
  #rounds = 0;

  constructor(context: Context<Message>) {
    this.#context = context;
    this.#program = programOf(context.seed);
  }

  start(): void {
    this.#say();
  }

  receive({ state }: Message): void {
    this.#state = this.#program.next(this.#state, state);
    this.#rounds += 1;
    const leads = this.#program.leads(this.#state);
    if (leads) this.#context.count('led');
    this.#context.follow(leads ? this.#context.id : somebodyElse);
    if (this.#rounds < mostRounds) this.#say();
  }

  #say(): void {
    this.#context.send(this.#context.successor(), { kind: 'state', state: this.#state });
  }
}

function expect({ scenario, nodes, delay, loss }: Conditions): Expectation[] {
  if (scenario !== 'start' || nodes < 2 || delay.kind !== 'constant' || loss > 0) return [];
  const source = 'the symmetry is never broken: no leader is elected';
  return [{ measure: 'agreed', value: 0, kind: 'exact', source }];
}

export const anonymousRing = algorithm<Message>({
  name: 'anonymous',
  title: 'a ring without ids',
  isReliable: true,
  detector: 'none',
  node: (context) => new Anonymous(context),
  expect,
});
