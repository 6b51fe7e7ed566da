/**
 * Reads from the servers' transaction logs what an ensemble committed. The logs contain every change of every
 * znode, in order. They also contain changes that were overwritten soon after. A transaction counts as
 * committed if a majority of the servers has logged it.
 *
 * All servers must be running normally when their logs are read. A log that is still being written is read up
 * to its last complete entry. The format is that of ZooKeeper 3.5 to 3.9. A log has a header, then entries,
 * then zeros. An entry has a checksum, a length, a transaction and an end mark.
 */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

export interface Transaction {
  readonly zxid: bigint;
  readonly session: bigint;
  /** Milliseconds since the epoch, on the clock of the ensemble's leader. */
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

/**
 * Returns all committed transactions in zxid order. `dataDirs` are the values of the servers' `dataDir`
 * setting.
 */
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

/**
 * Parses one log. Leaves out transactions that have no steps, such as the start of a session.
 *
 * @throws Error if the data is not a transaction log.
 */
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

/**
 * Reads the steps of a multi. A failed multi is logged, too, with the operations before its first failure,
 * but has no steps.
 */
function readMulti(reader: Reader): Step[] {
  const parts = Array.from({ length: reader.int() }, () => {
    return { type: reader.int(), reader: new Reader(reader.bytes()) };
  });
  const failed = parts.some(({ type }) => type === types.error);
  return failed ? [] : parts.flatMap((part) => readSteps(part.type, part.reader));
}

/**
 * Reads data in ZooKeeper's serialisation. Numbers are big-endian. Strings and vectors have their length as a
 * prefix.
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
