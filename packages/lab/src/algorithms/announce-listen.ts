/**
 * Announce and listen: the leader announces itself to all nodes repeatedly. When a node hears a better
 * leader, it falls silent. When a node has heard no leader for the time TL, it considers itself the leader.
 * The source is E. Schooler's chapter on leader election.
 *
 * LE-A announces immediately. LE-S first waits for a random time, so that most nodes are silenced before
 * their first announcement. Both prefer the highest number. LE-M waits like LE-S, but prefers the node that
 * woke first, which is the node with the shortest wait. With `Bye`, a leader announces that it is leaving. It
 * may repeat this announcement in case copies are lost. With `Query`, a new node asks which node is the
 * leader. With `Suppress-then-Query`, the new node first waits as in LE-S, and asks only if it has heard
 * neither a leader nor a query.
 */

import { type Algorithm, algorithm } from '../algorithm.js';
import { nobody } from '../census.js';
import { answerLimitMs, listenMs } from '../conditions.js';
import type { Context, Node, Timer } from '../protocol.js';
import { announceListenTheory, type Variant } from './announce-listen-theory.js';
import { drawWait } from './suppression-theory.js';

type Message =
  | { readonly kind: 'announce'; readonly woke: number }
  | { readonly kind: 'bye' }
  | { readonly kind: 'query' };

/** A received announcement: its sender, the instant at which the sender woke, and the instant of arrival. */
interface Heard {
  readonly id: number;
  readonly woke: number;
  readonly atMs: number;
}

class AnnounceListen implements Node<Message> {
  readonly #context: Context<Message>;
  readonly #variant: Variant;
  readonly #wake: Timer;
  readonly #announcing: Timer;
  readonly #listening: Timer;
  /** Instant at which this node began to consider itself the leader. Null while the node waits or listens. */
  #woke: number | null = null;
  #leader: Heard | null = null;
  /** The best announcement heard since the leader's last announcement. */
  #next: Heard | null = null;
  /** Instant of the last query that this node sent or heard during its current wait. */
  #queryAtMs: number | null = null;
  /** Whether this node is waiting for the answer to a query, either its own or another node's. */
  #awaitsAnswer = false;

  constructor(context: Context<Message>, variant: Variant) {
    this.#context = context;
    this.#variant = variant;
    this.#wake = context.timer(() => this.#awoken());
    this.#announcing = context.timer(() => this.#announce());
    this.#listening = context.timer(() => {
      context.count('alarms');
      this.#giveUp();
    });
  }

  start(): void {
    this.#context.count('alarms', 0);
    this.#context.count('queries', 0);
    if (this.#variant.query === 'at once') this.#query();
    this.#wait();
  }

  receive(message: Message, from: number): void {
    if (message.kind === 'announce')
      this.#hear({ id: from, woke: message.woke, atMs: this.#context.nowMs() });
    else if (message.kind === 'query') this.#hearQuery();
    else if (message.kind === 'bye' && this.#leader?.id === from) this.#giveUp();
  }

  suspect(node: number): void {
    if (this.#leader?.id === node) this.#giveUp();
  }

  leave(): void {
    if (!this.#variant.bye || this.#woke === null) return;
    for (let said = 0; said < this.#context.conditions.byes; said += 1)
      this.#context.multicast({ kind: 'bye' });
  }

  #wait(): void {
    const { suppressMs, suppressRate } = this.#context.conditions;
    // A query sent before this wait concerned an earlier leader.
    this.#queryAtMs = null;
    this.#awaitsAnswer = false;
    this.#wake.set(this.#variant.waits ? drawWait(this.#context.random(), suppressRate) * suppressMs : 0);
  }

  #awoken(): void {
    if (this.#variant.query !== 'after waiting' || this.#awaitsAnswer) {
      this.#lead();
      return;
    }
    this.#awaitsAnswer = true;
    const { conditions, nowMs } = this.#context;
    const queryAtMs = this.#queryAtMs ?? this.#query();
    this.#wake.set(Math.max(0, queryAtMs + answerLimitMs({ ...conditions, loss: 0 }) - nowMs()));
  }

  #query(): number {
    const nowMs = this.#context.nowMs();
    this.#queryAtMs = nowMs;
    this.#context.count('queries');
    this.#context.multicast({ kind: 'query' });
    return nowMs;
  }

  #hearQuery(): void {
    this.#queryAtMs = this.#context.nowMs();
    if (this.#woke !== null) this.#say();
  }

  #lead(): void {
    this.#woke = this.#context.nowMs();
    this.#context.follow(this.#context.id);
    this.#context.count('woken');
    this.#announce();
  }

  #announce(): void {
    const { conditions, nowMs } = this.#context;
    if (nowMs() <= conditions.suppressMs) this.#context.count('suppression messages');
    this.#say();
    this.#announcing.set(this.#context.conditions.announceMs);
  }

  #say(): void {
    this.#context.multicast({ kind: 'announce', woke: this.#woke ?? 0 });
  }

  #hear(heard: Heard): void {
    if (!this.#isBetterThanSelf(heard)) return;
    if (this.#leader !== null && heard.id !== this.#leader.id && !this.#isBetter(heard, this.#leader)) {
      if (this.#next === null || !this.#isBetter(this.#next, heard)) this.#next = heard;
      return;
    }
    this.#listenTo(heard);
  }

  #listenTo(heard: Heard): void {
    this.#woke = null;
    this.#wake.stop();
    this.#announcing.stop();
    this.#leader = heard;
    this.#next = null;
    this.#context.follow(heard.id);
    this.#listening.set(heard.atMs + listenMs(this.#context.conditions) - this.#context.nowMs());
  }

  /**
   * Follows the best other node heard since the leader's last announcement. If there is no such node, waits
   * and then leads.
   */
  #giveUp(): void {
    const next = this.#next;
    this.#listening.stop();
    this.#leader = null;
    this.#next = null;
    if (next !== null && this.#context.nowMs() - next.atMs < listenMs(this.#context.conditions)) {
      this.#listenTo(next);
      return;
    }
    this.#context.follow(nobody);
    this.#wait();
  }

  #isBetter(one: Pick<Heard, 'id' | 'woke'>, other: Pick<Heard, 'id' | 'woke'>): boolean {
    if (this.#variant.prefers === 'earliest' && one.woke !== other.woke) return one.woke < other.woke;
    return one.id > other.id;
  }

  #isBetterThanSelf(heard: Heard): boolean {
    const { id } = this.#context;
    if (this.#variant.prefers === 'highest') return heard.id > id;
    return this.#woke === null || this.#isBetter(heard, { id, woke: this.#woke });
  }
}

const plain = { waits: true, prefers: 'highest', bye: false, query: 'never' } as const;

const variants: readonly Variant[] = [
  { ...plain, name: 'le-a', title: 'announce–listen', waits: false },
  { ...plain, name: 'le-s', title: 'announce–listen with suppression' },
  { ...plain, name: 'le-m', title: 'announce–listen by earliest wake-up', prefers: 'earliest' },
  { ...plain, name: 'le-s-bye', title: 'announce–listen with suppression and Bye', bye: true },
  { ...plain, name: 'le-s-query', title: 'announce–listen with suppression and Query', query: 'at once' },
  {
    ...plain,
    name: 'le-s-then-query',
    title: 'announce–listen with Suppress-then-Query',
    query: 'after waiting',
  },
];

export const announceListen: readonly Algorithm[] = variants.map((variant) =>
  algorithm<Message>({
    name: variant.name,
    title: variant.title,
    isReliable: false,
    detector: 'none',
    node: (context) => new AnnounceListen(context, variant),
    expect: (conditions) => announceListenTheory(variant, conditions),
  }),
);
