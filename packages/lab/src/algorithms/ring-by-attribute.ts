/**
 * The ring election by attribute, in one direction. The election message carries the best `id:attribute` so
 * far. In this module, a process's number is its attribute. When the message returns to the process that it
 * names, that process sends an elected message once round the ring. If there are several initiators, each
 * process passes on the election message of an initiator only if it has seen no higher initiator.
 *
 * In this form, the algorithm does not survive a crash during an election. There are two repairs. The first
 * uses timeouts: each process detects that its successor is silent, or that an election does not end. In the
 * second, a failure detector restarts the election. This repair is only as good as its detector. If a crash
 * is not detected, processes keep following the dead process. If the detector keeps reporting crashes that
 * did not happen, elections may never end.
 */

import { type Algorithm, algorithm } from '../algorithm.js';
import { answerLimitMs, type Conditions } from '../conditions.js';
import type { Context, Expectation, Node, Timer } from '../protocol.js';

type Message =
  | { readonly kind: 'election'; readonly epoch: number; readonly initiator: number; readonly best: number }
  | { readonly kind: 'elected'; readonly epoch: number; readonly leader: number }
  /** Only the variant with timeouts sends pings and acks. */
  | { readonly kind: 'ping' }
  | { readonly kind: 'ack' };
type Election = Extract<Message, { kind: 'election' }>;
type Elected = Extract<Message, { kind: 'elected' }>;

const none = -1;

class Process implements Node<Message> {
  readonly #context: Context<Message>;
  readonly #repair: Repair;
  readonly #watch: SuccessorWatch | null;
  readonly #patience: Timer;
  readonly #silence: Timer;
  #epoch = 0;
  /** The highest initiator seen in this epoch. `none` if no election is in progress. */
  #largest = none;
  /** The election message that this process last passed on. */
  #passed: Election | null = null;

  constructor(context: Context<Message>, repair: Repair) {
    this.#context = context;
    this.#repair = repair;
    this.#watch = repair === 'timeouts' ? new SuccessorWatch(context, (gone) => this.#lost(gone)) : null;
    this.#patience = context.timer(() => this.#restart());
    this.#silence = context.timer(() => this.#passedOver());
  }

  start(initiates: boolean): void {
    this.#watch?.start();
    this.#hear();
    if (initiates) this.#begin();
  }

  suspect(node: number): void {
    const isRunning = this.#largest !== none && this.#repair !== 'none';
    if (isRunning || this.#context.leader() === node) this.#restart();
  }

  /** Repeats the election, because the restored node took no part in the last one. */
  restored(): void {
    this.#restart();
  }

  receive(message: Message, from: number): void {
    if (message.kind === 'ack') {
      this.#watch?.answered(from);
      return;
    }
    this.#hear();
    if (this.#repair === 'timeouts') this.#context.send(from, { kind: 'ack' });
    if (message.kind === 'ping') return;
    if (message.epoch < this.#epoch) {
      if (message.kind === 'election' && this.#largest === none) this.#begin();
      return;
    }
    if (message.epoch > this.#epoch) this.#largest = none;
    this.#epoch = message.epoch;
    if (message.kind === 'election') this.#weigh(message);
    else this.#learn(message);
  }

  /** Restarts the silence timer. In the variant with timeouts, even an idle predecessor sends pings. */
  #hear(): void {
    if (this.#repair !== 'timeouts') return;
    const { conditions } = this.#context;
    this.#silence.set(2 * conditions.announceMs + answerLimitMs(conditions));
  }

  /** Handles a silent predecessor. Either the predecessor is gone, or it believes that this node is gone. */
  #passedOver(): void {
    this.#hear();
    const predecessor = this.#context.predecessor();
    if (predecessor === this.#context.id) return;
    this.#context.send(predecessor, { kind: 'ping' });
    this.#restart();
  }

  #lost(gone: number): void {
    if (this.#context.leader() === gone) this.#restart();
  }

  #restart(): void {
    this.#epoch += 1;
    this.#begin();
  }

  #begin(): void {
    const { id } = this.#context;
    this.#largest = id;
    if (this.#context.successor() === id) {
      this.#lead();
      return;
    }
    this.#waitForEnd();
    this.#pass({ kind: 'election', epoch: this.#epoch, initiator: id, best: id });
  }

  #weigh(election: Election): void {
    const { id } = this.#context;
    const { initiator, best } = election;
    if (initiator < this.#largest) return;
    // Do not restart the timer with every message, because a message that names a departed process keeps
    // arriving.
    if (this.#largest === none) this.#waitForEnd();
    this.#largest = initiator;
    if (best === id) {
      this.#lead();
      return;
    }
    if (this.#repair !== 'none' && this.#hasPassed(election)) return;
    this.#passed = { ...election, best: Math.max(best, id) };
    this.#pass(this.#passed);
  }

  /**
   * Whether this message has gone round without reaching the process that it names. If so, that process is
   * gone.
   */
  #hasPassed({ epoch, initiator, best }: Election): boolean {
    const last = this.#passed;
    return last !== null && last.epoch === epoch && last.initiator === initiator && last.best === best;
  }

  /**
   * Starts a timer that allows the election message two trips round the ring, and the elected message one
   * trip. The node whose timer fires first restarts the election.
   */
  #waitForEnd(): void {
    if (this.#repair !== 'timeouts') return;
    const { n, conditions } = this.#context;
    this.#patience.set(4 * n * answerLimitMs(conditions));
  }

  #lead(): void {
    this.#over(this.#context.id);
    this.#pass({ kind: 'elected', epoch: this.#epoch, leader: this.#context.id });
  }

  #learn(elected: Elected): void {
    if (elected.leader === this.#context.id) return;
    this.#over(elected.leader);
    this.#pass(elected);
  }

  #over(leader: number): void {
    this.#largest = none;
    this.#passed = null;
    this.#patience.stop();
    this.#context.follow(leader);
  }

  #pass(message: Election | Elected): void {
    const to = this.#context.successor();
    this.#context.send(to, message);
    this.#watch?.awaits(to, message);
  }
}

type Passed = Election | Elected;

/**
 * Expects the successor to acknowledge every message. If no acknowledgement arrives in time, the successor is
 * considered gone, and the next node receives the messages instead.
 */
class SuccessorWatch {
  readonly #context: Context<Message>;
  readonly #lost: (gone: number) => void;
  readonly #timeout: Timer;
  readonly #pinging: Timer;
  #to = none;
  #isWaiting = false;
  #unanswered: Passed[] = [];

  constructor(context: Context<Message>, lost: (gone: number) => void) {
    this.#context = context;
    this.#lost = lost;
    this.#timeout = context.timer(() => this.#goPast());
    this.#pinging = context.timer(() => this.#ping());
  }

  start(): void {
    this.#pinging.set(this.#context.conditions.announceMs);
  }

  awaits(to: number, message: Passed | null): void {
    if (to !== this.#to) this.#forget();
    this.#to = to;
    if (message !== null) this.#unanswered.push(message);
    if (this.#isWaiting) return;
    // The timeout starts at the first unanswered message. In a lossy network, the timeout is longer than the
    // interval between pings. Restarting it at each ping would therefore postpone it forever.
    this.#isWaiting = true;
    this.#timeout.set(answerLimitMs(this.#context.conditions));
  }

  answered(from: number): void {
    if (from === this.#to) this.#forget();
  }

  #forget(): void {
    this.#unanswered = [];
    this.#isWaiting = false;
    this.#timeout.stop();
  }

  #ping(): void {
    const to = this.#context.successor();
    if (to !== this.#context.id) {
      this.#context.send(to, { kind: 'ping' });
      this.awaits(to, null);
    }
    this.start();
  }

  #goPast(): void {
    const gone = this.#to;
    const messages = this.#unanswered;
    this.#forget();
    this.#context.doubt(gone);
    const to = this.#context.successor();
    for (const message of messages) {
      this.#context.send(to, message);
      this.awaits(to, message);
    }
    this.#lost(gone);
  }
}

function expect({ scenario, nodes: n, initiators, loss }: Conditions, repair: Repair): Expectation[] {
  if (scenario !== 'start' || loss > 0 || n < 2 || repair === 'timeouts') return [];
  const measure = 'messages';
  if (initiators === 'highest') {
    return [{ measure, value: 2 * n, kind: 'exact', source: '2N: the initiator wins' }];
  }
  if (initiators === 'after-highest') {
    const source = '3N−1: the initiator is the winner’s successor';
    return [{ measure, value: 3 * n - 1, kind: 'exact', source }];
  }
  if (initiators !== 1) return [];
  return [
    { measure, value: 2 * n, kind: 'at least', source: '2N' },
    { measure, value: 3 * n - 1, kind: 'at most', source: '3N−1' },
  ];
}

type Repair = 'none' | 'timeouts' | 'detector';
const repairs: readonly { readonly name: string; readonly title: string; readonly repair: Repair }[] = [
  { name: 'ring', title: 'ring election by attribute', repair: 'none' },
  { name: 'ring-timeouts', title: 'ring election repaired by timeouts', repair: 'timeouts' },
  { name: 'ring-detector', title: 'ring election repaired by a failure detector', repair: 'detector' },
];

export const ringByAttribute: readonly Algorithm[] = repairs.map(({ name, title, repair }) =>
  algorithm<Message>({
    name,
    title,
    isReliable: true,
    detector: repair === 'timeouts' ? 'none' : 'nodes',
    node: (context) => new Process(context, repair),
    expect: (conditions) => expect(conditions, repair),
  }),
);
