/** Writes the files of a run's directory. */
import { appendFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Answer, type Change, files, type NemesisRecord, type Run } from './records.js';

/** Returns the time on CLOCK_MONOTONIC, as hooks read it. */
export function nowMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

type WithoutTime<T> = T extends unknown ? Omit<T, 'atMs'> : never;

export class Journal {
  readonly dir: string;

  private constructor(dir: string) {
    this.dir = dir;
  }

  /** Creates the folders of a run if necessary. Throws if the directory already has the records of a run. */
  static async in(dir: string): Promise<Journal> {
    for (const folder of ['', 'hooks', 'agents', 'state']) {
      await mkdir(join(dir, folder), { recursive: folder === '' });
    }
    for (const file of [files.answers, files.nemesis]) await writeFile(join(dir, file), '', { flag: 'wx' });
    return new Journal(dir);
  }

  path(name: string): string {
    return join(this.dir, name);
  }

  nemesis(record: WithoutTime<NemesisRecord>, atMs = nowMs()): void {
    this.#append(files.nemesis, { atMs, ...record });
  }

  answer(answer: Answer): void {
    this.#append(files.answers, answer);
  }

  async end(run: Run, changes: readonly Change[]): Promise<void> {
    await writeFile(
      join(this.dir, files.changes),
      changes.map((change) => `${JSON.stringify(change)}\n`).join(''),
    );
    await writeFile(join(this.dir, files.run), `${JSON.stringify(run, null, 2)}\n`);
  }

  #append(file: string, record: unknown): void {
    appendFileSync(join(this.dir, file), `${JSON.stringify(record)}\n`);
  }
}
