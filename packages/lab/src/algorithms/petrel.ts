/**
 * Petrel itself: its decision core (`src/core`) over a simulated znode tree. Every node reads, decides, writes and waits as an agent
 * does: the elector by `electorRound`, each node's own part by `tenureStep`, leadership held by a lease on committed writes.
 *
 * Left out: the service (taking over and letting go take no time), the audits of the next in line, sessions' pings, and what
 * ZooKeeper does among its own servers.
 */
import {
  type AnsweredRequest,
  type Claim,
  type ClaimContent,
  defaultGroupConfig,
  type Elected,
  electorRound,
  type GroupSnapshot,
  type LeaseEvidence,
  leaseFrom,
  newElector,
  noEvidence,
  type OwnSeat,
  pingIntervalMs,
  prepareStrategy,
  type Registration,
  renewalIntervalMs,
  requestAnswered,
  sessionOpened,
  type Tenure,
  type TenureAction,
  tenureStep,
  writeCommitted,
} from 'petrel/internals';
import { algorithm, type Context, type Node, type Timer } from '../algorithm.js';
import { nobody } from '../census.js';
import { drawWay } from '../conditions.js';
import { electorOperations, idOf, membersOf, nameOf, registrationOf, site, sizeOf } from './petrel-shapes.js';
import {
  epochMs,
  type Message,
  type Operation,
  type Part,
  PetrelEnsemble,
  requestsOf,
  sessionOf,
  type Tree,
  versioned,
} from './petrel-tree.js';

const strategy = prepareStrategy(defaultGroupConfig).strategy;

class Agent implements Node<Message> {
  readonly #context: Context<Message>;
  readonly #session: bigint;
  readonly #recheck: Timer;
  readonly #renewal: Timer;
  readonly #leaseEnd: Timer;
  #registration: Registration;
  #seat = '';
  #part: Part = 'standby';
  #memory = newElector;
  #tenure: Tenure | null = null;
  #spentToken = 0n;
  #evidence: LeaseEvidence = noEvidence;
  #startedAtMs = 0;
  /** What is done with the answer that is awaited; null: nothing is. */
  #awaited: ((answer: Message) => void) | null = null;
  /** Something changed while an answer was awaited. */
  #isWoken = false;

  constructor(context: Context<Message>) {
    this.#context = context;
    this.#session = sessionOf(context.id, context.life);
    this.#registration = registrationOf(context);
    this.#recheck = context.timer(() => this.#wake());
    this.#renewal = context.timer(() => this.#renew());
    this.#leaseEnd = context.timer(() => this.#leaseEnded());
  }

  start(): void {
    this.#startedAtMs = this.#context.nowMs();
    this.#evidence = sessionOpened(this.#startedAtMs);
    const join: Message = { kind: 'join', session: this.#session, registration: this.#registration };
    this.#ask(join, 4, (answer) => {
      if (answer.kind === 'joined') this.#seat = answer.seat;
      this.#wake();
    });
  }

  receive(message: Message): void {
    if (message.kind === 'changed') {
      this.#context.count('wake-ups');
      this.#wake();
    } else if (message.kind === 'renewed') {
      this.#renewed(message.sentAtMs);
    } else {
      const then = this.#awaited;
      this.#awaited = null;
      then?.(message);
      if (this.#isWoken && this.#awaited === null) this.#wake();
    }
  }

  /** In doubt it looks again. */
  suspect(): void {
    this.#wake();
  }

  leave(): void {
    this.#context.send(this.#context.n, { kind: 'close', session: this.#session });
  }

  #ask(message: Message, count: number, then: (answer: Message) => void): void {
    this.#awaited = then;
    this.#context.send(this.#context.n, message, count);
  }

  #wake(): void {
    if (this.#awaited !== null) {
      this.#isWoken = true;
      return;
    }
    this.#isWoken = false;
    const part = this.#part;
    const count = requestsOf(part, part === 'elector' ? this.#context.n : 0);
    this.#ask({ kind: 'read', part, seat: this.#seat }, count, (answer) => {
      if (answer.kind === 'view') this.#look(answer.tree);
    });
  }

  #write(operations: readonly Operation[], then: (zxid: bigint | null) => void): void {
    const sentAtMs = this.#context.nowMs();
    this.#ask({ kind: 'write', session: this.#session, operations }, 1, (answer) => {
      const zxid = answer.kind === 'written' ? answer.zxid : null;
      if (zxid !== null) this.#committed(sentAtMs);
      then(zxid);
      if (this.#awaited === null) this.#wake();
    });
  }

  #look(tree: Tree): void {
    const snapshot = this.#snapshot(tree);
    const part = this.#partFor(snapshot);
    if (part !== this.#part) {
      this.#part = part;
      this.#wake();
      return;
    }
    this.#believe(tree.elected.value);
    if (this.#stepTenure(snapshot)) return;
    if (part === 'elector') this.#elect(snapshot);
  }

  #snapshot(tree: Tree): GroupSnapshot {
    const { config, elected, current, history } = tree;
    const isElector = this.#part === 'elector';
    const own = tree.members.find(({ owner }) => owner === this.#session) ?? null;
    return {
      config,
      elected,
      current: this.#part === 'standby' ? null : current,
      self: own,
      seat: this.#ownSeat(tree),
      members: isElector ? membersOf(tree) : null,
      history: isElector ? history : null,
    };
  }

  #ownSeat({ seats }: Tree): OwnSeat | null {
    const place = seats.findIndex(({ name }) => name === this.#seat);
    if (place === -1) return null;
    return { name: this.#seat, version: 0, below: seats[place - 1]?.name ?? null, second: place === 1 };
  }

  #partFor({ seat, elected }: GroupSnapshot): Part {
    if (seat !== null && seat.below === null) return 'elector';
    const isNamed = elected.value?.node === nameOf(this.#context.id);
    return isNamed || this.#tenure !== null ? 'involved' : 'standby';
  }

  /** Of another it believes what is decided, of itself that it is READY. */
  #believe(elected: Elected | null): void {
    const id = elected === null || elected.node === null ? nobody : idOf(elected.node);
    const leads = this.#tenure?.stage === 'leading';
    this.#context.follow(leads ? this.#context.id : id === this.#context.id ? nobody : id);
  }

  #releaseAtMs(): number {
    return leaseFrom(this.#evidence.provenAtMs, this.#context.conditions.detectMs).releaseAtMs;
  }

  /** Whether there was something to do, after which it looks again. */
  #stepTenure(snapshot: GroupSnapshot | null): boolean {
    const action = tenureStep({
      self: nameOf(this.#context.id),
      session: this.#session,
      sessionOver: false,
      snapshot,
      config: defaultGroupConfig,
      tenure: this.#tenure,
      spentToken: this.#spentToken,
      lease: leaseFrom(this.#evidence.provenAtMs, this.#context.conditions.detectMs),
      nowMs: this.#context.nowMs(),
      healthy: true,
      draining: false,
      drainOverdue: false,
      prepare: null,
      failedUnder: null,
    });
    if (action === null) return false;
    this.#perform(action, snapshot);
    return true;
  }

  #perform(action: TenureAction, snapshot: GroupSnapshot | null): void {
    switch (action.do) {
      case 'prepare':
        break;
      case 'claim':
        if (snapshot !== null) this.#claim(action.elected, action.electedVersion, snapshot);
        break;
      case 'adopt':
        this.#beginTenure(action.claim, action.elected, action.electedVersion, snapshot);
        break;
      case 'take-over':
        this.#enter('taken-over');
        break;
      case 'write-ready':
        this.#writeReady(action.elected, action.electedVersion, action.claimVersion);
        break;
      case 'release':
        this.#context.follow(nobody);
        this.#enter('released');
        break;
      case 'delete-claim':
        this.#spentToken = this.#tenure?.token ?? this.#spentToken;
        this.#write([{ delete: 'current', version: action.claimVersion }], () => {});
        break;
      case 'forget-tenure':
        this.#endTenure();
        break;
    }
  }

  #enter(stage: Tenure['stage']): void {
    if (this.#tenure !== null) this.#tenure = { ...this.#tenure, stage };
    this.#wake();
  }

  /** What was written need not be read before the takeover begins. */
  #beginTenure(
    current: Claim,
    { term }: Elected,
    claimedUnder: number,
    snapshot: GroupSnapshot | null,
  ): void {
    this.#tenure = { token: current.token, term, stage: 'claimed', failure: null, claimedUnder };
    this.#renew();
    if (snapshot === null || !this.#stepTenure({ ...snapshot, current })) this.#wake();
  }

  #endTenure(): void {
    this.#spentToken = this.#tenure?.token ?? this.#spentToken;
    this.#tenure = null;
    this.#renewal.stop();
    this.#leaseEnd.stop();
    this.#wake();
  }

  #claim(elected: Elected, electedVersion: number, snapshot: GroupSnapshot): void {
    const content = this.#claimContent('PROGRESS', elected, electedVersion);
    const node = nameOf(this.#context.id);
    this.#registration = { ...this.#registration, claimedUnder: electedVersion };
    const operations: Operation[] = [
      { check: 'seat', name: this.#seat },
      { check: 'elected', version: electedVersion },
      { create: 'current', value: content },
      { set: 'member', node, value: this.#registration },
    ];
    this.#write(operations, (zxid) => {
      if (zxid === null) return;
      const nowMs = this.#context.nowMs();
      const owner = this.#session;
      const made = { ...versioned(content, 0, nowMs), token: zxid, owner, createdAtMs: epochMs + nowMs };
      this.#beginTenure(made, elected, electedVersion, snapshot);
    });
  }

  #writeReady(elected: Elected, electedVersion: number, version: number): void {
    const value = this.#claimContent('READY', elected, electedVersion);
    const operations: Operation[] = [
      { check: 'seat', name: this.#seat },
      { check: 'elected', version: electedVersion },
      { set: 'current', value, version },
      { set: 'member', node: nameOf(this.#context.id), value: this.#registration },
    ];
    this.#write(operations, (zxid) => {
      if (zxid === null || this.#tenure === null) return;
      this.#tenure = { ...this.#tenure, stage: 'leading' };
      this.#context.follow(this.#context.id);
    });
  }

  #claimContent(status: ClaimContent['status'], { term }: Elected, electedVersion: number): ClaimContent {
    const { incarnation } = this.#registration;
    return { node: nameOf(this.#context.id), site, incarnation, status, term, electedVersion, resumes: null };
  }

  #renew(): void {
    this.#context.send(this.#context.n, { kind: 'renew', sentAtMs: this.#context.nowMs() });
    this.#renewal.set(renewalIntervalMs(this.#context.conditions.detectMs));
  }

  #renewed(sentAtMs: number): void {
    this.#committed(sentAtMs);
    if (this.#tenure !== null) this.#leaseEnd.set(Math.max(0, this.#releaseAtMs() - this.#context.nowMs()));
  }

  /** A committed write proves what was answered before it: renewals, and the session's pings. */
  #committed(sentAtMs: number): void {
    const sessionTimeoutMs = this.#context.conditions.detectMs;
    const ping = this.#pingBefore(sentAtMs - pingIntervalMs(sessionTimeoutMs));
    let evidence = this.#evidence;
    if (ping !== null) evidence = requestAnswered(evidence, ping, sessionTimeoutMs);
    evidence = writeCommitted(evidence, sentAtMs, sessionTimeoutMs);
    const own = { sentAtMs, answeredAtMs: this.#context.nowMs() };
    this.#evidence = requestAnswered(evidence, own, sessionTimeoutMs);
  }

  /** The last ping that was answered before an instant. Pings take as long as messages do, but are not sent one by one. */
  #pingBefore(atMs: number): AnsweredRequest | null {
    const { conditions, random } = this.#context;
    const roundTripMs = drawWay(conditions, random).ms + drawWay(conditions, random).ms;
    const everyMs = pingIntervalMs(conditions.detectMs);
    const pings = Math.floor((atMs - roundTripMs - this.#startedAtMs) / everyMs);
    const sentAtMs = this.#startedAtMs + pings * everyMs;
    return pings < 1 ? null : { sentAtMs, answeredAtMs: sentAtMs + roundTripMs };
  }

  #leaseEnded(): void {
    this.#stepTenure(null);
  }

  #elect(snapshot: GroupSnapshot): void {
    if (strategy === null || snapshot.members === null) return;
    const nowMs = this.#context.nowMs();
    const round = electorRound({
      self: nameOf(this.#context.id),
      snapshot,
      members: snapshot.members,
      config: defaultGroupConfig,
      strategy,
      memory: this.#memory,
      // Of a server without a clock of its own there is always a fresh reading.
      clock: { epochMs: epochMs + nowMs, atMs: nowMs },
      nowMs,
      canFence: false,
      witnessSinceMs: Number.NEGATIVE_INFINITY,
    });
    this.#memory = round.memory;
    const [operations] = round.actions
      .map((action) => electorOperations(action))
      .filter((one) => one !== null);
    if (operations !== undefined) this.#write([{ check: 'seat', name: this.#seat }, ...operations], () => {});
    else if (round.recheckInMs !== null) this.#recheck.set(round.recheckInMs);
  }
}

export const petrel = algorithm<Message>({
  name: 'petrel',
  title: 'Petrel, its own decisions over a simulated znode tree',
  isReliable: true,
  detector: 'server',
  size: sizeOf,
  node: (context) => new Agent(context),
  server: (context) => new PetrelEnsemble(context),
  expect: () => [],
  always: [{ measure: 'leaders', value: 1, kind: 'at most', source: 'never two at a time' }],
});
