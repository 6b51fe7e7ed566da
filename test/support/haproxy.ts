/** A real HAProxy with the example's configuration, in front of services and agents on this machine. */
import { type ChildProcess, spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { exitOf, spawnBound } from './bound-process.js';

export const haproxyExample = fileURLToPath(new URL('../../examples/haproxy/', import.meta.url));
/** Debian installs HAProxy outside the PATH of ordinary users. */
const program = '/usr/sbin/haproxy';
export const hasHaproxy = spawnSync(program, ['-v']).status === 0;
export const noHaproxy = hasHaproxy ? '' : ' (not here: no haproxy; on Debian: apt-get install haproxy)';

/** The nodes a, b and c have separate addresses but use the same ports. */
export const addresses = { a: '127.0.0.2', b: '127.0.0.3', c: '127.0.0.4' } as const;

export interface Ports {
  /** Port on 127.0.0.1 that clients connect to. */
  readonly bind: number;
  readonly service: number;
  readonly agent: number;
}

export class Haproxy implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #directory: string;

  private constructor(child: ChildProcess, directory: string) {
    this.#child = child;
    this.#directory = directory;
  }

  static async start(ports: Ports): Promise<Haproxy> {
    const directory = await mkdtemp(join(tmpdir(), 'petrel-haproxy-'));
    const file = join(directory, 'haproxy.cfg');
    await writeFile(file, onThisMachine(await readFile(join(haproxyExample, 'haproxy.cfg'), 'utf8'), ports));
    const child = spawnBound(program, ['-db', '-f', file], { cwd: haproxyExample, stdio: 'ignore' });
    return new Haproxy(child, directory);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill('SIGTERM');
    await exitOf(this.#child);
    await rm(this.#directory, { recursive: true });
  }
}

/** Replaces the addresses in the example's configuration and nothing else. */
function onThisMachine(text: string, { bind, service, agent }: Ports): string {
  const moved = text
    .replace('bind :8000', `bind 127.0.0.1:${bind}`)
    .replaceAll('abns@again', `abns@again-${bind}`)
    .replace('connect port 8008', `connect port ${agent}`);
  return Object.entries(addresses).reduce(
    (changed, [name, address]) => changed.replaceAll(` ${name}:8080`, ` ${address}:${service}`),
    moved,
  );
}
