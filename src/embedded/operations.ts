/**
 * Handles transactions and batched reads of the client protocol: parses operations and writes their results.
 */

import type { Client, Database } from './database.js';
import { errorCodes, ZooKeeperError } from './errors.js';
import { type JuteReader, JuteWriter, MalformedRecord } from './jute.js';
import {
  type Opcode,
  opcodeName,
  opcodes,
  readAcl,
  readMultiHeader,
  writeMultiHeader,
  writeStat,
  writeStrings,
} from './records.js';
import type { Operation, OperationResult, Outcome } from './tree.js';

export type OperationOpcode = 'create' | 'create2' | 'delete' | 'setData' | 'setACL' | 'check';

export function readOperation(opcode: OperationOpcode, reader: JuteReader): Operation {
  const path = reader.string();
  switch (opcode) {
    case 'create':
    case 'create2':
      return { type: 'create', path, data: reader.buffer(), acl: readAcl(reader), flags: reader.int() };
    case 'delete':
      return { type: 'delete', path, version: reader.int() };
    case 'setData':
      return { type: 'setData', path, data: reader.buffer(), version: reader.int() };
    case 'setACL':
      return { type: 'setAcl', path, acl: readAcl(reader), version: reader.int() };
    case 'check':
      return { type: 'check', path, version: reader.int() };
  }
}

export function writeResult(
  writer: JuteWriter,
  opcode: OperationOpcode,
  result: OperationResult,
): JuteWriter {
  if (opcode === 'create' || opcode === 'create2') writer.string(result.path);
  const hasStat = opcode === 'create2' || opcode === 'setData' || opcode === 'setACL';
  return hasStat && result.stat ? writeStat(writer, result.stat) : writer;
}

export interface MultiOperation {
  readonly opcode: OperationOpcode;
  readonly operation: Operation;
}

export function readMulti(reader: JuteReader): MultiOperation[] {
  return readBatch(reader, (name) => {
    const opcode = multiOpcodes.get(name);
    if (!opcode) throw new MalformedRecord(`${name} is not an operation of a multi`);
    return { opcode, operation: readOperation(opcode, reader) };
  });
}

/**
 * Operations that a multi may contain. Each is mapped to the operation whose result has the same format. In
 * ZooKeeper, the result of a create2 in a multi has no stat, just like the result of a create.
 */
const multiOpcodes = new Map<Opcode, OperationOpcode>([
  ['create', 'create'],
  ['create2', 'create'],
  ['delete', 'delete'],
  ['setData', 'setData'],
  ['check', 'check'],
]);

/**
 * Writes the results of a multi. The response to a failed multi contains an error code for each operation.
 * The code is 0 for the operations before the failed one.
 */
export function writeMultiOutcome(
  writer: JuteWriter,
  multi: readonly MultiOperation[],
  outcome: Outcome,
): JuteWriter {
  multi.forEach(({ opcode }, index) => {
    if (!outcome.ok) {
      writeErrorResult(writer, errorOf(outcome, index));
      return;
    }
    const result = outcome.results[index];
    writeMultiHeader(writer, { type: opcodes[opcode], done: false, error: 0 });
    if (result) writeResult(writer, opcode, result);
  });
  return writeEndOfBatch(writer);
}

function errorOf(outcome: Outcome & { ok: false }, index: number): number {
  if (index < outcome.failedOperation) return 0;
  return index === outcome.failedOperation ? errorCodes[outcome.error] : errorCodes.RUNTIME_INCONSISTENCY;
}

/**
 * Largest response to a multi-read, in bytes. ZooKeeper's own client does not accept a longer response.
 * Without a limit, a short request could ask for the same large znode many times.
 */
const maxReplyBytes = 4 * 1024 * 1024;

/** Answers each read with its result or its error. */
export function answerMultiRead(
  reader: JuteReader,
  writer: JuteWriter,
  database: Database,
  client: Client,
): void {
  const reads = readBatch(reader, (name) => {
    if (name !== 'getData' && name !== 'getChildren') throw new MalformedRecord(`${name} is not a read`);
    return { name, path: reader.string(), watch: reader.bool() };
  });
  let bytes = 0;
  for (const { name, path, watch } of reads) {
    const result = new JuteWriter();
    try {
      if (name === 'getData') writeData(result, database.getData(path, client, watch));
      else writeStrings(result, database.getChildren(path, client, watch).children);
    } catch (error) {
      if (!(error instanceof ZooKeeperError)) throw error;
      writeErrorResult(writer, errorCodes[error.code]);
      continue;
    }
    const answer = result.bytes();
    bytes += answer.length;
    if (bytes > maxReplyBytes) throw new MalformedRecord(`reads of more than ${maxReplyBytes} bytes at once`);
    writeMultiHeader(writer, { type: opcodes[name], done: false, error: 0 }).raw(answer);
  }
  writeEndOfBatch(writer);
}

export function writeData(writer: JuteWriter, { data, stat }: ReturnType<Database['getData']>): JuteWriter {
  return writeStat(writer.buffer(data), stat);
}

function readBatch<T>(reader: JuteReader, readElement: (name: Opcode) => T): T[] {
  const elements: T[] = [];
  for (let header = readMultiHeader(reader); !header.done; header = readMultiHeader(reader)) {
    const name = opcodeName(header.type);
    if (!name) throw new MalformedRecord(`unknown operation ${header.type}`);
    elements.push(readElement(name));
  }
  return elements;
}

const noType = -1;

function writeErrorResult(writer: JuteWriter, error: number): void {
  writeMultiHeader(writer, { type: noType, done: false, error }).int(error);
}

function writeEndOfBatch(writer: JuteWriter): JuteWriter {
  return writeMultiHeader(writer, { type: noType, done: true, error: -1 });
}
