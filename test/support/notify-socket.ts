/**
 * A socket like the one that systemd gives a service with `Type=notify`, and the messages that arrive on it.
 */
import type { ChildProcess } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { killAndWait, spawnBound } from './bound-process.js';
import { until } from './until.js';

const script = fileURLToPath(new URL('notify_socket.py', import.meta.url));

export class NotifySocket implements AsyncDisposable {
  readonly path: string;
  readonly #directory: string;
  readonly #child: ChildProcess;
  readonly #lines: string[] = [];

  private constructor(directory: string) {
    this.#directory = directory;
    this.path = join(directory, 'notify');
    this.#child = spawnBound('python3', [script, this.path], { stdio: ['ignore', 'pipe', 'inherit'] });
    if (this.#child.stdout === null) throw new Error('it has no output');
    createInterface({ input: this.#child.stdout }).on('line', (line) =>
      this.#lines.push(z.string().parse(JSON.parse(line))),
    );
  }

  static async open(): Promise<NotifySocket> {
    const socket = new NotifySocket(await mkdtemp(join(tmpdir(), 'petrel-notify-')));
    await until(() => socket.#lines.length > 0, { describe: 'the socket to be there' });
    return socket;
  }

  /** The variables that the service has set, oldest first. One message can set several. */
  get said(): string[] {
    return this.#lines
      .slice(1)
      .flatMap((line) => line.split('\n'))
      .filter((line) => !/^$|^BARRIER=/.test(line));
  }

  /** The variables that the service has set, without those that it sends repeatedly. */
  get states(): string[] {
    return this.said.filter((line) => !/^(STATUS|WATCHDOG)=/.test(line));
  }

  async hears(variable: string): Promise<void> {
    await until(() => this.said.includes(variable), {
      timeoutMs: 20_000,
      describe: () => `${variable} after ${this.said.join(', ')}`,
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await killAndWait(this.#child);
    await rm(this.#directory, { recursive: true });
  }
}
