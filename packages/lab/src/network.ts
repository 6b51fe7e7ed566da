/**
 * The simulated network. It determines how long messages take and which of them are lost. It also counts the
 * messages.
 */
import { type Conditions, drawDelayMs, drawWay } from './conditions.js';
import { type Events, ticks } from './events.js';
import type { Random } from './random.js';

export interface Traffic {
  /** Number of messages sent. A multicast counts as one message. */
  messages: number;
  /** Number of copies that arrived. */
  deliveries: number;
  bytes: number;
}

export class Network<Message> {
  readonly #events: Events;
  readonly #random: Random;
  readonly #conditions: Conditions;
  readonly #next: () => number;
  readonly #isReliable: boolean;
  readonly #deliver: (to: number, from: number, message: Message, depth: number) => boolean;
  readonly #sizeOf: (message: Message) => number;
  #traffic: Traffic = { messages: 0, deliveries: 0, bytes: 0 };
  #underWay = 0;

  constructor(options: {
    readonly events: Events;
    readonly random: Random;
    readonly conditions: Conditions;
    readonly isReliable: boolean;
    sizeOf(message: Message): number;
    /** Delivers a message. Returns false if the receiver does not exist or cannot be reached. */
    deliver(to: number, from: number, message: Message, depth: number): boolean;
  }) {
    this.#events = options.events;
    this.#random = options.random;
    this.#next = () => options.random.next();
    this.#conditions = options.conditions;
    this.#isReliable = options.isReliable;
    this.#deliver = options.deliver;
    this.#sizeOf = options.sizeOf;
  }

  /** Number of messages that have not arrived yet. */
  get underWay(): number {
    return this.#underWay;
  }

  get traffic(): Readonly<Traffic> {
    return { ...this.#traffic };
  }

  forget(): void {
    this.#traffic = { messages: 0, deliveries: 0, bytes: 0 };
  }

  /**
   * Sends one message. `count` is the number of messages that it represents. These messages are lost or
   * delayed together. A message with a `count` of 0 is not counted. `depth` is the length of the causal chain
   * of messages that led to this one.
   */
  send(to: number, from: number, message: Message, depth: number, count = 1): void {
    const { ms, copies } = this.#isReliable
      ? drawWay(this.#conditions, this.#next)
      : { ms: this.#delayMs(), copies: 1 };
    if (count > 0) this.#sent(count * copies, this.#sizeOf(message) / count);
    if (!this.#isReliable && this.#isLost()) return;
    const arrive = () => this.#hand(to, from, message, depth, count);
    if (count > 0) this.#arrive(ms, arrive);
    else this.#events.plan(this.#events.now + ticks(ms), 'arrival', arrive);
  }

  /** Sends a separate message to each other node. */
  sendAll(from: number, message: Message, depth: number): void {
    const { nodes, delay } = this.#conditions;
    if (this.#conditions.loss > 0 || delay.kind !== 'constant') {
      for (let to = 0; to < nodes; to += 1) if (to !== from) this.send(to, from, message, depth);
      return;
    }
    this.#sent(nodes - 1, this.#sizeOf(message));
    this.#arrive(delay.ms, () => this.#handAll(from, message, depth, 0));
  }

  /** Sends one message, whose copies go to all other nodes. */
  multicast(from: number, message: Message, depth: number): void {
    const { nodes, loss, correlated, delay } = this.#conditions;
    this.#sent(1, this.#sizeOf(message));
    if (correlated && this.#isLost()) return;
    const copyLoss = correlated ? 0 : loss;
    if (delay.kind === 'constant') {
      this.#arrive(delay.ms, () => this.#handAll(from, message, depth, copyLoss));
      return;
    }
    for (let to = 0; to < nodes; to += 1) {
      if (to === from || (copyLoss > 0 && this.#random.next() < copyLoss)) continue;
      this.#arrive(this.#delayMs(), () => this.#hand(to, from, message, depth));
    }
  }

  #handAll(from: number, message: Message, depth: number, loss: number): void {
    const { nodes } = this.#conditions;
    for (let to = 0; to < nodes; to += 1) {
      if (to === from || (loss > 0 && this.#random.next() < loss)) continue;
      this.#hand(to, from, message, depth);
    }
  }

  #hand(to: number, from: number, message: Message, depth: number, count = 1): void {
    if (this.#deliver(to, from, message, depth)) this.#traffic.deliveries += count;
  }

  #arrive(afterMs: number, run: () => void): void {
    this.#underWay += 1;
    this.#events.plan(this.#events.now + ticks(afterMs), 'arrival', () => {
      this.#underWay -= 1;
      run();
    });
  }

  #sent(count: number, size: number): void {
    this.#traffic.messages += count;
    this.#traffic.bytes += count * size;
  }

  #isLost(): boolean {
    const { loss } = this.#conditions;
    return loss > 0 && this.#random.next() < loss;
  }

  #delayMs(): number {
    return drawDelayMs(this.#conditions.delay, this.#next);
  }
}

/**
 * Estimates the size of a message's content in bytes: 8 for a number, 1 for a kind or a boolean, and 1 per
 * character for a string. The size of a list or record is the sum of the sizes of its parts.
 */
export function plainSize(content: unknown): number {
  if (typeof content === 'number' || typeof content === 'bigint') return 8;
  if (typeof content === 'string') return content.length;
  if (typeof content !== 'object' || content === null) return 1;
  let size = 0;
  for (const [key, part] of Object.entries(content)) size += key === 'kind' ? 1 : plainSize(part);
  return size;
}
