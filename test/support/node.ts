/** A node that joins a group through the library, and ways to take leadership away from it from outside. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import type { LeaderFunctions, Leadership } from '../../src/library/function-workload.js';
import type { JoinOptions } from '../../src/library/join-options.js';
import { Petrel } from '../../src/library/petrel.js';
import { endSession, type Group } from './agent-group.js';
import { until } from './until.js';

/** A node of `group` that leads until its signal aborts, and records every leadership that it was given. */
export class LibraryNode implements AsyncDisposable {
  readonly petrel: Petrel;
  readonly leaderships: { readonly leadership: Leadership; readonly signal: AbortSignal }[] = [];
  readonly #group: Group;
  readonly #stateDir: string;

  private constructor(petrel: Petrel, group: Group, stateDir: string) {
    this.petrel = petrel;
    this.#group = group;
    this.#stateDir = stateDir;
  }

  static async join(group: Group, nodeId: string, options: JoinOptions = {}): Promise<LibraryNode> {
    const stateDir = mkdtempSync(join(tmpdir(), 'petrel-library-'));
    const petrel = await Petrel.join({
      zookeeper: group.connectString,
      root: group.root,
      nodeId,
      stateDir,
      ...options,
    });
    return new LibraryNode(petrel, group, stateDir);
  }

  /** Lets the node be elected from now on. */
  lead(functions: Partial<LeaderFunctions> = {}): void {
    const { work = untilAborted, takeover } = functions;
    this.petrel.lead(
      (leadership, signal) => {
        this.leaderships.push({ leadership, signal });
        return work(leadership, signal);
      },
      takeover === undefined ? {} : { takeover },
    );
  }

  async leads(): Promise<void> {
    const { node } = this.petrel.status;
    await until(() => this.petrel.leads, { timeoutMs: 20_000, describe: `${node} to lead` });
  }

  get last(): { readonly leadership: Leadership; readonly signal: AbortSignal } {
    const last = this.leaderships.at(-1);
    if (last === undefined) throw new Error('it was never given leadership');
    return last;
  }

  /** Ends the node's session at the ensemble, as if its timeout had passed. */
  async expire(): Promise<void> {
    const file = join(this.#stateDir, this.#group.root.slice(1), `${this.petrel.status.node}.session.json`);
    const { session, password } = sessionFile.parse(JSON.parse(readFileSync(file, 'utf8')));
    await endSession(this.#group.connectString, {
      id: BigInt(session),
      password: Buffer.from(password, 'base64'),
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.petrel.close();
    rmSync(this.#stateDir, { recursive: true, force: true });
  }
}

const sessionFile = z.object({ session: z.string(), password: z.string() });

export function untilAborted(_: unknown, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}
