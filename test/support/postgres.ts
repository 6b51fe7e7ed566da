/**
 * A PostgreSQL server for one test, from Debian's packages. It listens on a socket in its own directory, so
 * it needs no port and leaves nothing behind.
 */
import { type ChildProcess, spawnSync } from 'node:child_process';
import { chown, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { exitOf, spawnBound } from './bound-process.js';
import { until } from './until.js';

const installed = '/usr/lib/postgresql';

/**
 * Returns the directory that contains the newest version's programs, or null if PostgreSQL is not installed.
 */
export async function postgresPrograms(): Promise<string | null> {
  const versions = await readdir(installed).catch(() => []);
  const newest = versions.toSorted((a, b) => Number(b) - Number(a))[0];
  return newest === undefined ? null : join(installed, newest, 'bin');
}

export class Postgres implements AsyncDisposable {
  readonly #programs: string;
  readonly #directory: string;
  readonly #server: ChildProcess;

  private constructor(programs: string, directory: string, server: ChildProcess) {
    this.#programs = programs;
    this.#directory = directory;
    this.#server = server;
  }

  static async start(programs: string): Promise<Postgres> {
    const directory = await mkdtemp(join(tmpdir(), 'petrel-pg-'));
    const data = join(directory, 'data');
    await giveToServer(directory);
    const made = spawnSync(
      ...asServer(`${programs}/initdb`, '-D', data, '-A', 'trust', '-U', 'test', '--no-sync'),
    );
    if (made.status !== 0) throw new Error(`initdb: ${made.stderr}`);
    const settings = ['listen_addresses=', 'fsync=off', 'max_connections=40'].flatMap((each) => ['-c', each]);
    const [program, args] = asServer(`${programs}/postgres`, '-D', data, '-k', directory, ...settings);
    const postgres = new Postgres(
      programs,
      directory,
      spawnBound(program, args, { stdio: 'ignore', cwd: '/' }),
    );
    await until(() => spawnSync(`${programs}/pg_isready`, { env: postgres.env }).status === 0, {
      timeoutMs: 30_000,
    });
    return postgres;
  }

  /** Environment variables with which psql, or any other client of libpq, finds the database. */
  get env(): Readonly<Record<string, string>> {
    return {
      PGHOST: this.#directory,
      PGUSER: 'test',
      PGDATABASE: 'postgres',
      PATH: `${this.#programs}:/usr/bin:/bin`,
    };
  }

  /** Opens a connection that presents the fencing token `token`, or none. */
  connect(token?: number | bigint): Psql {
    const shown = token === undefined ? {} : { PGOPTIONS: `-c petrel.fencing_token=${token}` };
    return new Psql(`${this.#programs}/psql`, { ...this.env, ...shown });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.kill('SIGQUIT');
    await exitOf(this.#server);
    await rm(this.#directory, { recursive: true, force: true });
  }
}

/** Result of a statement: the lines that it returned, or those of its error. */
export type Answer = { readonly rows: readonly string[] } | { readonly error: string };

const end = 'end of the answer';

/** A psql process, and so a single connection, that runs one statement after the other. */
export class Psql implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #lines: string[] = [];
  #last: Promise<unknown> = Promise.resolve();

  constructor(program: string, env: Readonly<Record<string, string>>) {
    const args = ['--no-psqlrc', '--quiet', '--no-align', '--tuples-only'];
    // Errors go to the same stream as the rows, so that they stay in order.
    this.#child = spawnBound('/bin/sh', ['-c', 'exec "$@" 2>&1', 'sh', program, ...args], {
      stdio: ['pipe', 'pipe', 'inherit'],
      env,
    });
    createInterface({ input: this.#stream(this.#child.stdout) }).on('line', (line) => this.#lines.push(line));
  }

  /** Runs a statement after all earlier ones, and waits for its answer. */
  run(sql: string, timeoutMs = 30_000): Promise<Answer> {
    const answer = this.#last.then(() => this.#ask(sql, timeoutMs));
    this.#last = answer.catch(() => undefined);
    return answer;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill('SIGKILL');
    await exitOf(this.#child);
  }

  async #ask(sql: string, timeoutMs: number): Promise<Answer> {
    this.#input.write(`${sql};\n\\echo ${end}\n`);
    const lines = await until(() => this.#answer(), {
      describe: `the answer to ${sql}`,
      timeoutMs,
      intervalMs: 2,
    });
    const errors = lines.filter((line) => /^(psql:.*)?(ERROR|FATAL):/.test(line));
    return errors.length > 0 ? { error: lines.join('\n') } : { rows: lines };
  }

  #answer(): string[] | null {
    const at = this.#lines.indexOf(end);
    return at === -1 ? null : this.#lines.splice(0, at + 1).slice(0, -1);
  }

  get #input(): Writable {
    return this.#stream(this.#child.stdin);
  }

  #stream<T extends Readable | Writable>(stream: T | null): T {
    if (stream === null) throw new Error('psql has no such stream');
    return stream;
  }
}

/** PostgreSQL refuses to run as root, so it runs as the user that Debian's package creates. */
const asRoot = process.getuid?.() === 0;

function asServer(program: string, ...args: string[]): [string, string[]] {
  if (!asRoot) return [program, args];
  const user = ['--reuid=postgres', '--regid=postgres', '--clear-groups', '--'];
  // The change of user clears the parent-death signal, so setpriv sets it again.
  return ['setpriv', [...user, 'setpriv', '--pdeathsig', 'KILL', '--', program, ...args]];
}

async function giveToServer(directory: string): Promise<void> {
  if (!asRoot) return;
  const id = (flag: string) => Number(spawnSync('id', [flag, 'postgres'], { encoding: 'utf8' }).stdout);
  await chown(directory, id('-u'), id('-g'));
}
