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
import { type Delays, Link } from './link.js';
import type { MachineClock } from './process.js';
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
      readonly wallMs: number;
      readonly asker: Asker | null;
    };

export type WriteOpcode = Extract<Opcode, OperationOpcode | 'multi'>;

const writeOpcodes: ReadonlySet<Opcode> = new Set(['create', 'create2', 'delete', 'setData', 'multi']);

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
  readonly truth: Database;
  readonly #options: EnsembleOptions;
  readonly #links = new Map<string, Link>();
  #epoch = 0;

  constructor(options: EnsembleOptions) {
    this.#options = options;
    this.tickMs = options.tickMs;
    const newDatabase = () =>
      new Database({
        tickTimeMs: options.tickMs,
        minTimeoutMs: options.minSessionTimeoutMs,
        // Not limited here, because each server applies a limit of its own.
        maxTimeoutMs: Number.MAX_SAFE_INTEGER,
        secret: 'simulated',
        startedAtMs: 0,
        sequenceOverflow: options.overflow,
      });
    this.truth = newDatabase();
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
          database: newDatabase(),
        }),
    );
    for (const server of this.servers) server.start();
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
    const { onCommit } = this.#options;
    const { truth } = this;
    const nowMs = this.#options.world.nowMs;
    if (transaction.kind === 'open') {
      truth.openSession(transaction.timeoutMs, nowMs);
      onCommit({ transaction, truth, changes: [], ok: true });
    } else if (transaction.kind === 'close') {
      truth.endSession(transaction.session, nowMs);
      onCommit({ transaction, truth, changes: [], ok: true });
    } else {
      const { ok, changes } = apply(truth, transaction);
      onCommit({ transaction, truth, changes, ok });
    }
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
  tells(
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

const nobody = { watcher: 0, identities: [] } as const;

/**
 * Applies a committed transaction to a database. A transaction of a session that has ended changes nothing.
 */
export function apply(
  database: Database,
  { operations, session, wallMs }: Extract<Transaction, { kind: 'write' }>,
): {
  ok: boolean;
  changes: readonly Change[];
  notifications: ReturnType<Database['transact']>['notifications'];
} {
  try {
    const { outcome, notifications } = database.transact(
      operations,
      { ...nobody, sessionId: session },
      wallMs,
    );
    return { ok: outcome.ok, changes: outcome.ok ? outcome.changes : [], notifications };
  } catch {
    return { ok: false, changes: [], notifications: [] };
  }
}
