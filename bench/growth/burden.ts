/**
 * What agents ask of a simulated ensemble, what it tells them, and what it has to keep for them: counted
 * packet by packet.
 */
import type { Database } from '../../src/embedded/database.js';
import { type Opcode, opcodeName, xids } from '../../src/embedded/records.js';
import type { Commit, Transaction } from '../../test/simulation/ensemble.js';
import type { Tap } from '../../test/simulation/network.js';

/** Since the beginning. Bytes are those of the frames, lengths included. */
export interface Burden {
  readonly reads: number;
  /** Changes that the servers agreed on, refused ones too; sessions that began or ended are such changes. */
  readonly commits: number;
  /** Multis of checks alone: agreed on as any other change, and nothing is changed by them. */
  readonly renewals: number;
  readonly pings: number;
  readonly connections: number;
  /** Frames that set the watches of a lost connection again, and what else is neither read nor write. */
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
  /** Machines of people: what they ask is no agent's burden, and counted for itself. */
  readonly #people: ReadonlySet<string>;
  readonly #machines = new Map<number, string>();
  readonly #asked = new Set<number>();
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

  asked(connection: number, packet: Buffer): void {
    const counts = this.#of(connection);
    counts.bytesIn += packet.length + lengthBytes;
    if (!this.#asked.has(connection)) {
      this.#asked.add(connection);
      counts.connections += 1;
      return;
    }
    const opcode = opcodeName(packet.readInt32BE(4));
    if (opcode === 'ping') counts.pings += 1;
    else if (opcode !== undefined && reading.has(opcode)) counts.reads += 1;
    // What is agreed on is counted when it is.
    else if (opcode === undefined || !writing.has(opcode)) counts.others += 1;
  }

  granted(connection: number, packet: Buffer): void {
    const counts = this.#of(connection);
    counts.bytesOut += packet.length + lengthBytes;
    if (packet.readInt32BE(0) === xids.notification) counts.notifications += 1;
  }

  told(): void {}

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

/** What an ensemble keeps. */
export interface Standing {
  readonly sessions: number;
  /** At all servers together: each keeps those of its own clients. */
  readonly watches: number;
  readonly znodes: number;
  /** Paths and contents, as ZooKeeper's `zk_approximate_data_size` counts them. */
  readonly dataBytes: number;
  readonly snapshotBytes: number;
}

/** Of a znode in a snapshot: lengths of path and content, number of its ACL, and what is kept of its stat. */
const snapshotBytesOfZnode = 4 + 4 + 8 + 60;
/** Of a session: its id, and its timeout. */
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
