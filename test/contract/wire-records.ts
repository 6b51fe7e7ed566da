/** The records that the tests' minimal client writes and reads. */

import { type ErrorCode, errorCodes } from '../../src/embedded/errors.js';
import type { JuteReader, JuteWriter } from '../../src/embedded/jute.js';
import { type Opcode, opcodes, writeAcl } from '../../src/embedded/records.js';
import type { Stat } from '../../src/embedded/tree.js';
import { type Acl, openAcl } from '../../src/model/acl.js';

/** Name of an error code. A number if the code has no name here. */
export type ErrorName = ErrorCode | 'OK' | number;

export interface Reply {
  readonly error: ErrorName;
  readonly zxid: bigint;
  readonly body: JuteReader;
}

export type ReadOpcode = 'exists' | 'getData' | 'getChildren' | 'getChildren2';

export interface CreateOptions {
  readonly data?: string | null;
  readonly acl?: Acl;
  readonly flags?: number;
}

export interface MultiOperation {
  readonly opcode: Opcode;
  readonly write: (writer: JuteWriter) => unknown;
}

export interface MultiResult {
  readonly type: number;
  readonly error: ErrorName;
  readonly path?: string;
  readonly stat?: Stat;
}

export const operations = {
  create: (path: string, options: CreateOptions = {}): MultiOperation => ({
    opcode: 'create',
    write: (writer) => writeCreate(writer, path, options),
  }),
  create2: (path: string, options: CreateOptions = {}): MultiOperation => ({
    opcode: 'create2',
    write: (writer) => writeCreate(writer, path, options),
  }),
  delete: (path: string, version = -1): MultiOperation => ({
    opcode: 'delete',
    write: (writer) => writer.string(path).int(version),
  }),
  setData: (path: string, data: string, version = -1): MultiOperation => ({
    opcode: 'setData',
    write: (writer) => writer.string(path).buffer(Buffer.from(data)).int(version),
  }),
  check: (path: string, version = -1): MultiOperation => ({
    opcode: 'check',
    write: (writer) => writer.string(path).int(version),
  }),
};

export function writeCreate(
  writer: JuteWriter,
  path: string,
  { data = '', acl = openAcl, flags = 0 }: CreateOptions,
): JuteWriter {
  return writeAcl(writer.string(path).buffer(toBuffer(data)), acl).int(flags);
}

export function toBuffer(data: string | null): Buffer | null {
  return data === null ? null : Buffer.from(data);
}

export function readReply(reader: JuteReader): Reply {
  reader.int();
  const zxid = reader.long();
  return { zxid, error: errorName(reader.int()), body: reader };
}

const errorNames = new Map<number, ErrorCode>();
for (const name of Object.keys(errorCodes)) if (isErrorCode(name)) errorNames.set(errorCodes[name], name);

function isErrorCode(name: string): name is ErrorCode {
  return name in errorCodes;
}

function errorName(code: number): ErrorName {
  return code === 0 ? 'OK' : (errorNames.get(code) ?? code);
}

export function readStat(reader: JuteReader): Stat {
  return {
    czxid: reader.long(),
    mzxid: reader.long(),
    ctimeMs: Number(reader.long()),
    mtimeMs: Number(reader.long()),
    version: reader.int(),
    cversion: reader.int(),
    aversion: reader.int(),
    ephemeralOwner: reader.long(),
    dataLength: reader.int(),
    numChildren: reader.int(),
    pzxid: reader.long(),
  };
}

export function readMultiResults(reader: JuteReader): MultiResult[] {
  const results: MultiResult[] = [];
  for (;;) {
    const type = reader.int();
    const done = reader.bool();
    const error = reader.int();
    if (done) return results;
    results.push({ type, ...readMultiBody(reader, type), error: errorName(error) });
  }
}

export function readReadResults(reader: JuteReader): unknown[] {
  const results: unknown[] = [];
  for (;;) {
    const type = reader.int();
    const done = reader.bool();
    const error = errorName(reader.int());
    if (done) return results;
    if (type === opcodes.getData) {
      results.push({ data: reader.buffer()?.toString() });
      readStat(reader);
    } else if (type === opcodes.getChildren) results.push({ children: reader.vector(() => reader.string()) });
    else {
      reader.int();
      results.push({ error });
    }
  }
}

function readMultiBody(reader: JuteReader, type: number): { path?: string; stat?: Stat } {
  switch (type) {
    case opcodes.create:
      return { path: reader.string() };
    case opcodes.create2:
      return { path: reader.string(), stat: readStat(reader) };
    case opcodes.setData:
      return { stat: readStat(reader) };
    case -1:
      reader.int();
      return {};
    default:
      return {};
  }
}
