/**
 * One server of a simulated ensemble: its role among the servers, the changes that it knows of, and the live
 * sessions while it leads. Client requests are handled in `clients.ts`.
 */
import type { Database } from '../../src/embedded/database.js';
import { JuteReader } from '../../src/embedded/jute.js';
import { answer } from '../../src/embedded/requests.js';
import type { Operation } from '../../src/embedded/tree.js';
import { Clients, type Peer } from './clients.js';
import { apply, type Ensemble, type Silence, syncLimitTicks, type Transaction } from './ensemble.js';
import { type MachineClock, Process } from './process.js';
import { refusedOperation } from './quota.js';
import type { World } from './world.js';

interface ServerOptions {
  readonly world: World;
  readonly ensemble: Ensemble;
  readonly index: number;
  readonly tickMs: number;
  readonly maxSessionTimeoutMs: number;
  readonly machine: MachineClock;
  readonly database: Database;
}

type Role =
  | { readonly name: 'looking' }
  | { readonly name: 'following'; readonly leader: Server; heardAtMs: number }
  | { readonly name: 'leading'; readonly heardAtMs: Map<Server, number> };

interface Proposal {
  readonly transaction: Transaction;
  /** Followers that may have the proposal in their logs. */
  readonly heardBy: Set<Server>;
}

/** Interval at which a server without a leader looks for one. In ticks. */
const electionTicks = 0.25;

export class Server {
  readonly index: number;
  epoch = 0;
  /** The longest timeout that this server grants. */
  readonly maxSessionTimeoutMs: number;
  readonly #tickMs: number;
  readonly #world: World;
  readonly #ensemble: Ensemble;
  readonly #machine: MachineClock;
  #database: Database;
  #process: Process;
  #role: Role = { name: 'looking' };
  #applied = 0;
  /** Number of committed changes that this server knows of. */
  #committed = 0;
  #clients: Clients;
  #touched = new Set<bigint>();
  #proposals: Proposal[] = [];
  #committing = false;
  #closing = new Set<bigint>();
  /**
   * The server that last resumed each session. If a write of the session arrives through another server, the
   * client sent it before the session moved.
   */
  readonly #owners = new Map<bigint, Server>();
  #life = 0;
  /** Instant of each session's last heartbeat, in true time. Used only while this server leads. */
  readonly #heardMs = new Map<bigint, number>();
  #leadsSinceMs = 0;

  constructor({ world, ensemble, index, tickMs, maxSessionTimeoutMs, machine, database }: ServerOptions) {
    this.#tickMs = tickMs;
    this.maxSessionTimeoutMs = maxSessionTimeoutMs;
    this.#world = world;
    this.#ensemble = ensemble;
    this.index = index;
    this.#machine = machine;
    this.#database = database;
    this.#process = newProcess(world, index, machine);
    this.#clients = this.#newClients();
  }

  #newClients(): Clients {
    const ensemble = this.#ensemble;
    return new Clients({
      server: this,
      database: this.#database,
      onNotify: (session, what) => ensemble.noteNotified(session, what),
    });
  }

  /** Replaces the data of this server, which is stopped. It applies the whole log when it starts. */
  restore(database: Database): void {
    this.#database = database;
    this.#clients = this.#newClients();
    this.#applied = 0;
    this.#committed = 0;
    this.#proposals = [];
  }

  get process(): Process {
    return this.#process;
  }

  get database(): Database {
    return this.#database;
  }

  get isLooking(): boolean {
    return this.#role.name === 'looking';
  }

  get isLeading(): boolean {
    return this.#role.name === 'leading';
  }

  get isServing(): boolean {
    return this.#process.isAlive && this.#role.name !== 'looking';
  }

  start(): void {
    if (!this.#process.isAlive) this.#process = newProcess(this.#world, this.index, this.#machine);
    this.#life += 1;
    this.#look();
    this.#everyHalfTick(this.#life);
    this.#searchSoon(this.#life);
  }

  /** Kills the server. The connections of its clients break. */
  kill(): void {
    this.#world.note(() => `server ${this.index} is killed`);
    this.#process.kill();
    this.#look();
  }

  // -- Its role among the servers

  #nowMs(): number {
    return this.#process.clock.monotonicMs();
  }

  #look(): void {
    this.#role = { name: 'looking' };
    this.#touched.clear();
    this.#clients.hangUp();
  }

  #searchSoon(life: number): void {
    const delayMs = this.#tickMs * electionTicks * this.#world.chance.between(0.5, 1.5);
    this.#world.after(this.#ensemble.servers.length === 1 ? 0 : delayMs, () => {
      this.#process.deliver(() => {
        if (life !== this.#life || !this.isLooking) return;
        this.#ensemble.elect(this);
        if (this.isLooking) this.#searchSoon(life);
      }, 'timer');
    });
  }

  /** Breaks the connection to the leader. The server notices that at once, before syncLimit has passed. */
  hangUpOnLeader(): void {
    this.#process.deliver(() => {
      if (this.#role.name === 'following') this.#loseTouch(this.#life);
    });
  }

  lead(epoch: number): void {
    this.epoch = epoch;
    this.#role = { name: 'leading', heardAtMs: new Map() };
    this.#proposals = [];
    this.#committing = false;
    this.#closing.clear();
    this.#owners.clear();
    this.#committed = this.#ensemble.log.length;
    this.#catchUp();
    this.#database.touchAllSessions(this.#nowMs());
    this.#heardMs.clear();
    this.#leadsSinceMs = this.#world.nowMs;
  }

  follow(leader: Server): void {
    this.epoch = leader.epoch;
    this.#role = { name: 'following', leader, heardAtMs: this.#nowMs() };
    // A server that starts to follow drops its proposals of earlier epochs that were not committed.
    this.#proposals = [];
    this.#committed = this.#ensemble.log.length;
    this.#catchUp();
    leader.#heardFrom(this, []);
  }

  #everyHalfTick(life: number): void {
    const tick = this.#tickMs;
    this.#process.clock.timer(tick / 2, () => {
      if (life !== this.#life) return;
      if (this.#role.name === 'leading') this.#mind(this.#role.heardAtMs);
      else if (this.#role.name === 'following') {
        if (this.#nowMs() - this.#role.heardAtMs > syncLimitTicks * tick) this.#loseTouch(life);
      }
      this.#everyHalfTick(life);
    });
  }

  #loseTouch(life: number): void {
    this.#world.note(() => `server ${this.index} has lost touch with the ensemble`);
    this.#look();
    this.#searchSoon(life);
  }

  /** As the leader: pings the followers, checks that a majority is connected, and ends overdue sessions. */
  #mind(heardAtMs: Map<Server, number>): void {
    const now = this.#nowMs();
    const { servers, majority } = this.#ensemble;
    const inTouch = [...heardAtMs.values()].filter((atMs) => now - atMs <= syncLimitTicks * this.#tickMs);
    const settling = heardAtMs.size === 0 && servers.length > 1;
    if (!settling && inTouch.length + 1 < majority) {
      this.#loseTouch(this.#life);
      return;
    }
    for (const server of servers) {
      if (server !== this) this.#ensemble.linkBetween(this, server).send(() => server.#pinged(this));
    }
    for (const session of this.#database.overdueSessions(now)) {
      if (this.#closing.has(session)) continue;
      this.#closing.add(session);
      this.#world.note(
        () => `server ${this.index} lets the session of ${this.#world.nameOf(session)} expire`,
      );
      this.propose({ kind: 'close', session, asker: null, silence: this.silenceOf(session) });
    }
    this.#commitSoon();
  }

  #pinged(leader: Server): void {
    this.#process.deliver(() => {
      if (this.#role.name !== 'following' || this.#role.leader !== leader || leader.epoch !== this.epoch)
        return;
      this.#role.heardAtMs = this.#nowMs();
      const touched = [...this.#touched];
      this.#touched.clear();
      this.#ensemble.linkBetween(this, leader).send(() => {
        leader.#process.deliver(() => leader.#heardFrom(this, touched));
      });
    });
  }

  #heardFrom(follower: Server, touched: readonly bigint[]): void {
    if (this.#role.name !== 'leading' || follower.epoch !== this.epoch) return;
    this.#role.heardAtMs.set(follower, this.#nowMs());
    for (const session of touched) this.#hears(session);
    this.#reaches(follower);
    if (this.#proposals.length > 0) this.#commitSoon();
  }

  /**
   * Removes all proposals of this server, and returns those that the given servers know of. The others are
   * lost and will never be committed.
   */
  takeProposals(by: readonly Server[]): Transaction[] {
    return this.#proposals
      .splice(0)
      .filter(({ heardBy }) => by.some((one) => one === this || heardBy.has(one)))
      .map(({ transaction }) => transaction);
  }

  /**
   * Records that a follower has the newest proposal. Proposals arrive in order, so the follower has all
   * earlier ones, too.
   */
  #reaches(follower: Server): void {
    for (const { heardBy } of this.#proposals) heardBy.add(follower);
  }

  /** Whether the session has requested a write that is not committed yet. */
  isAskedBy(session: bigint): boolean {
    return this.#proposals.some(({ transaction: one }) => one.kind === 'write' && one.session === session);
  }

  /** As the leader: returns the number of the operation that a quota refuses. Null if none is refused. */
  refusedByQuota(operations: readonly Operation[], session: bigint): number | null {
    const { quota } = this.#ensemble;
    return quota === null ? null : refusedOperation(quota, operations, this.#database, session);
  }

  /** As the leader: proposes a transaction to the others. */
  propose(transaction: Transaction): void {
    this.#proposals.push({ transaction, heardBy: new Set() });
    for (const follower of this.#followers()) this.#reaches(follower);
    this.#commitSoon();
  }

  #commitSoon(): void {
    if (this.#committing || this.#proposals.length === 0) return;
    this.#committing = true;
    const { epoch } = this;
    const commit = () => {
      this.#process.deliver(() => {
        this.#committing = false;
        if (this.#role.name !== 'leading' || this.epoch !== epoch) return;
        const most = this.#followers().length + 1 >= this.#ensemble.majority;
        if (!most) return;
        for (const { transaction } of this.#proposals.splice(0)) this.#ensemble.commit(transaction);
        this.#committed = this.#ensemble.log.length;
        this.#catchUp();
        for (const follower of this.#followers()) {
          const committed = this.#committed;
          this.#ensemble.linkBetween(this, follower).send(() => {
            follower.#process.deliver(() => follower.#noteCommitted(this, committed));
          });
        }
      });
    };
    const delayMs = this.#ensemble.quorumDelayMs;
    if (delayMs === 0) commit();
    else this.#world.after(delayMs, commit);
  }

  #followers(): Server[] {
    return this.#ensemble.servers.filter((server) => {
      const { process } = server;
      const follows = server.#role.name === 'following' && server.#role.leader === this;
      return (
        follows && server.epoch === this.epoch && process.isRunning && this.#ensemble.areLinked(this, server)
      );
    });
  }

  #noteCommitted(leader: Server, committed: number): void {
    if (this.#role.name !== 'following' || this.#role.leader !== leader || leader.epoch !== this.epoch)
      return;
    this.#role.heardAtMs = this.#nowMs();
    this.#committed = Math.max(this.#committed, committed);
    this.#catchUp();
  }

  #catchUp(): void {
    while (this.#applied < this.#committed) {
      const transaction = this.#ensemble.log[this.#applied];
      this.#applied += 1;
      if (transaction !== undefined) this.#apply(transaction);
    }
  }

  /** Records a heartbeat of a session. */
  touch(session: bigint): void {
    if (this.isLeading) this.#hears(session);
    else this.#touched.add(session);
  }

  /** As the leader: returns the start of a session's silence, and the session's timeout. */
  silenceOf(session: bigint): Silence {
    const timeoutMs = this.#database.timeoutOf(session) ?? 0;
    return { sinceMs: this.#heardMs.get(session) ?? this.#leadsSinceMs, timeoutMs, rate: this.#machine.rate };
  }

  #hears(session: bigint): void {
    this.#heardMs.set(session, this.#world.nowMs);
    this.#database.touchSession(session, this.#nowMs());
  }

  #apply(transaction: Transaction): void {
    const asker = transaction.asker?.server === this ? transaction.asker : null;
    const clients = this.#clients;
    if (transaction.kind === 'open') {
      const session = this.#database.openSession(transaction.timeoutMs, this.#nowMs());
      this.#heardMs.set(session.id, this.#world.nowMs);
      if (asker !== null) clients.opened(asker.peer, session);
    } else if (transaction.kind === 'close') {
      clients.deliver(this.#database.endSession(transaction.session, 0) ?? [], transaction);
      this.#closing.delete(transaction.session);
      if (asker !== null) clients.answered(asker, { error: 0, body: Buffer.alloc(0), notifications: [] });
      clients.ended(transaction.session);
    } else {
      const peer = clients.peerOf(asker);
      if (asker === null || peer === undefined) {
        clients.deliver(apply(this.#database, transaction).notifications, transaction);
        return;
      }
      const { session: sessionId, identities } = transaction;
      const client = { sessionId, watcher: peer.number, identities };
      const reader = new JuteReader(transaction.body);
      const reply = answer(transaction.opcode, reader, this.#database, client, transaction.wallMs);
      clients.deliver(reply.notifications, transaction);
      clients.answered(asker, reply);
    }
  }

  /**
   * As the leader: lets another server, or this one, resume a session. Returns null if the session has ended.
   */
  takeUp(
    { sessionId, password, timeoutMs }: { sessionId: bigint; password: Buffer; timeoutMs: number },
    by: Server,
  ): ReturnType<Database['resumeSession']> {
    const session = this.#database.resumeSession(sessionId, password, timeoutMs, this.#nowMs());
    this.#heardMs.set(sessionId, this.#world.nowMs);
    this.#owners.set(sessionId, by);
    return session;
  }

  /**
   * As the leader: whether `server` was the last server to resume the session, or no server has resumed it.
   */
  isTakenUpBy(session: bigint, server: Server): boolean {
    return (this.#owners.get(session) ?? server) === server;
  }

  get wallMs(): number {
    return Math.floor(this.#process.clock.wallMs());
  }

  accept(peer: Peer): void {
    this.#clients.accept(peer);
  }

  gone(peer: Peer): void {
    this.#clients.gone(peer);
  }

  received(peer: Peer, packet: Buffer): void {
    this.#clients.received(peer, packet);
  }

  /**
   * Runs a function at the leader: immediately if this server leads, otherwise when the message has arrived
   * there.
   */
  ask(there: (leader: Server) => void): void {
    if (this.#role.name === 'leading') there(this);
    if (this.#role.name !== 'following') return;
    const { leader } = this.#role;
    const { epoch } = this;
    this.#ensemble.linkBetween(this, leader).send(() => {
      leader.#process.deliver(() => {
        if (leader.isLeading && leader.epoch === epoch) there(leader);
      });
    });
  }

  answerTo(server: Server, there: () => void): void {
    if (server === this) there();
    else this.#ensemble.linkBetween(this, server).send(() => server.#process.deliver(there));
  }
}

function newProcess(world: World, index: number, machine: MachineClock): Process {
  return new Process(world, `server ${index}`, machine, { runsCode: false });
}
