/**
 * A simulated ensemble: what its servers have agreed on, and who of them leads. Each server has the whole
 * database as far as it has heard of it; writes go through the leader, which needs most of the servers for
 * them.
 *
 * As in ZooKeeper: a server that hears nothing of its leader serves on, reads and pings, until its patience
 * (syncLimit) ends; signs of life of sessions reach the leader with the answers to its own pings; a new
 * leader gives all sessions the whole timeout that they were opened with again, and its wall clock is another
 * one. A proposal whose leader is lost may survive where one of the servers that elect the next leader had
 * heard of it: who has the longest log of these becomes the leader.
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

/** Who asked for a change, and waits for its answer. */
export interface Asker {
  readonly server: Server;
  readonly peer: number;
  readonly xid: number;
}

/**
 * What the ensemble's leader knows of a session: since when it is silent and may be so for how long, by a
 * clock of this rate.
 */
export interface Silence {
  readonly sinceMs: number;
  readonly timeoutMs: number;
  readonly rate: number;
}

/** What the servers agree on, one after the other. */
export type Transaction =
  | { readonly kind: 'open'; readonly timeoutMs: number; readonly asker: Asker }
  | {
      readonly kind: 'close';
      readonly session: bigint;
      readonly asker: Asker | null;
      /** Where it has expired: what the ensemble's leader knows of it. */
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
  /** Of servers that are configured otherwise than the rest; by their numbers. */
  readonly unlike?: readonly ServerConfig[];
  readonly delays: Delays;
  readonly overflow: SequenceOverflow;
  clockOf(server: number): MachineClock;
  /** Hears of everything that is agreed on, at the instant at which it is. */
  onCommit(commit: Commit): void;
  /** These sessions have by now been told of one departure. */
  onWake(departure: Transaction, sessions: ReadonlySet<bigint>): void;
}

/** What the truth has become. */
export interface Commit {
  readonly transaction: Transaction;
  readonly truth: Database;
  readonly changes: readonly Change[];
  readonly ok: boolean;
}

/** Silence of a leader or of too many followers that a server bears, in ticks. */
export const syncLimitTicks = 5;

export class Ensemble {
  readonly servers: readonly Server[];
  readonly log: Transaction[] = [];
  readonly tickMs: number;
  /** Sessions that were told of each departure: a session's end, or a deletion. */
  readonly #woken = new Map<Transaction, Set<bigint>>();
  /** What has been agreed on, whoever has heard of it. */
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
        // Each server has a limit of its own.
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

  /** Longest time that a leader waits for the answers of most servers. */
  get quorumDelayMs(): number {
    const { leastMs, mostMs } = this.#options.delays;
    return this.servers.length === 1 ? 0 : this.#options.world.chance.between(2 * leastMs, 2 * mostMs);
  }

  /** Agreed: every server will do it, in this order. */
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

  /** A server without a leader looks for one: one that is in office, or itself. */
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
    // What the last leader had proposed, some of those who are left may have heard of.
    for (const proposal of this.#survivors([candidate, ...electorate])) this.commit(proposal);
    this.#epoch += 1;
    this.#options.world.note(() => `server ${candidate.index} leads the ensemble, epoch ${this.#epoch}`);
    candidate.lead(this.#epoch);
    for (const one of electorate) one.follow(candidate);
  }

  /** A client is told of what a transaction did. */
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

  /** An administrator ends a session, unless it is about to change something: to claim, it may be. */
  expire(session: bigint): void {
    const leader = this.servers.find((one) => one.isLeading && one.epoch === this.#epoch);
    if (leader?.isAskedBy(session) === true) return;
    leader?.process.deliver(() => leader.propose({ kind: 'close', session, asker: null }));
  }

  /**
   * What stands in the log of one of the voters is agreed on by all who follow; how far logs go is a matter
   * of chance.
   */
  #survivors(voters: readonly Server[]): Transaction[] {
    // Only who leads has any.
    const proposed = this.servers
      .filter((one) => one.epoch === this.#epoch && this.#epoch > 0)
      .flatMap((one) => one.takeProposals(voters));
    return proposed.slice(0, this.#options.world.chance.upTo(proposed.length));
  }
}

const nobody = { watcher: 0, identities: [] } as const;

/** Does to a database what was agreed on. A session that is over changes nothing. */
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
