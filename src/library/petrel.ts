/**
 * Leadership inside a process of your own: join a group, and have a function called while this process leads.
 *
 * What is promised: `leads` is false, and the signal has fired, before any listener hears that leadership ended, and
 * before any other node can be READY, as far as this process gets to run. What is not: see `FunctionDuty`.
 */
import { EventEmitter } from 'node:events';
import { hostname } from 'node:os';
import pino from 'pino';
import type { Agent, AgentStatus } from '../agent/agent.js';
import { durationMs } from '../core/duration.js';
import { nameSchema } from '../core/names.js';
import { PetrelError } from '../errors.js';
import type { Logger } from '../log.js';
import { systemClock } from '../ports/clock.js';
import { parseConnectionString, type TlsOptions } from '../zookeeper/index.js';
import { FunctionDuty, type LeaderFunction, type LeaderFunctions, type Leadership } from './function-duty.js';
import { openAgent } from './open-agent.js';

export interface JoinOptions {
  /** `host:port,host:port[/chroot]`; default `127.0.0.1:2181`. */
  readonly zookeeper?: string;
  /** Root path of the group; default `/cluster`. */
  readonly root?: string;
  /** Unique in the group; default the host's name. */
  readonly nodeId?: string;
  /** Default `default`. */
  readonly site?: string;
  /** Within the site; higher is better, 0 never leads. Default 100. */
  readonly priority?: number;
  readonly tags?: Readonly<Record<string, string>>;
  /** A length of time like `6s`, the default. */
  readonly sessionTimeout?: string;
  /** ZooKeeper's digest credentials, `USER:PASSWORD`. */
  readonly credentials?: string;
  readonly tls?: TlsOptions;
  /** Where to remember the session between two lives of this process; default nowhere. */
  readonly stateDir?: string;
  /** Default: silent. */
  readonly logger?: Logger;
  /** Gives up joining, or leaves. */
  readonly signal?: AbortSignal;
}

export interface PetrelEvents {
  /** This process leads: READY is written. */
  leader: [leadership: Leadership];
  /** It no longer leads; the signal has fired. */
  follower: [];
  /** Something of `status` changed. */
  status: [status: AgentStatus];
  /** The node has left for good, because of an error that waiting cannot mend. */
  failed: [error: unknown];
}

export class Petrel implements AsyncDisposable {
  readonly #agent: Agent;
  readonly #duty: FunctionDuty;
  readonly #log: Logger;
  readonly #emitter = new EventEmitter<PetrelEvents>();
  readonly #running: Promise<void>;
  #failure: unknown;
  #wasLeading = false;

  private constructor(options: JoinOptions) {
    const { logger = pino({ level: 'silent' }) } = options;
    this.#log = logger;
    this.#duty = new FunctionDuty(systemClock, () => this.leads);
    this.#agent = openAgent({
      store: {
        servers: parseConnectionString(options.zookeeper ?? '127.0.0.1:2181'),
        sessionTimeoutMs: durationMs(options.sessionTimeout ?? '6s'),
        ...(options.credentials === undefined
          ? {}
          : { auth: [{ scheme: 'digest', credentials: options.credentials }] }),
        ...(options.tls === undefined ? {} : { tls: options.tls }),
      },
      root: options.root ?? '/cluster',
      node: checkedName('nodeId', options.nodeId ?? hostname()),
      site: checkedName('site', options.site ?? 'default'),
      priority: options.priority ?? 100,
      tags: options.tags ?? {},
      stateDir: options.stateDir ?? null,
      duty: this.#duty,
      log: logger,
    });
    this.#agent.setHealth(false, 'it has not been given work yet: lead() was not called');
    this.#agent.onStatus((status) => this.#onStatus(status));
    this.#running = this.#agent.run().catch((error: unknown) => this.#fail(error));
  }

  /**
   * Joins a group: resolves when this node is registered and has its seat. It can be elected from `lead` on.
   * @throws PetrelError INVALID for a wrong option, DUPLICATE_NODE when another living process has the node id,
   * FORBIDDEN when ZooKeeper refuses; the signal's reason when it fires first.
   */
  static async join(options: JoinOptions = {}): Promise<Petrel> {
    const { signal } = options;
    signal?.throwIfAborted();
    const petrel = new Petrel(options);
    try {
      await petrel.#joined(signal);
    } catch (error) {
      await petrel.close();
      throw error;
    }
    signal?.addEventListener('abort', () => void petrel.close(), { once: true });
    return petrel;
  }

  /** The function to call while this node leads; from now on it can be elected. */
  lead(work: LeaderFunction, options: Omit<LeaderFunctions, 'work'> = {}): void {
    this.#duty.use({ ...options, work });
    this.#agent.setHealth(true, null);
  }

  /** Whether this process leads, looked up on the clock at every call. */
  get leads(): boolean {
    return this.#agent.status.leads;
  }

  get status(): AgentStatus {
    return this.#agent.status;
  }

  /** Says that this node is fit to lead, or not, and why not. An unhealthy leader is replaced. */
  setHealth(ok: boolean, reason: string | null = null): void {
    this.#agent.setHealth(ok, reason);
  }

  /** Listens. What a listener throws is logged, and harms nobody else. The returned function unsubscribes. */
  on<Event extends keyof PetrelEvents>(
    event: Event,
    listener: (...args: PetrelEvents[Event]) => void,
  ): () => void {
    const contained = (...args: PetrelEvents[Event]) => {
      try {
        listener(...args);
      } catch (error) {
        this.#log.error({ error }, `a listener of "${event}" threw`);
      }
    };
    const emitter: EventEmitter = this.#emitter;
    emitter.on(event, contained);
    return () => emitter.off(event, contained);
  }

  /** Hands leadership on if this process has it, leaves the group, and lets go of every handle. Idempotent. */
  async close(): Promise<void> {
    this.#agent.stop();
    await this.#running;
    this.#emitter.removeAllListeners();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #onStatus(status: AgentStatus): void {
    const { leads } = status;
    if (leads && !this.#wasLeading) {
      this.#wasLeading = true;
      const leadership = this.#duty.startWork();
      if (leadership !== null) this.#emitter.emit('leader', leadership);
    } else if (!leads && this.#wasLeading) {
      this.#wasLeading = false;
      this.#duty.revoke('leadership ended');
      this.#emitter.emit('follower');
    }
    this.#emitter.emit('status', status);
  }

  #fail(error: unknown): void {
    this.#failure = error;
    this.#log.error({ error }, 'left the group');
    this.#emitter.emit('failed', error);
  }

  async #joined(signal: AbortSignal | undefined): Promise<void> {
    let stopWaiting = () => {};
    const standing = new Promise<void>((resolve, reject) => {
      const look = ({ joined }: AgentStatus) => {
        if (joined) resolve();
      };
      const abort = () => reject(signal?.reason);
      const unlisten = this.#agent.onStatus(look);
      signal?.addEventListener('abort', abort, { once: true });
      stopWaiting = () => {
        unlisten();
        signal?.removeEventListener('abort', abort);
      };
    });
    try {
      await Promise.race([standing, this.#running]);
    } finally {
      stopWaiting();
    }
    if (this.#failure !== undefined) throw this.#failure;
  }
}

function checkedName(option: string, name: string): string {
  const parsed = nameSchema.safeParse(name);
  if (parsed.success) return name;
  const rule = parsed.error.issues[0]?.message ?? '';
  throw new PetrelError('INVALID', `${option} ${JSON.stringify(name)}: ${rule}`);
}
