/**
 * Synchronous rings, as in H. Attiya and J. Welch: all nodes start in the same round, and every message takes
 * one round. The time that a message takes therefore carries information, and O(n) messages suffice. The node
 * with the lowest number becomes the leader.
 *
 * `sync-ring`: all nodes know n. Phase i has n rounds and belongs to the node with the number i. That node
 * announces itself in one trip round the ring, unless a node with a lower number has already done so.
 * `sync-ring-speeds`: no node knows n. Each node sends its number i. Before another node passes the number
 * on, the number rests at that node for 2^i − 1 rounds. A node drops a number if the node has seen a lower
 * one.
 */

import { type Algorithm, algorithm } from '../algorithm.js';
import { type Conditions, meanDelayMs } from '../conditions.js';
import type { Context, Expectation, Node } from '../protocol.js';

interface Message {
  readonly kind: 'id' | 'elected';
  readonly id: number;
}

/** A message with this number, or a higher one, would rest for longer than any run lasts. */
const neverPassed = 40;

class Synchronous implements Node<Message> {
  readonly #context: Context<Message>;
  readonly #knowsSize: boolean;
  #lowest: number;
  #isOver = false;

  constructor(context: Context<Message>, knowsSize: boolean) {
    this.#context = context;
    this.#knowsSize = knowsSize;
    this.#lowest = context.id;
  }

  start(): void {
    const { id, n } = this.#context;
    if (this.#knowsSize) this.#after(id * n, () => this.#phase());
    else this.#pass({ kind: 'id', id });
  }

  receive(message: Message): void {
    const { id } = this.#context;
    if (message.kind === 'elected') {
      this.#learn(message);
      return;
    }
    if (message.id === id) this.#lead();
    if (message.id >= this.#lowest) return;
    this.#lowest = message.id;
    if (message.id < neverPassed) this.#after(2 ** message.id - 1, () => this.#passLowest(message));
  }

  /** Passes on a number that has rested, unless a lower number arrived in the meantime. */
  #passLowest(message: Message): void {
    if (message.id === this.#lowest) this.#pass(message);
  }

  #phase(): void {
    if (!this.#isOver) this.#lead();
  }

  #lead(): void {
    this.#isOver = true;
    this.#context.follow(this.#context.id);
    this.#pass({ kind: 'elected', id: this.#context.id });
  }

  #learn(message: Message): void {
    if (message.id === this.#context.id) return;
    this.#isOver = true;
    this.#context.follow(message.id);
    this.#pass(message);
  }

  #after(rounds: number, act: () => void): void {
    this.#context.timer(act).set(rounds * meanDelayMs(this.#context.conditions.delay));
  }

  #pass(message: Message): void {
    this.#context.count(message.kind === 'id' ? 'election messages' : 'termination messages');
    this.#context.send(this.#context.successor(), message);
  }
}

/**
 * Returns the upper bound on the number of messages that carry numbers: 3n−2. Number 0 has gone round the
 * ring after n rounds. By then, number i has been sent once, and at most (n−1)/2^i more times.
 */
export function mostBySpeed(n: number): number {
  return 3 * n - 2;
}

function expect({ scenario, nodes: n, loss, delay }: Conditions, knowsSize: boolean): Expectation[] {
  if (scenario !== 'start' || loss > 0 || n < 2 || delay.kind !== 'constant') return [];
  const step = meanDelayMs(delay);
  if (knowsSize) {
    return [
      { measure: 'messages', value: n, kind: 'exact', source: 'n: only the lowest number goes round' },
      { measure: 'time', value: (n - 1) * step, kind: 'exact', source: '(n−1)Δ: phase 0 suffices' },
    ];
  }
  const source = '3n−2: number i rests for 2^i − 1 rounds';
  return [
    { measure: 'election messages', value: mostBySpeed(n), kind: 'at most', source },
    { measure: 'time', value: (2 * n - 1) * step, kind: 'exact', source: '(2n−1)Δ: two trips of number 0' },
  ];
}

const kinds = [
  { name: 'sync-ring', title: 'a synchronous ring of known size', knowsSize: true },
  { name: 'sync-ring-speeds', title: 'a synchronous ring of unknown size', knowsSize: false },
];

export const synchronousRings: readonly Algorithm[] = kinds.map(({ name, title, knowsSize }) =>
  algorithm<Message>({
    name,
    title,
    isReliable: true,
    detector: 'none',
    node: (context) => new Synchronous(context, knowsSize),
    expect: (conditions) => expect(conditions, knowsSize),
  }),
);
