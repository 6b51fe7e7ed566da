/**
 * Bully: when a node detects that the coordinator is dead, it sends an election message to all nodes with
 * higher numbers. An OK from any of them silences the node. If no OK arrives in time, the node announces
 * itself to all lower nodes as the coordinator. A node that receives an election message starts its own
 * election.
 */

import { algorithm } from '../algorithm.js';
import { answerLimitMs, type Conditions, meanDelayMs } from '../conditions.js';
import type { Context, Expectation, Node, Timer } from '../protocol.js';

interface Message {
  readonly kind: 'election' | 'ok' | 'coordinator';
}

class Process implements Node<Message> {
  readonly #context: Context<Message>;
  readonly #noAnswer: Timer;
  readonly #noCoordinator: Timer;
  #isElecting = false;
  /** Instant at which this node last announced itself to all lower nodes as the coordinator. */
  #announcedAtMs = 0;

  constructor(context: Context<Message>) {
    this.#context = context;
    this.#noAnswer = context.timer(() => this.#coordinate());
    this.#noCoordinator = context.timer(() => this.#elect());
  }

  start(initiates: boolean): void {
    if (initiates) this.#elect();
  }

  suspect(node: number): void {
    if (this.#context.leader() === node && !this.#isElecting) this.#elect();
  }

  /** Repeats the election, because the restored node took no part in the last one. */
  restored(): void {
    this.#elect();
  }

  receive({ kind }: Message, from: number): void {
    switch (kind) {
      case 'election':
        this.#requested(from);
        break;
      case 'ok':
        this.#silenced();
        break;
      case 'coordinator':
        this.#notified(from);
        break;
    }
  }

  #elect(): void {
    const { id, n } = this.#context;
    const higher = Array.from({ length: n - id - 1 }, (_, place) => id + 1 + place).filter(
      (other) => !this.#context.isSuspected(other),
    );
    if (higher.length === 0) {
      this.#coordinate();
      return;
    }
    this.#isElecting = true;
    this.#context.count('election messages', higher.length);
    for (const other of higher) this.#context.send(other, { kind: 'election' });
    this.#noAnswer.set(answerLimitMs(this.#context.conditions));
  }

  #requested(from: number): void {
    const { id } = this.#context;
    this.#context.send(from, { kind: 'ok' });
    if (this.#context.leader() !== id) {
      if (!this.#isElecting) this.#elect();
      return;
    }
    const { conditions, nowMs } = this.#context;
    if (nowMs() - this.#announcedAtMs > answerLimitMs(conditions)) this.#coordinate();
  }

  /**
   * A higher node continues the election. If that node crashes in the meantime, this node's timer starts a
   * new election.
   */
  #silenced(): void {
    if (!this.#isElecting) return;
    this.#noAnswer.stop();
    this.#noCoordinator.set(5 * answerLimitMs(this.#context.conditions));
  }

  #coordinate(): void {
    const { id } = this.#context;
    this.#over(id);
    this.#announcedAtMs = this.#context.nowMs();
    for (let other = 0; other < id; other += 1) this.#context.send(other, { kind: 'coordinator' });
  }

  #notified(from: number): void {
    // A sender with a lower number did not know of this node.
    if (from < this.#context.id) {
      this.#elect();
      return;
    }
    this.#over(from);
  }

  #over(leader: number): void {
    this.#isElecting = false;
    this.#noAnswer.stop();
    this.#noCoordinator.stop();
    this.#context.follow(leader);
  }
}

/**
 * Returns the largest number of election messages among N processes after the highest one has crashed. The
 * literature's N(N−1)/2 also counts a message from the lowest process to the crashed one. The lowest process,
 * however, knows that the crashed one is dead.
 */
export function mostElectionMessages(n: number): number {
  return (n * (n - 1)) / 2 - 1;
}

function expect({ scenario, nodes: n, loss, noticedBy, delay, detectMs }: Conditions): Expectation[] {
  if (scenario !== 'crash' || loss > 0 || n < 3 || delay.kind !== 'constant') return [];
  const step = meanDelayMs(delay);
  if (noticedBy === 'highest') {
    return [
      {
        measure: 'messages',
        value: n - 2,
        kind: 'exact',
        source: 'N−2: the node with the second-highest id detects the crash',
      },
      { measure: 'time', value: detectMs + step, kind: 'exact', source: 'one message delay after detection' },
    ];
  }
  if (noticedBy !== 'lowest' || n < 4) return [];
  const source =
    'N(N−1)/2 − 1: the node with the lowest id detects the crash; the literature also counts one message to the crashed node';
  return [
    { measure: 'election messages', value: mostElectionMessages(n), kind: 'exact', source },
    { measure: 'time', value: detectMs + 5 * step, kind: 'at most', source: 'five message delays' },
    {
      measure: 'time',
      value: detectMs + 4 * step,
      kind: 'exact',
      source: 'four message delays: a node sends OK and its own election messages together',
    },
  ];
}

export const bully = algorithm<Message>({
  name: 'bully',
  title: 'Bully',
  isReliable: true,
  detector: 'nodes',
  node: (context) => new Process(context),
  expect,
});
