/**
 * A network of its own on this machine (Linux, root). Every port is free in it, and host names of the
 * documentation lead to it.
 */
import { type ChildProcess, spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { killAndWait, spawnBound } from './bound-process.js';
import { until } from './until.js';

const hosts = '127.0.0.1 localhost zk1 zk2 zk3\n';

export const hasRooms =
  spawnSync('unshare', [
    '--net',
    '--mount',
    'sh',
    '-c',
    'ip link set lo up && mount --bind /etc/hosts /etc/hosts',
  ]).status === 0;

export class Room implements AsyncDisposable {
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess) {
    this.#child = child;
  }

  /** Opens a room. `dir` is an empty directory. */
  static async open(dir: string): Promise<Room> {
    const names = join(dir, 'hosts');
    await writeFile(names, hosts);
    const script = `mount --bind '${names}' /etc/hosts && ip link set lo up && echo open && exec sleep infinity`;
    const child = spawnBound('unshare', ['--net', '--mount', 'sh', '-c', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let said = '';
    child.stdout?.on('data', (chunk) => {
      said += chunk;
    });
    await until(() => said === 'open\n', { describe: 'the room to open' });
    return new Room(child);
  }

  /** Returns the program and arguments that run a command in the room. */
  inside(cwd: string, command: readonly string[]): [string, string[]] {
    return ['nsenter', ['--target', String(this.#child.pid), '--net', '--mount', `--wd=${cwd}`, ...command]];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await killAndWait(this.#child);
  }
}
