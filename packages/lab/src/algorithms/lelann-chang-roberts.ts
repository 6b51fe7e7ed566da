/**
 * LeLann, Chang and Roberts: an election on a ring, in one direction. A node sends its number. Each node
 * passes on numbers that are higher than its own and drops lower ones. When a node's own number returns to
 * it, the node becomes the leader and notifies all nodes in one round.
 *
 * Each restart of the election begins a new epoch. Nodes drop messages from earlier epochs.
 */

import { algorithm } from '../algorithm.js';
import { type Conditions, meanDelayMs } from '../conditions.js';
import type { Context, Expectation, Node } from '../protocol.js';

interface Message {
  readonly kind: 'id' | 'elected';
  readonly id: number;
  readonly epoch: number;
}

class Candidate implements Node<Message> {
  readonly #context: Context<Message>;
  #epoch = 0;
  /** Whether this node has sent its number or passed on a higher one. */
  #isIn = false;

  constructor(context: Context<Message>) {
    this.#context = context;
  }

  start(initiates: boolean): void {
    if (initiates) this.#begin();
  }

  suspect(node: number): void {
    if (!this.#isIn && this.#context.leader() !== node) return;
    this.#epoch += 1;
    this.#begin();
  }

  /** Repeats the election, because the restored node took no part in the last one. */
  restored(): void {
    this.#epoch += 1;
    this.#begin();
  }

  receive(message: Message): void {
    if (message.epoch < this.#epoch) {
      // The sender has missed an election, for example because it was away.
      if (message.kind === 'id' && !this.#isIn) this.#begin();
      return;
    }
    if (message.epoch > this.#epoch) this.#isIn = false;
    this.#epoch = message.epoch;
    if (message.kind === 'id') this.#weigh(message);
    else this.#learn(message);
  }

  #weigh(message: Message): void {
    const { id } = this.#context;
    if (message.id === id) {
      this.#lead();
      return;
    }
    if (message.id > id) this.#pass(message);
    else if (!this.#isIn) this.#begin();
    this.#isIn = true;
  }

  #learn(message: Message): void {
    this.#isIn = false;
    if (message.id === this.#context.id) return;
    this.#context.follow(message.id);
    this.#pass(message);
  }

  #begin(): void {
    this.#isIn = true;
    if (this.#context.successor() === this.#context.id) this.#lead();
    else this.#pass({ kind: 'id', id: this.#context.id, epoch: this.#epoch });
  }

  #lead(): void {
    this.#context.follow(this.#context.id);
    this.#pass({ kind: 'elected', id: this.#context.id, epoch: this.#epoch });
  }

  #pass(message: Message): void {
    this.#context.count(message.kind === 'id' ? 'election messages' : 'termination messages');
    this.#context.send(this.#context.successor(), message);
  }
}

/**
 * Returns the number of messages if numbers rise in the direction of the messages: n + (n−1). The highest
 * number goes all the way round the ring, and every other number goes one step.
 */
export function fewestMessages(n: number): number {
  return 2 * n - 1;
}

/**
 * Returns the number of messages if numbers fall in the direction of the messages. Number i is sent i+1
 * times.
 */
export function mostMessages(n: number): number {
  return (n * (n + 1)) / 2;
}

/**
 * Returns the mean number of messages if numbers are in random order: n·Hₙ. A number makes a k-th step if it
 * is the highest of k consecutive numbers on the ring, starting with itself.
 */
export function meanMessages(n: number): number {
  let harmonic = 0;
  for (let k = 1; k <= n; k += 1) harmonic += 1 / k;
  return n * harmonic;
}

function expect(given: Conditions): Expectation[] {
  const { scenario, nodes: n, initiators, loss, delay } = given;
  if (scenario !== 'start' || loss > 0 || n < 2) return [];
  const isTimed = delay.kind === 'constant' && (initiators === 'all' || initiators === 'highest');
  const value = (2 * n - 1) * meanDelayMs(delay);
  const source = '(2n−1)Δ: the highest id goes round once, then all other nodes are notified';
  return [
    ...ofMessages(given),
    ...(isTimed ? [{ measure: 'time', value, kind: 'exact', source } as const] : []),
  ];
}

function ofMessages({ nodes: n, order, initiators }: Conditions): Expectation[] {
  const election = 'election messages';
  const termination = {
    measure: 'termination messages',
    value: n,
    kind: 'exact',
    source: 'one trip round the ring',
  } as const;
  if (initiators === 'highest') {
    return [
      { measure: election, value: n, kind: 'exact', source: 'n: only the highest id goes round' },
      termination,
    ];
  }
  const worst = 'n(n+1)/2';
  const bound = { measure: election, value: mostMessages(n), kind: 'at most', source: worst } as const;
  if (initiators !== 'all') return [bound, termination];
  if (order === 'falling')
    return [{ measure: election, value: mostMessages(n), kind: 'exact', source: worst }, termination];
  if (order === 'rising') {
    const source = '2n−1; the n in the literature omits the messages of the other nodes';
    return [{ measure: election, value: fewestMessages(n), kind: 'exact', source }, termination];
  }
  const usual = 'n·Hₙ, ids in random order';
  return [{ measure: election, value: meanMessages(n), kind: 'mean', source: usual }, bound, termination];
}

export const lelannChangRoberts = algorithm<Message>({
  name: 'lcr',
  title: 'LeLann–Chang–Roberts, a ring',
  isReliable: true,
  detector: 'nodes',
  node: (context) => new Candidate(context),
  expect,
});
