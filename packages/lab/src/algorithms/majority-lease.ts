/**
 * Majority vote with a master's lease, as in Chubby. If a node knows of no master, it waits for a random
 * time, and then asks all nodes for their votes. While a node's vote lasts, the node votes for no other node.
 * When a node has a majority, it is the master until its lease ends. The lease starts at the time of the
 * node's request. The master asks for votes again long before the lease ends.
 *
 * A node that returns without its memory may have voted before. It waits until such a vote would have ended.
 */

import { algorithm } from '../algorithm.js';
import { nobody } from '../census.js';
import { type Conditions, meanDelayMs } from '../conditions.js';
import type { Context, Expectation, Node, Timer } from '../protocol.js';

type Message =
  /** If `isMaster` is true, the sender asks to extend its lease. */
  | { readonly kind: 'ask'; readonly sentAtMs: number; readonly isMaster: boolean }
  | { readonly kind: 'vote'; readonly sentAtMs: number };
type Ask = Extract<Message, { kind: 'ask' }>;

class Server implements Node<Message> {
  readonly #context: Context<Message>;
  readonly #candidacy: Timer;
  readonly #renewal: Timer;
  readonly #leaseEnd: Timer;
  /** The node that this node voted for, and the instant at which the vote ends. */
  #vote = { for: nobody, untilMs: 0 };
  /**
   * Number of votes, keyed by the instant of the request. If messages are slow, the node asks again before
   * all nodes have answered.
   */
  readonly #votes = new Map<number, number>();
  #leaseUntilMs = 0;

  constructor(context: Context<Message>) {
    this.#context = context;
    this.#candidacy = context.timer(() => this.#request());
    this.#renewal = context.timer(() => this.#request());
    this.#leaseEnd = context.timer(() => this.#lost());
  }

  start(): void {
    const untilMs = this.#context.incarnation === 0 ? 0 : this.#context.nowMs() + this.#leaseMs();
    this.#vote = { for: nobody, untilMs };
    this.#wait();
  }

  receive(message: Message, from: number): void {
    if (message.kind === 'ask') this.#consider(message, from);
    else this.#counted(message.sentAtMs);
  }

  #leaseMs(): number {
    return this.#context.conditions.detectMs;
  }

  #isMaster(): boolean {
    return this.#context.leader() === this.#context.id;
  }

  #mayVoteFor(candidate: number): boolean {
    return this.#vote.for === candidate || this.#vote.untilMs <= this.#context.nowMs();
  }

  /** Waits until this node may vote again, and then for a random time. */
  #wait(): void {
    const left = Math.max(0, this.#vote.untilMs - this.#context.nowMs());
    this.#candidacy.set(left + this.#context.random() * this.#context.conditions.suppressMs);
  }

  #request(): void {
    const { id, nowMs } = this.#context;
    if (!this.#mayVoteFor(id)) {
      this.#wait();
      return;
    }
    this.#vote = { for: id, untilMs: nowMs() + this.#leaseMs() };
    for (const requestedAtMs of this.#votes.keys()) {
      if (requestedAtMs + this.#leaseMs() <= nowMs()) this.#votes.delete(requestedAtMs);
    }
    this.#votes.set(nowMs(), 0);
    this.#context.sendAll({ kind: 'ask', sentAtMs: nowMs(), isMaster: this.#isMaster() });
    this.#counted(nowMs());
    if (this.#isMaster()) this.#renewal.set(this.#context.conditions.announceMs);
    else this.#wait();
  }

  #consider({ sentAtMs, isMaster }: Ask, from: number): void {
    const { nowMs, follow, send } = this.#context;
    if (isMaster) {
      follow(from);
      this.#leaseEnd.set(this.#leaseMs());
      this.#candidacy.stop();
    }
    if (!this.#mayVoteFor(from)) return;
    this.#vote = { for: from, untilMs: nowMs() + this.#leaseMs() };
    send(from, { kind: 'vote', sentAtMs });
  }

  #counted(requestedAtMs: number): void {
    const before = this.#votes.get(requestedAtMs);
    if (before === undefined) return;
    this.#votes.set(requestedAtMs, before + 1);
    if (before !== Math.floor(this.#context.n / 2)) return;
    const { nowMs, id } = this.#context;
    this.#leaseUntilMs = Math.max(this.#leaseUntilMs, requestedAtMs + this.#leaseMs());
    const leftMs = this.#leaseUntilMs - nowMs();
    if (leftMs <= 0) return;
    this.#leaseEnd.set(leftMs);
    this.#candidacy.stop();
    if (this.#isMaster()) return;
    this.#context.follow(id);
    this.#request();
  }

  #lost(): void {
    this.#renewal.stop();
    this.#context.follow(nobody);
    this.#wait();
  }
}

/**
 * Returns the probability of a split vote among `awake` nodes. A vote is split if too many nodes wake within
 * Δ of the first node and vote for themselves. The first node then does not get a majority of n. The gaps
 * between uniform waits give the probability P(Bin(awake, Δ/TS) ≥ awake − majority + 1).
 */
export function splitShare(n: number, awake: number, deltaShare: number): number {
  const enough = awake - Math.floor(n / 2);
  let exactly = (1 - deltaShare) ** awake;
  let fewer = 0;
  for (let k = 0; k < enough; k += 1) {
    fewer += exactly;
    exactly *= ((awake - k) / (k + 1)) * (deltaShare / (1 - deltaShare));
  }
  return 1 - fewer;
}

/** The largest probability of a split vote that has no visible effect on a mean. */
const rarely = 1e-3;

function expect(given: Conditions): Expectation[] {
  const { scenario, nodes: n, delay, loss, suppressMs, announceMs, detectMs } = given;
  const delta = meanDelayMs(delay);
  if (loss > 0 || delay.kind !== 'constant' || n < 3 || delta >= suppressMs) return [];
  const awake = scenario === 'crash' ? n - 1 : n;
  if (splitShare(n, awake, delta / suppressMs) > rarely) return [];
  if (scenario === 'start') {
    const value = suppressMs / (n + 1) + 3 * delta;
    return [{ measure: 'time', value, kind: 'mean', source: 'the shortest of n waits, TS/(n+1), + 3Δ' }];
  }
  if (scenario !== 'crash') return [];
  const value = detectMs - announceMs / 2 + suppressMs / n + 4 * delta;
  return [{ measure: 'time', value, kind: 'mean', source: 'lease − TA/2 + TS/n + 4Δ' }];
}

export const majorityLease = algorithm<Message>({
  name: 'majority',
  title: 'majority vote with a master lease',
  isReliable: true,
  detector: 'none',
  node: (context) => new Server(context),
  expect,
  always: [{ measure: 'leaders', value: 1, kind: 'at most', source: 'leases never overlap' }],
});
