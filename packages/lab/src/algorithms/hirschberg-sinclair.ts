/**
 * Hirschberg and Sinclair: an election on a ring, in both directions. In phase k, a node that is still in the
 * election sends a probe in each direction. Each probe travels at most 2^k hops. A node with a higher number
 * drops the probe. Otherwise, the last node that the probe reaches sends it back as a reply. After two
 * replies, the next phase begins, and the node sends probes in both directions again. (One printed version
 * leaves out this step.) When a node's own probe returns to it, the node becomes the leader and notifies all
 * nodes in one round.
 */

import { algorithm } from '../algorithm.js';
import type { Conditions } from '../conditions.js';
import type { Context, Expectation, Node } from '../protocol.js';

type Way = 1 | -1;
type Message =
  | {
      readonly kind: 'probe';
      readonly id: number;
      readonly epoch: number;
      readonly phase: number;
      readonly hops: number;
      readonly way: Way;
    }
  | {
      readonly kind: 'reply';
      readonly id: number;
      readonly epoch: number;
      readonly phase: number;
      readonly way: Way;
    }
  | { readonly kind: 'elected'; readonly id: number; readonly epoch: number };
type Probe = Extract<Message, { kind: 'probe' }>;
type Reply = Extract<Message, { kind: 'reply' }>;

class Candidate implements Node<Message> {
  readonly #context: Context<Message>;
  #epoch = 0;
  #isIn = false;
  #phase = 0;
  #replies = 0;
  #leads = false;

  constructor(context: Context<Message>) {
    this.#context = context;
  }

  start(initiates: boolean): void {
    if (initiates) this.#begin();
  }

  suspect(node: number): void {
    if (!this.#isIn && this.#context.leader() !== node) return;
    this.#enter(this.#epoch + 1);
    this.#begin();
  }

  /** Repeats the election, because the restored node took no part in the last one. */
  restored(): void {
    this.#enter(this.#epoch + 1);
    this.#begin();
  }

  receive(message: Message): void {
    if (message.epoch < this.#epoch) {
      if (message.kind === 'probe' && !this.#isIn) this.#begin();
      return;
    }
    if (message.epoch > this.#epoch) this.#enter(message.epoch);
    switch (message.kind) {
      case 'probe':
        this.#probed(message);
        break;
      case 'reply':
        this.#replied(message);
        break;
      case 'elected':
        this.#learn(message.id);
        break;
    }
  }

  #enter(epoch: number): void {
    this.#epoch = epoch;
    this.#isIn = false;
    this.#leads = false;
  }

  #begin(): void {
    this.#isIn = true;
    this.#leads = false;
    this.#phase = 0;
    if (this.#context.successor() === this.#context.id) this.#lead();
    else this.#probeBothSides();
  }

  #probeBothSides(): void {
    const { id } = this.#context;
    this.#replies = 0;
    this.#context.count(`initiators of phase ${this.#phase}`);
    for (const way of [1, -1] as const) {
      this.#pass({ kind: 'probe', id, epoch: this.#epoch, phase: this.#phase, hops: 1, way }, way);
    }
  }

  #probed(probe: Probe): void {
    const { id } = this.#context;
    if (probe.id === id) {
      this.#lead();
      return;
    }
    if (probe.id < id) {
      if (!this.#isIn) this.#begin();
      return;
    }
    this.#isIn = true;
    const { way, phase, epoch, hops } = probe;
    if (hops < 2 ** phase) {
      this.#pass({ ...probe, hops: hops + 1 }, way);
      return;
    }
    const back: Way = way === 1 ? -1 : 1;
    this.#pass({ kind: 'reply', id: probe.id, epoch, phase, way: back }, back);
  }

  #replied(reply: Reply): void {
    if (reply.id !== this.#context.id) {
      this.#pass(reply, reply.way);
      return;
    }
    if (reply.phase !== this.#phase) return;
    this.#replies += 1;
    if (this.#replies < 2) return;
    this.#phase += 1;
    this.#probeBothSides();
  }

  /** Although the node's probes return from both sides, it announces itself only once. */
  #lead(): void {
    if (this.#leads) return;
    this.#leads = true;
    this.#context.follow(this.#context.id);
    this.#pass({ kind: 'elected', id: this.#context.id, epoch: this.#epoch }, 1);
  }

  #learn(leader: number): void {
    this.#isIn = false;
    if (leader === this.#context.id) return;
    this.#context.follow(leader);
    this.#pass({ kind: 'elected', id: leader, epoch: this.#epoch }, 1);
  }

  #pass(message: Message, way: Way): void {
    const { successor, predecessor, send, count } = this.#context;
    if (message.kind !== 'elected') count(messagesOf(message.phase));
    send(way === 1 ? successor() : predecessor(), message);
  }
}

function messagesOf(phase: number): string {
  return `messages of phase ${phase}`;
}

/** Returns the upper bound on the number of messages, 8n(log₂ n + 2) + 5n. */
export function messageBound(n: number): number {
  return 8 * n * (Math.log2(n) + 2) + 5 * n;
}

/**
 * Returns the upper bound on the number of nodes that begin a phase. If k ≥ 1, at least 2^(k−1) other nodes
 * lie between any two nodes that begin phase k. Those other nodes have lost to one of the two.
 */
export function initiatorBound(n: number, phase: number): number {
  return phase === 0 ? n : Math.floor(n / (2 ** (phase - 1) + 1));
}

function expect({ scenario, nodes: n, loss }: Conditions): Expectation[] {
  if (scenario !== 'start' || loss > 0 || n < 2) return [];
  const phases = Array.from({ length: Math.ceil(Math.log2(n)) + 1 }, (_, phase): Expectation[] => {
    const most = initiatorBound(n, phase);
    const source = phase === 0 ? 'n' : '⌊n/(2^(k−1)+1)⌋';
    const each = `4·2^k for each of ${source}`;
    return [
      { measure: `initiators of phase ${phase}`, value: most, kind: 'at most', source },
      { measure: messagesOf(phase), value: 4 * 2 ** phase * most, kind: 'at most', source: each },
    ];
  });
  const source = '8n(log₂ n + 2) + 5n';
  return [{ measure: 'messages', value: messageBound(n), kind: 'at most', source }, ...phases.flat()];
}

export const hirschbergSinclair = algorithm<Message>({
  name: 'hs',
  title: 'Hirschberg–Sinclair, a ring',
  isReliable: true,
  detector: 'nodes',
  node: (context) => new Candidate(context),
  expect,
});
