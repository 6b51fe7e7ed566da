/**
 * A simulated ensemble: what its servers have committed, and which of them leads. Each server has the whole
 * database, up to the last change that it knows of. Writes go through the leader, which needs a majority of
 * the servers.
 *
 * The ensemble behaves like ZooKeeper in these respects. A server that gets no message from its leader
 * continues to serve reads and pings until syncLimit has passed. Followers report the heartbeats of their
 * sessions to the leader in their replies to its pings. A new leader restarts every session's full timeout,
 * as negotiated when the session started. The new leader has another wall clock. A proposal of a lost leader
 * may survive if one of the servers that elect the next leader knew of it. The server with the longest log
 * becomes the leader.
 */
import { Database } from '../../src/embedded/database.js';
import { JuteReader } from '../../src/embedded/jute.js';
import { type OperationOpcode, readMulti, readOperation } from '../../src/embedded/operations.js';
import type { Opcode } from '../../src/embedded/records.js';
import type { Change, Operation, SequenceOverflow } from '../../src/embedded/tree.js';
import type { Notification } from '../../src/embedded/watches.js';
import type { Identity } from '../../src/model/acl.js';
import { type Delays, Link } from './link.js';
import type { MachineClock } from './process.js';
import type { Quota } from './quota.js';
import { Server } from './server.js';
import type { ServerConfig } from './setup.js';
import type { World } from './world.js';

/** The client that requested a change and is waiting for the reply. */
export interface Asker {
  readonly server: Server;
  readonly peer: number;
  readonly xid: number;
}

/**
 * What the ensemble's leader knows of a silent session: the start of the silence in true time, the session's
 * timeout, and the rate of the leader's clock.
 */
export interface Silence {
  readonly sinceMs: number;
  readonly timeoutMs: number;
  readonly rate: number;
}

/** A change that the servers commit. All servers commit changes in the same order. */
export type Transaction =
  | { readonly kind: 'open'; readonly timeoutMs: number; readonly asker: Asker }
  | {
      readonly kind: 'close';
      readonly session: bigint;
      readonly asker: Asker | null;
      /** What the ensemble's leader knows of an expired session. Undefined if the session did not expire. */
      readonly silence?: Silence;
    }
  | {
      readonly kind: 'write';
      readonly opcode: WriteOpcode;
      readonly body: Buffer;
      readonly operations: readonly Operation[];
      readonly session: bigint;
      /** Identities that the client has proven. */
      readonly identities: readonly Identity[];
      readonly wallMs: number;
      readonly asker: Asker | null;
    };

export type WriteOpcode = Extract<Opcode, OperationOpcode | 'multi'>;

const writeOpcodes: ReadonlySet<Opcode> = new Set([
  'create',
  'create2',
  'delete',
  'setData',
  'setACL',
  'multi',
]);

export function isWrite(opcode: Opcode): opcode is WriteOpcode {
  return writeOpcodes.has(opcode);
}

export function operationsOf(opcode: WriteOpcode, body: Buffer): Operation[] {
  const reader = new JuteReader(body);
  if (opcode === 'multi') return readMulti(reader).map(({ operation }) => operation);
  return [readOperation(opcode, reader)];
}

export interface EnsembleOptions {
  readonly world: World;
  readonly servers: number;
  readonly tickMs: number;
  readonly minSessionTimeoutMs: number;
  /** Settings of servers whose configuration differs, by server number. */
  readonly unlike?: readonly ServerConfig[];
  readonly delays: Delays;
  readonly overflow: SequenceOverflow;
  /** Number of the first transaction. The default is 0. */
  readonly startZxid?: bigint;
  clockOf(server: number): MachineClock;
  /** Called for every commit, at the instant of the commit. */
  onCommit(commit: Commit): void;
  /**
   * Called for each notification of a departure, with all sessions that have been notified of that departure
   * so far.
   */
  onWake(departure: Transaction, sessions: ReadonlySet<bigint>): void;
}

/** A change of the committed state. */
export interface Commit {
  readonly transaction: Transaction;
  readonly truth: Database;
  readonly changes: readonly Change[];
  readonly ok: boolean;
}

/** Time for which a server tolerates silence from its leader, or from too many followers. In ticks. */
export const syncLimitTicks = 5;

export class Ensemble {
  readonly servers: readonly Server[];
  readonly log: Transaction[] = [];
  readonly tickMs: number;
  /** Sessions that were notified of each departure. A departure is the end of a session, or a deletion. */
  readonly #woken = new Map<Transaction, Set<bigint>>();
  /** Everything that has been committed, whether or not a given server knows of it. */
  truth: Database;
  /** Limit on the number of znodes under a path. Null if there is none. */
  quota: Quota | null = null;
  readonly #options: EnsembleOptions;
  readonly #links = new Map<string, Link>();
  #epoch = 0;

  constructor(options: EnsembleOptions) {
    this.#options = options;
    this.tickMs = options.tickMs;
    const startZxid = options.startZxid ?? 0n;
    this.truth = this.#newDatabase(startZxid);
    const indices = Array.from({ length: options.servers }, (_, index) => index);
    this.servers = indices.map(
      (index) =>
        new Server({
          world: options.world,
          ensemble: this,
          index,
          tickMs: options.tickMs,
          maxSessionTimeoutMs: 20 * options.tickMs,
          ...options.unlike?.[index],
          machine: options.clockOf(index),
          database: this.#newDatabase(startZxid),
        }),
    );
    for (const server of this.servers) server.start();
  }

  #newDatabase(startZxid: bigint): Database {
    const { tickMs, minSessionTimeoutMs, overflow } = this.#options;
    return new Database({
      tickTimeMs: tickMs,
      minTimeoutMs: minSessionTimeoutMs,
      // Not limited here, because each server applies a limit of its own.
      maxTimeoutMs: Number.MAX_SAFE_INTEGER,
      secret: 'simulated',
      startedAtMs: 0,
      startZxid,
      sequenceOverflow: overflow,
    });
  }

  get majority(): number {
    return Math.floor(this.servers.length / 2) + 1;
  }

  linkBetween(from: Server, to: Server): Link {
    return this.#link(`${from.index} ${to.index}`);
  }

  #link(key: string): Link {
    const known = this.#links.get(key);
    if (known !== undefined) return known;
    const link = new Link(this.#options.world, this.#options.delays);
    this.#links.set(key, link);
    return link;
  }

  areLinked(one: Server, other: Server): boolean {
    return !this.linkBetween(one, other).isCut && !this.linkBetween(other, one).isCut;
  }

  /** Draws the time that a leader waits for replies from a majority. */
  get quorumDelayMs(): number {
    const { leastMs, mostMs } = this.#options.delays;
    return this.servers.length === 1 ? 0 : this.#options.world.chance.between(2 * leastMs, 2 * mostMs);
  }

  /** Commits a transaction. Every server will apply all committed transactions in the same order. */
  commit(transaction: Transaction): void {
    this.log.push(transaction);
    this.#options.onCommit(this.#happened(transaction));
  }

  /** Applies a transaction to the committed state. */
  #happened(transaction: Transaction): Commit {
    const { truth } = this;
    const nowMs = this.#options.world.nowMs;
    if (transaction.kind === 'write') return { transaction, truth, ...apply(truth, transaction) };
    if (transaction.kind === 'open') truth.openSession(transaction.timeoutMs, nowMs);
    else truth.endSession(transaction.session, nowMs);
    return { transaction, truth, changes: [], ok: true };
  }

  /**
   * Sets the data of all servers back to the first `kept` transactions, and passes each of them to `replay`.
   * If none is kept, the ensemble is a new one, whose transaction numbers start at 0. No server may run. The
   * ids of the sessions that are lost are not used again, as in ZooKeeper, whose ids contain the time.
   */
  restore(kept: number, replay: (commit: Commit) => void): void {
    const lost = this.log.splice(kept);
    const nowMs = this.#options.world.nowMs;
    const startZxid = kept === 0 ? 0n : (this.#options.startZxid ?? 0n);
    this.truth = this.#newDatabase(startZxid);
    this.#woken.clear();
    for (const transaction of this.log) replay(this.#happened(transaction));
    for (const transaction of lost) {
      if (transaction.kind !== 'open') continue;
      const { id: session } = this.truth.openSession(transaction.timeoutMs, nowMs);
      this.truth.endSession(session, nowMs);
      this.log.push(transaction, { kind: 'close', session, asker: null });
    }
    for (const server of this.servers) server.restore(this.#newDatabase(startZxid));
  }

  /**
   * Finds a leader for a server that has none. Either the current leader continues, or the candidate becomes
   * the leader.
   */
  elect(candidate: Server): void {
    const others = this.servers.filter((one) => one !== candidate && this.areLinked(one, candidate));
    const inOffice = others.find(
      (one) => one.isLeading && one.process.isRunning && one.epoch === this.#epoch,
    );
    if (inOffice !== undefined) {
      candidate.follow(inOffice);
      return;
    }
    const electorate = others.filter((one) => one.process.isRunning && one.isLooking);
    if (electorate.length + 1 < this.majority) return;
    // The servers that remain may know of proposals of the last leader.
    for (const proposal of this.#survivors([candidate, ...electorate])) this.commit(proposal);
    this.#epoch += 1;
    this.#options.world.note(() => `server ${candidate.index} leads the ensemble, epoch ${this.#epoch}`);
    candidate.lead(this.#epoch);
    for (const one of electorate) one.follow(candidate);
  }

  /** Records that a transaction notifies a client. */
  noteNotified(
    session: bigint,
    { transaction, type, path }: Pick<Notification, 'type' | 'path'> & { transaction: Transaction },
  ) {
    const isDeparture = type === 'deleted' || type === 'childrenChanged';
    if (!isDeparture || /\/elected(-\d+)?$/.test(path)) return;
    const woken = this.#woken.get(transaction) ?? new Set();
    this.#woken.set(transaction, woken.add(session));
    this.#options.onWake(transaction, woken);
  }

  /**
   * Ends a session, as an administrator can. Does nothing while a write of the session, such as a claim, is
   * in progress.
   */
  expire(session: bigint): void {
    const leader = this.servers.find((one) => one.isLeading && one.epoch === this.#epoch);
    if (leader?.isAskedBy(session) === true) return;
    leader?.process.deliver(() => leader.propose({ kind: 'close', session, asker: null }));
  }

  /**
   * Returns the proposals that survive their leader. All followers accept the proposals in the log of a
   * voter. The number of proposals that reached a log is random.
   */
  #survivors(voters: readonly Server[]): Transaction[] {
    // Only a leader has proposals.
    const proposed = this.servers
      .filter((one) => one.epoch === this.#epoch && this.#epoch > 0)
      .flatMap((one) => one.takeProposals(voters));
    return proposed.slice(0, this.#options.world.chance.upTo(proposed.length));
  }
}

/**
 * Applies a committed transaction to a database. A transaction of a session that has ended changes nothing.
 */
export function apply(
  database: Database,
  { operations, session, identities, wallMs }: Extract<Transaction, { kind: 'write' }>,
): {
  ok: boolean;
  changes: readonly Change[];
  notifications: ReturnType<Database['transact']>['notifications'];
} {
  try {
    const client = { watcher: 0, identities, sessionId: session };
    const { outcome, notifications } = database.transact(operations, client, wallMs);
    return { ok: outcome.ok, changes: outcome.ok ? outcome.changes : [], notifications };
  } catch {
    return { ok: false, changes: [], notifications: [] };
  }
}
