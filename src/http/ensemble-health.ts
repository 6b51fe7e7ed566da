/** Determines whether each ZooKeeper server of the ensemble serves clients, for the status page. */
import * as z from 'zod';
import { readSummary } from '../doctor/servers.js';
import { errorMessage } from '../errors.js';
import type { Clock } from '../ports/clock.js';
import { askServer } from '../zookeeper/four-letter-word.js';
import { type Dial, type Server, serverText } from '../zookeeper/index.js';

export const serverHealthSchema = z.object({
  /** Address of the server: `host:port`. */
  server: z.string(),
  /** The server's role: leader, follower, observer or standalone. Null if the server does not report it. */
  mode: z.string().nullable(),
  /** Why the server does not serve clients. Null if it does. */
  problem: z.string().nullable(),
});
export type ServerHealth = z.infer<typeof serverHealthSchema>;

export interface EnsembleOptions {
  readonly servers: readonly Server[];
  /** Opens connections to the servers, with TLS if the agent uses it. */
  readonly dial: Dial;
}

const timeoutMs = 2_000;
/**
 * Maximum age of an answer that is reused. Many readers therefore put no more load on the servers than one
 * reader does.
 */
const maxAgeMs = 5_000;

/** Queries the servers. Requests that arrive at about the same time share one answer. */
export class EnsembleHealth {
  readonly #options: EnsembleOptions;
  readonly #clock: Clock;
  #answer: { readonly atMs: number; readonly servers: Promise<ServerHealth[]> } | null = null;

  constructor(options: EnsembleOptions, clock: Clock) {
    this.#options = options;
    this.#clock = clock;
  }

  /** Returns the health of every server, at most `maxAgeMs` old. Never rejects. */
  servers(): Promise<ServerHealth[]> {
    const nowMs = this.#clock.monotonicMs();
    if (this.#answer === null || nowMs - this.#answer.atMs > maxAgeMs)
      this.#answer = { atMs: nowMs, servers: this.#ask() };
    return this.#answer.servers;
  }

  #ask(): Promise<ServerHealth[]> {
    return Promise.all(this.#options.servers.map((server) => this.#askOne(server)));
  }

  async #askOne(server: Server): Promise<ServerHealth> {
    const name = serverText(server);
    try {
      const options = { dial: this.#options.dial, clock: this.#clock, timeoutMs };
      const { mode, isServing } = readSummary(await askServer(server, 'srvr', options));
      return { server: name, mode, problem: isServing ? null : 'it is not serving clients' };
    } catch (error) {
      return { server: name, mode: null, problem: errorMessage(error) };
    }
  }
}
