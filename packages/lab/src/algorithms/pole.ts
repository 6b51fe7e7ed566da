/**
 * POLE, Algorithm 1 of D. Becker, F. Junqueira, M. Serafini, Leader Election for Replicated Services Using
 * Application Scores (2011). Each process proposes itself and states its score. A process that has received
 * the proposals of all processes decides immediately. A process that has received the proposals of a majority
 * waits for the election timer, and then decides. When a process decides, it votes for the best proposal. A
 * process that already has a leader answers a proposal with its vote. A process follows a leader once a
 * majority, including the leader itself, has voted for this leader in one epoch. When the retry timer fires,
 * a process sends its messages again, in case they were lost. The timer's interval doubles each time.
 *
 * Lines 29 to 32 of the paper set the timer to T+1 so that it fires immediately. In this module, the process
 * decides directly instead.
 */

import { type Algorithm, algorithm } from '../algorithm.js';
import { nobody } from '../census.js';
import { answerLimitMs, type Conditions, meanDelayMs } from '../conditions.js';
import type { Context, Expectation, Node, Timer } from '../protocol.js';
import { type Oracle, oracles } from './pole-oracles.js';

type Message =
  | { readonly kind: 'proposal'; readonly epoch: number; readonly score: number }
  | { readonly kind: 'vote'; readonly epoch: number; readonly leader: number };
type Vote = Extract<Message, { kind: 'vote' }>;

interface Proposal {
  readonly id: number;
  readonly score: number;
}

class Process implements Node<Message> {
  readonly #context: Context<Message>;
  readonly #oracle: Oracle;
  readonly #election: Timer;
  readonly #retry: Timer;
  #retryMs = 0;
  #epoch = 0;
  readonly #proposed = new Set<number>();
  #best: Proposal = { id: nobody, score: 0 };
  /**
   * The process for which this process votes in the current epoch. `nobody` until this process has decided.
   */
  #choice = nobody;
  readonly #votes = new Votes();

  constructor(context: Context<Message>, oracle: Oracle) {
    this.#context = context;
    this.#oracle = oracle;
    this.#election = context.timer(() => this.#decide());
    this.#retry = context.timer(() => this.#again());
  }

  start(): void {
    this.#elect();
  }

  /**
   * Starts an election if the leader is dead, or if the remaining processes are not a majority. The paper
   * leaves the second case to the service: its leader and followers give up when they have no quorum.
   */
  suspect(node: number): void {
    const { n, isSuspected, leader } = this.#context;
    let reached = 0;
    for (let id = 0; id < n; id += 1) if (!isSuspected(id)) reached += 1;
    const isAlone = leader() !== nobody && !this.#isMajority(reached);
    if (leader() === node || isAlone) this.#elect();
  }

  receive(message: Message, from: number): void {
    if (message.kind === 'vote') {
      this.#voted(message, from);
      return;
    }
    if (this.#context.leader() !== nobody) {
      this.#context.send(from, { kind: 'vote', epoch: this.#epoch, leader: this.#context.leader() });
      return;
    }
    if (message.epoch < this.#epoch) {
      this.#context.send(from, this.#proposal());
      return;
    }
    if (message.epoch > this.#epoch) this.#enter(message.epoch);
    if (this.#choice === nobody) this.#take({ id: from, score: message.score });
    else this.#context.send(from, this.#vote());
  }

  #isMajority(count: number): boolean {
    return count > this.#context.n / 2;
  }

  #proposal(): Message {
    return { kind: 'proposal', epoch: this.#epoch, score: this.#oracle(this.#context.id, this.#epoch) };
  }

  #vote(): Vote {
    return { kind: 'vote', epoch: this.#epoch, leader: this.#choice };
  }

  #elect(): void {
    this.#context.follow(nobody);
    this.#votes.forget();
    this.#retryMs = 2 * answerLimitMs({ ...this.#context.conditions, loss: 0 });
    this.#enter(this.#epoch + 1);
  }

  #enter(epoch: number): void {
    const { id } = this.#context;
    this.#epoch = epoch;
    this.#choice = nobody;
    this.#proposed.clear();
    this.#best = { id: nobody, score: 0 };
    this.#election.stop();
    this.#context.sendAll(this.#proposal());
    this.#retry.set(this.#retryMs);
    this.#take({ id, score: this.#oracle(id, epoch) });
  }

  #again(): void {
    this.#retryMs *= 2;
    // All votes of this epoch have arrived without agreement. Only a new epoch can bring agreement.
    if (this.#choice !== nobody && this.#votes.of(this.#epoch) >= this.#context.n - 1) {
      this.#enter(this.#epoch + 1);
      return;
    }
    this.#context.sendAll(this.#choice === nobody ? this.#proposal() : this.#vote());
    if (this.#choice !== nobody) this.#context.sendAll(this.#proposal());
    this.#retry.set(this.#retryMs);
  }

  #take(proposal: Proposal): void {
    if (this.#proposed.has(proposal.id)) return;
    this.#proposed.add(proposal.id);
    const { id, score } = this.#best;
    const isBetter = proposal.score > score || (proposal.score === score && proposal.id > id);
    if (id === nobody || isBetter) this.#best = proposal;
    const count = this.#proposed.size;
    if (count === this.#context.n) this.#decide();
    else if (this.#isMajority(count) && !this.#isMajority(count - 1)) this.#election.set(this.#electionMs());
  }

  /**
   * Returns T, the duration of the election timer. The timer starts with the proposal that completes a
   * majority. T is long enough for any further answers to arrive.
   */
  #electionMs(): number {
    return answerLimitMs(this.#context.conditions);
  }

  #decide(): void {
    this.#election.stop();
    this.#choice = this.#best.id;
    this.#context.sendAll(this.#vote());
    this.#voted(this.#vote(), this.#context.id);
  }

  #voted({ epoch, leader }: Vote, from: number): void {
    const votes = this.#votes.count(from, epoch, leader);
    const { id } = this.#context;
    const isFollowed = this.#context.leader() !== nobody;
    if (isFollowed || !this.#isMajority(votes)) return;
    // A process that returns without its memory accepts the votes that other processes cast for it.
    const isOwn = leader === id;
    if (!isOwn && !this.#votes.has(leader, epoch, leader)) return;
    this.#epoch = epoch;
    this.#choice = leader;
    this.#election.stop();
    this.#retry.stop();
    this.#context.follow(leader);
  }
}

/** The last vote of each process, and counts of equal votes. */
class Votes {
  readonly #last = new Map<number, Pick<Vote, 'epoch' | 'leader'>>();
  readonly #equal = new Map<string, number>();
  readonly #inEpoch = new Map<number, number>();

  forget(): void {
    this.#last.clear();
    this.#equal.clear();
    this.#inEpoch.clear();
  }

  /** Records a vote. Returns the number of equal votes, including this one. */
  count(from: number, epoch: number, leader: number): number {
    const before = this.#last.get(from);
    const key = `${epoch} ${leader}`;
    if (before?.epoch === epoch && before.leader === leader) return this.#equal.get(key) ?? 0;
    if (before !== undefined) {
      add(this.#equal, `${before.epoch} ${before.leader}`, -1);
      add(this.#inEpoch, before.epoch, -1);
    }
    this.#last.set(from, { epoch, leader });
    add(this.#inEpoch, epoch, 1);
    return add(this.#equal, key, 1);
  }

  has(from: number, epoch: number, leader: number): boolean {
    const last = this.#last.get(from);
    return last?.epoch === epoch && last.leader === leader;
  }

  of(epoch: number): number {
    return this.#inEpoch.get(epoch) ?? 0;
  }
}

function add<Key>(counts: Map<Key, number>, key: Key, by: number): number {
  const count = (counts.get(key) ?? 0) + by;
  counts.set(key, count);
  return count;
}

function expect(given: Conditions): Expectation[] {
  const { scenario, nodes: n, delay, loss, detectMs, noticedBy } = given;
  if (loss > 0 || delay.kind !== 'constant' || n < 3 || noticedBy !== 'all') return [];
  const delta = meanDelayMs(delay);
  const all = 2 * n * (n - 1);
  if (scenario === 'start') {
    return [
      { measure: 'messages', value: all, kind: 'exact', source: '2n(n−1): proposals and votes' },
      { measure: 'time', value: 2 * delta, kind: 'exact', source: '2Δ: all proposals, then all votes' },
    ];
  }
  if (scenario !== 'crash') return [];
  const value = detectMs + 2 * delta + answerLimitMs(given);
  return [
    { measure: 'messages', value: 2 * (n - 1) ** 2, kind: 'exact', source: '2(n−1)²' },
    { measure: 'time', value, kind: 'exact', source: '2Δ + T after detection: one proposal is missing' },
  ];
}

const kinds = [
  { name: 'pole', title: 'POLE, Algorithm 1, by history', oracle: 'history' },
  { name: 'pole-rotating', title: 'POLE, Algorithm 1, rotating', oracle: 'rotating' },
  { name: 'pole-latency', title: 'POLE, Algorithm 1, by latency', oracle: 'latency' },
] as const;

export const pole: readonly Algorithm[] = kinds.map(({ name, title, oracle }) => {
  /** The oracle that all processes of the last run share. */
  let last: { seed: number; n: number; oracle: Oracle } | null = null;
  const oracleOf = ({ n, seed }: Context<Message>): Oracle => {
    if (last?.seed !== seed || last.n !== n) last = { seed, n, oracle: oracles[oracle](n, seed) };
    return last.oracle;
  };
  return algorithm<Message>({
    name,
    title,
    isReliable: false,
    detector: 'nodes',
    node: (context) => new Process(context, oracleOf(context)),
    expect,
  });
});
