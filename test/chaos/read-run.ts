/** Reads a run's directory. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import {
  answerSchema,
  changeSchema,
  files,
  hookRecordSchema,
  nemesisRecordSchema,
  type RunRecords,
  runSchema,
} from './records.js';

/** Reads the records of a run. Throws an error if a file is missing or malformed. */
export async function readRun(dir: string): Promise<RunRecords> {
  const read = (file: string) => readFile(join(dir, file), 'utf8');
  return {
    run: runSchema.parse(JSON.parse(await read(files.run))),
    hooks: jsonLines(hookRecordSchema, await read(files.hooks)),
    answers: jsonLines(answerSchema, await read(files.answers)),
    changes: jsonLines(changeSchema, await read(files.changes)),
    nemesis: jsonLines(nemesisRecordSchema, await read(files.nemesis)),
  };
}

/** Parses JSON lines. Ignores the last line if it has no line end, because its write is incomplete. */
export function jsonLines<T>(schema: z.ZodType<T>, text: string): T[] {
  const lines = text.split('\n').slice(0, -1);
  return z.array(schema).parse(lines.map((line): unknown => JSON.parse(line)));
}
