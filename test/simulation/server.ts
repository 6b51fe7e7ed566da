/**
 * One server of a simulated ensemble: speaks ZooKeeper's protocol with its clients, answers reads from its own
 * database, and takes changes from its leader in the order in which they were agreed on.
 */
import type { Database } from '../../src/embedded/database.js';
import { errorCodes } from '../../src/embedded/errors.js';
import { JuteReader, JuteWriter } from '../../src/embedded/jute.js';
import {
  noSession,
  opcodeName,
  readConnectRequest,
  writeConnectResponse,
  writeNotification,
  writeReplyHeader,
  xids,
} from '../../src/embedded/records.js';
import { answer, type Reply } from '../../src/embedded/requests.js';
import type { Notification } from '../../src/embedded/watches.js';
import { apply, type Ensemble, isWrite, operationsOf, syncLimitTicks, type Transaction } from './ensemble.js';
import { type MachineClock, Process } from './process.js';
import type { World } from './world.js';

/** The server's end of one connection. */
export interface Peer {
  readonly number: number;
  readonly send: (packet: Buffer) => void;
  readonly close: () => void;
  sessionId: bigint;
  /** Requests that wait for the answer to a change before them. */
  waiting: Buffer[];
  isWaiting: boolean;
  /** How it asked: whether it expects the flag of newer clients. */
  hasFlag: boolean;
}

interface ServerOptions {
  readonly world: World;
  readonly ensemble: Ensemble;
  readonly index: number;
  readonly machine: MachineClock;
  readonly database: Database;
}

type Role =
  | { readonly name: 'looking' }
  | { readonly name: 'following'; readonly leader: Server; heardAtMs: number }
  | { readonly name: 'leading'; readonly heardAtMs: Map<Server, number> };

/** How often a server without a leader looks for one, in ticks. */
const electionTicks = 0.25;
const handshakeXid = 0;

export class Server {
  readonly index: number;
  epoch = 0;
  readonly #world: World;
  readonly #ensemble: Ensemble;
  readonly #machine: MachineClock;
  readonly #database: Database;
  #process: Process;
  #role: Role = { name: 'looking' };
  #applied = 0;
  /** How many of the agreed changes its leader has told it of. */
  #told = 0;
  #peers = new Map<number, Peer>();
  #touched = new Set<bigint>();
  #proposals: Transaction[] = [];
  #committing = false;
  #closing = new Set<bigint>();
  /** Where each session was last taken up: what comes later from elsewhere was sent before. */
  readonly #owners = new Map<bigint, Server>();
  #life = 0;
  /** As the leader: when each session gave a sign of life, in true time. */
  readonly #heardMs = new Map<bigint, number>();
  #leadsSinceMs = 0;

  constructor({ world, ensemble, index, machine, database }: ServerOptions) {
    this.#world = world;
    this.#ensemble = ensemble;
    this.index = index;
    this.#machine = machine;
    this.#database = database;
    this.#process = newProcess(world, index, machine);
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

  /** Its clients' connections break. */
  kill(): void {
    this.#world.note(() => `server ${this.index} is killed`);
    this.#process.kill();
    this.#look();
  }

  // -- Its place among the servers

  #nowMs(): number {
    return this.#process.clock.monotonicMs();
  }

  #look(): void {
    this.#role = { name: 'looking' };
    this.#touched.clear();
    const peers = [...this.#peers.values()];
    this.#peers.clear();
    for (const peer of peers) {
      this.#database.disconnect(peer.number);
      peer.close();
    }
  }

  #searchSoon(life: number): void {
    const delayMs = this.#ensemble.tickMs * electionTicks * this.#world.chance.between(0.5, 1.5);
    this.#world.after(this.#ensemble.servers.length === 1 ? 0 : delayMs, () => {
      this.#process.deliver(() => {
        if (life !== this.#life || !this.isLooking) return;
        this.#ensemble.elect(this);
        if (this.isLooking) this.#searchSoon(life);
      }, 'timer');
    });
  }

  /** Its connection to its leader breaks, as it does when a cable is pulled: it does not wait for its patience to end. */
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
    this.#told = this.#ensemble.log.length;
    this.#catchUp();
    this.#database.touchAllSessions(this.#nowMs());
    this.#heardMs.clear();
    this.#leadsSinceMs = this.#world.nowMs;
  }

  follow(leader: Server): void {
    this.epoch = leader.epoch;
    this.#role = { name: 'following', leader, heardAtMs: this.#nowMs() };
    this.#told = this.#ensemble.log.length;
    this.#catchUp();
    leader.#heardFrom(this, []);
  }

  #everyHalfTick(life: number): void {
    const { tickMs: tick } = this.#ensemble;
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

  /** The leader's turn: pings its followers, sees whether they are enough, ends the sessions that are overdue. */
  #mind(heardAtMs: Map<Server, number>): void {
    const now = this.#nowMs();
    const { tickMs, servers, majority } = this.#ensemble;
    const inTouch = [...heardAtMs.values()].filter((atMs) => now - atMs <= syncLimitTicks * tickMs);
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
      const silence = { sinceMs: this.#heardMs.get(session) ?? this.#leadsSinceMs, rate: this.#machine.rate };
      this.propose({ kind: 'close', session, asker: null, silence });
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
    if (this.#proposals.length > 0) this.#commitSoon();
  }

  takeProposals(): Transaction[] {
    return this.#proposals.splice(0);
  }

  /** On the leader: asks the others. */
  propose(transaction: Transaction): void {
    this.#proposals.push(transaction);
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
        for (const transaction of this.#proposals.splice(0)) this.#ensemble.commit(transaction);
        this.#told = this.#ensemble.log.length;
        this.#catchUp();
        for (const follower of this.#followers()) {
          const told = this.#told;
          this.#ensemble.linkBetween(this, follower).send(() => {
            follower.#process.deliver(() => follower.#tell(this, told));
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

  #tell(leader: Server, told: number): void {
    if (this.#role.name !== 'following' || this.#role.leader !== leader || leader.epoch !== this.epoch)
      return;
    this.#role.heardAtMs = this.#nowMs();
    this.#told = Math.max(this.#told, told);
    this.#catchUp();
  }

  #catchUp(): void {
    while (this.#applied < this.#told) {
      const transaction = this.#ensemble.log[this.#applied];
      this.#applied += 1;
      if (transaction !== undefined) this.#apply(transaction);
    }
  }

  #apply(transaction: Transaction): void {
    const { asker } = transaction;
    const peer = asker?.server === this ? this.#peers.get(asker.peer) : undefined;
    const xid = asker?.xid ?? 0;
    if (transaction.kind === 'open') {
      const session = this.#database.openSession(transaction.timeoutMs, this.#nowMs());
      this.#heardMs.set(session.id, this.#world.nowMs);
      if (peer !== undefined) this.#grant(peer, session);
    } else if (transaction.kind === 'close') {
      const notifications = this.#database.endSession(transaction.session, 0) ?? [];
      this.#deliver(notifications, transaction);
      this.#closing.delete(transaction.session);
      if (peer !== undefined) this.#reply(peer, xid, { error: 0, body: Buffer.alloc(0), notifications: [] });
      for (const one of [...this.#peers.values()]) {
        if (one.sessionId === transaction.session) this.#drop(one);
      }
    } else if (peer === undefined) {
      this.#deliver(apply(this.#database, transaction).notifications, transaction);
    } else {
      const client = { sessionId: transaction.session, watcher: peer.number, identities: [] };
      const reader = new JuteReader(transaction.body);
      const reply = answer(transaction.opcode, reader, this.#database, client, transaction.wallMs);
      this.#deliver(reply.notifications, transaction);
      this.#reply(peer, xid, reply);
    }
    if (peer !== undefined) this.#answered(peer);
  }

  // -- Its clients

  accept(peer: Peer): void {
    this.#peers.set(peer.number, peer);
  }

  /** The client's end has gone. */
  gone(peer: Peer): void {
    if (!this.#peers.delete(peer.number)) return;
    this.#database.disconnect(peer.number);
  }

  received(peer: Peer, packet: Buffer): void {
    if (this.#peers.get(peer.number) !== peer) return;
    if (peer.sessionId !== 0n) this.#touch(peer.sessionId);
    if (peer.isWaiting) peer.waiting.push(packet);
    else if (peer.sessionId === 0n) this.#shakeHands(peer, packet);
    else this.#serve(peer, packet);
  }

  #touch(session: bigint): void {
    if (this.isLeading) this.#hears(session);
    else this.#touched.add(session);
  }

  #hears(session: bigint): void {
    this.#heardMs.set(session, this.#world.nowMs);
    this.#database.touchSession(session, this.#nowMs());
  }

  #shakeHands(peer: Peer, packet: Buffer): void {
    const { lastZxidSeen, sessionId, password, timeoutMs, hasReadOnlyFlag } = readConnectRequest(
      new JuteReader(packet),
    );
    if (lastZxidSeen > this.#database.lastZxid) {
      this.#drop(peer);
      return;
    }
    peer.hasFlag = hasReadOnlyFlag;
    peer.isWaiting = true;
    if (sessionId === 0n) {
      const asker = { server: this, peer: peer.number, xid: handshakeXid };
      this.#ask((leader) => leader.propose({ kind: 'open', timeoutMs, asker }));
      return;
    }
    for (const one of [...this.#peers.values()]) if (one.sessionId === sessionId) this.#drop(one);
    this.#ask((leader) => {
      const session = leader.#database.resumeSession(sessionId, password, timeoutMs, leader.#nowMs());
      leader.#heardMs.set(sessionId, leader.#world.nowMs);
      leader.#owners.set(sessionId, this);
      leader.#answerTo(this, () => {
        if (this.#peers.get(peer.number) !== peer) return;
        this.#grant(peer, session ?? noSession);
        this.#answered(peer);
      });
    });
  }

  #grant(peer: Peer, session: { id: bigint; password: Buffer; timeoutMs: number }): void {
    peer.sessionId = session.id;
    peer.send(writeConnectResponse(new JuteWriter(), session, peer.hasFlag).packet());
    if (session.id === 0n) this.#drop(peer);
  }

  /** Does something at the leader: here, or there once it has arrived. */
  #ask(there: (leader: Server) => void): void {
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

  #answerTo(server: Server, there: () => void): void {
    if (server === this) there();
    else this.#ensemble.linkBetween(this, server).send(() => server.#process.deliver(there));
  }

  #serve(peer: Peer, packet: Buffer): void {
    const reader = new JuteReader(packet);
    const xid = reader.int();
    const opcode = opcodeName(reader.int());
    if (opcode === undefined) throw new Error('the client sent a request that is none');
    const body = packet.subarray(8);
    const asker = { server: this, peer: peer.number, xid };
    const { sessionId } = peer;
    if (isWrite(opcode)) {
      peer.isWaiting = true;
      const operations = operationsOf(opcode, body);
      this.#ask((leader) => {
        if ((leader.#owners.get(sessionId) ?? this) !== this) {
          // The session has moved, or a handshake that came late says so: the client is to begin anew (ZOOKEEPER-710).
          leader.#answerTo(this, () => this.#peers.get(peer.number) === peer && this.#drop(peer));
          return;
        }
        const wallMs = Math.floor(leader.#process.clock.wallMs());
        leader.propose({ kind: 'write', opcode, body, operations, session: sessionId, wallMs, asker });
      });
    } else if (opcode === 'closeSession') {
      peer.isWaiting = true;
      this.#ask((leader) => leader.propose({ kind: 'close', session: sessionId, asker }));
    } else if (opcode === 'sync') {
      peer.isWaiting = true;
      this.#ask((leader) => leader.#answerTo(this, () => this.#finish(peer, xid, opcode, body)));
    } else this.#finish(peer, xid, opcode, body, false);
  }

  #finish(
    peer: Peer,
    xid: number,
    opcode: NonNullable<ReturnType<typeof opcodeName>>,
    body: Buffer,
    waited = true,
  ) {
    if (this.#peers.get(peer.number) !== peer) return;
    const client = { sessionId: peer.sessionId, watcher: peer.number, identities: [] };
    const reply = answer(opcode, new JuteReader(body), this.#database, client, 0);
    this.#deliver(reply.notifications, null);
    this.#reply(peer, opcode === 'ping' ? xids.ping : xid, reply);
    if (waited) this.#answered(peer);
  }

  /** What waited behind a change has its turn. */
  #answered(peer: Peer): void {
    peer.isWaiting = false;
    while (!peer.isWaiting) {
      const next = peer.waiting.shift();
      if (next === undefined || this.#peers.get(peer.number) !== peer) return;
      if (peer.sessionId === 0n) this.#shakeHands(peer, next);
      else this.#serve(peer, next);
    }
  }

  #reply(peer: Peer, xid: number, { error, body }: Reply): void {
    const reply = writeReplyHeader(new JuteWriter(), xid, this.#database.lastZxid, error);
    peer.send(reply.raw(body).packet());
    if (error === errorCodes.SESSION_EXPIRED) this.#drop(peer);
  }

  #deliver(notifications: readonly Notification[], transaction: Transaction | null): void {
    for (const { watcher, type, path } of notifications) {
      const peer = this.#peers.get(watcher);
      if (peer === undefined) continue;
      if (transaction !== null) this.#ensemble.tells(watcher, { transaction, type, path });
      peer.send(writeNotification(new JuteWriter(), type, path).packet());
    }
  }

  #drop(peer: Peer): void {
    this.gone(peer);
    peer.close();
  }
}

function newProcess(world: World, index: number, machine: MachineClock): Process {
  return new Process(world, `server ${index}`, machine, { runsCode: false });
}
