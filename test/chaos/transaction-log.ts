/**
 * Reads what an ensemble committed from its servers' transaction logs. That covers every change of every
 * znode, in order, including changes that were overwritten soon after. A transaction counts as committed if a
 * majority of the servers has logged it.
 *
 * The servers must be in order during the read. A log that is still being written is read as far as it goes.
 * The format is that of ZooKeeper 3.5 to 3.9: a header, then entries of checksum, length, transaction and an
 * end mark, then zeros.
 */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

export interface Transaction {
  readonly zxid: bigint;
  readonly session: bigint;
  /** On the clock of the ensemble's leader, since the epoch. */
  readonly epochMs: number;
  readonly steps: readonly Step[];
}

export type Step =
  | { readonly op: 'create'; readonly path: string; readonly data: string; readonly ephemeral: boolean }
  | { readonly op: 'set'; readonly path: string; readonly data: string }
  | { readonly op: 'delete'; readonly path: string }
  | { readonly op: 'close' };

const magic = 'ZKLG';
const fileHeaderBytes = 16;
const types = { create: 1, delete: 2, set: 5, multi: 14, create2: 15, error: -1, close: -11 } as const;

/** Returns the transactions in zxid order. `dataDirs` are the servers' `dataDir`. */
export async function readTransactions(dataDirs: readonly string[]): Promise<Transaction[]> {
  const votes = new Map<bigint, { count: number; transaction: Transaction }>();
  for (const dir of dataDirs) {
    for (const [zxid, transaction] of await readServer(dir)) {
      const known = votes.get(zxid);
      votes.set(zxid, { count: (known?.count ?? 0) + 1, transaction });
    }
  }
  return [...votes.values()]
    .filter(({ count }) => count > dataDirs.length / 2)
    .map(({ transaction }) => transaction)
    .sort((one, other) => (one.zxid < other.zxid ? -1 : 1));
}

async function readServer(dataDir: string): Promise<Map<bigint, Transaction>> {
  const dir = join(dataDir, 'version-2');
  const names = (await readdir(dir)).filter((name) => name.startsWith('log.'));
  const found = new Map<bigint, Transaction>();
  for (const name of names) {
    for (const transaction of parseLog(await readFile(join(dir, name)))) {
      found.set(transaction.zxid, transaction);
    }
  }
  return found;
}

/** Leaves out transactions that only begin a session. */
export function parseLog(log: Buffer): Transaction[] {
  if (log.length < fileHeaderBytes) return [];
  if (log.toString('latin1', 0, 4) !== magic) throw new Error('not a transaction log of ZooKeeper');
  const found: Transaction[] = [];
  let at = fileHeaderBytes;
  while (at + 12 <= log.length) {
    const length = log.readInt32BE(at + 8);
    const end = at + 12 + length;
    if (length <= 0 || end > log.length) break;
    const transaction = readTransaction(new Reader(log.subarray(at + 12, end)));
    if (transaction.steps.length > 0) found.push(transaction);
    at = end + 1;
  }
  return found;
}

function readTransaction(reader: Reader): Transaction {
  const session = reader.long();
  reader.int();
  const zxid = reader.long();
  const epochMs = Number(reader.long());
  return { zxid, session, epochMs, steps: readSteps(reader.int(), reader) };
}

function readSteps(type: number, reader: Reader): Step[] {
  switch (type) {
    case types.create:
    case types.create2: {
      const path = reader.text();
      const data = reader.text();
      reader.acls();
      return [{ op: 'create', path, data, ephemeral: reader.boolean() }];
    }
    case types.set:
      return [{ op: 'set', path: reader.text(), data: reader.text() }];
    case types.delete:
      return [{ op: 'delete', path: reader.text() }];
    case types.close:
      return [{ op: 'close' }];
    case types.multi:
      return readMulti(reader);
    default:
      return [];
  }
}

/** Returns no steps for a failed multi. It is logged, too, with the operations before its first failure. */
function readMulti(reader: Reader): Step[] {
  const parts = Array.from({ length: reader.int() }, () => {
    return { type: reader.int(), reader: new Reader(reader.bytes()) };
  });
  const failed = parts.some(({ type }) => type === types.error);
  return failed ? [] : parts.flatMap((part) => readSteps(part.type, part.reader));
}

/**
 * Reads ZooKeeper's serialisation: big-endian numbers, and strings and vectors prefixed with their length.
 */
class Reader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  int(): number {
    this.#at += 4;
    return this.#bytes.readInt32BE(this.#at - 4);
  }

  long(): bigint {
    this.#at += 8;
    return this.#bytes.readBigInt64BE(this.#at - 8);
  }

  boolean(): boolean {
    this.#at += 1;
    return this.#bytes.readInt8(this.#at - 1) !== 0;
  }

  bytes(): Buffer {
    const length = Math.max(0, this.int());
    this.#at += length;
    return this.#bytes.subarray(this.#at - length, this.#at);
  }

  text(): string {
    return this.bytes().toString('utf8');
  }

  acls(): void {
    for (let left = this.int(); left > 0; left -= 1) {
      this.int();
      this.bytes();
      this.bytes();
    }
  }
}
