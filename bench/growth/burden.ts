/**
 * Counts, packet by packet, the agents' requests to a simulated ensemble, the ensemble's notifications, and
 * the data that the ensemble keeps for the agents.
 */
import type { Database } from '../../src/embedded/database.js';
import { type Opcode, opcodeName, xids } from '../../src/embedded/records.js';
import type { Commit, Transaction } from '../../test/simulation/ensemble.js';
import type { Tap } from '../../test/simulation/network.js';

/** Totals since the start. Byte counts are those of the frames, including their length prefixes. */
export interface Burden {
  readonly reads: number;
  /**
   * Changes that the servers agreed on. They include rejected changes, and the starts and ends of sessions.
   */
  readonly commits: number;
  /**
   * Multis that contain only checks. The servers agree on them like on any other change, but they change
   * nothing.
   */
  readonly renewals: number;
  readonly pings: number;
  readonly connections: number;
  /**
   * Frames that are neither reads nor writes, such as those that restore the watches of a lost connection.
   */
  readonly others: number;
  readonly notifications: number;
  readonly bytesIn: number;
  readonly bytesOut: number;
}

export type Measure = keyof Burden;

const nothing: Burden = {
  reads: 0,
  commits: 0,
  renewals: 0,
  pings: 0,
  connections: 0,
  others: 0,
  notifications: 0,
  bytesIn: 0,
  bytesOut: 0,
};

export const measures: readonly Measure[] = [
  'reads',
  'commits',
  'renewals',
  'pings',
  'connections',
  'others',
  'notifications',
  'bytesIn',
  'bytesOut',
];

export function between(before: Burden, after: Burden): Burden {
  return mapped((measure) => after[measure] - before[measure]);
}

export function perSecond(burden: Burden, ms: number): Burden {
  return mapped((measure) => (burden[measure] / ms) * 1000);
}

export function sum(...burdens: readonly Burden[]): Burden {
  return mapped((measure) => burdens.reduce((all, one) => all + one[measure], 0));
}

function mapped(value: (measure: Measure) => number): Burden {
  const counts = { ...nothing };
  for (const measure of measures) counts[measure] = value(measure);
  return counts;
}

const reading: ReadonlySet<Opcode> = new Set(['getData', 'getChildren', 'getChildren2', 'exists', 'getACL']);
const writing: ReadonlySet<Opcode> = new Set([
  ...(['create', 'create2', 'delete', 'setData', 'setACL', 'multi', 'closeSession'] as const),
]);
const lengthBytes = 4;

export class Meter implements Tap {
  /** Machines of operators. The requests of operators are counted separately from those of agents. */
  readonly #people: ReadonlySet<string>;
  readonly #machines = new Map<number, string>();
  readonly #shookHands = new Set<number>();
  #agents: { -readonly [M in Measure]: number } = { ...nothing };
  #others: { -readonly [M in Measure]: number } = { ...nothing };

  constructor(people: readonly string[]) {
    this.#people = new Set(people);
  }

  get agents(): Burden {
    return { ...this.#agents };
  }

  get people(): Burden {
    return { ...this.#others };
  }

  opened(connection: number, machine: string): void {
    this.#machines.set(connection, machine);
  }

  sent(connection: number, packet: Buffer): void {
    const counts = this.#of(connection);
    counts.bytesIn += packet.length + lengthBytes;
    if (!this.#shookHands.has(connection)) {
      this.#shookHands.add(connection);
      counts.connections += 1;
      return;
    }
    const opcode = opcodeName(packet.readInt32BE(4));
    if (opcode === 'ping') counts.pings += 1;
    else if (opcode !== undefined && reading.has(opcode)) counts.reads += 1;
    // Writes are counted elsewhere, when they are committed.
    else if (opcode === undefined || !writing.has(opcode)) counts.others += 1;
  }

  granted(connection: number, packet: Buffer): void {
    const counts = this.#of(connection);
    counts.bytesOut += packet.length + lengthBytes;
    if (packet.readInt32BE(0) === xids.notification) counts.notifications += 1;
  }

  delivered(): void {}

  committed({ transaction }: Commit): void {
    const { asker } = transaction;
    const counts = asker === null ? this.#agents : this.#of(asker.peer);
    if (isRenewal(transaction)) counts.renewals += 1;
    else counts.commits += 1;
  }

  #of(connection: number) {
    return this.#people.has(this.#machines.get(connection) ?? '') ? this.#others : this.#agents;
  }
}

function isRenewal(transaction: Transaction): boolean {
  if (transaction.kind !== 'write' || transaction.opcode !== 'multi') return false;
  return transaction.operations.every(({ type }) => type === 'check');
}

/** The data that an ensemble stores. */
export interface Standing {
  readonly sessions: number;
  /** Sum of the watches on all servers. Each server keeps the watches of its own clients. */
  readonly watches: number;
  readonly znodes: number;
  /** Size of paths and contents, counted like ZooKeeper's `zk_approximate_data_size`. */
  readonly dataBytes: number;
  readonly snapshotBytes: number;
}

/**
 * Bytes per znode in a snapshot: the lengths of path and content, the number of its ACL, and the stored part
 * of its stat.
 */
const snapshotBytesOfZnode = 4 + 4 + 8 + 60;
/** Bytes per session in a snapshot: its id and its timeout. */
const snapshotBytesOfSession = 8 + 4;

export function standingAt(truth: Database, servers: readonly { readonly database: Database }[]): Standing {
  const { sessions, znodes, dataBytes } = truth.counts;
  return {
    sessions,
    znodes,
    dataBytes,
    watches: servers.reduce((all, { database }) => all + database.counts.watches, 0),
    snapshotBytes: dataBytes + znodes * snapshotBytesOfZnode + sessions * snapshotBytesOfSession,
  };
}
