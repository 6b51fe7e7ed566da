/**
 * Leadership inside your own process: join a group, and have a function run while this process leads.
 *
 * Promised, as long as nothing prevents this process from running: when a listener is notified that
 * leadership has ended, `leads` is already false and the signal has already fired. The same is true when
 * another node becomes READY. `FunctionWorkload` describes what is not promised.
 */

import { EventEmitter } from 'node:events';
import pino from 'pino';
import type { Rules } from '../../strategies/registry.js';
import type { Agent, AgentStatus } from '../agent/agent.js';
import { TokenFile } from '../agent/leadership/token-file.js';
import { SessionFile } from '../agent/session/session-file.js';
import { errorMessage, PetrelError } from '../errors.js';
import { callListener } from '../listeners.js';
import type { Logger } from '../log.js';
import { NodeScores } from '../node/node-scores.js';
import { openAgent } from '../node/open-agent.js';
import { openProber } from '../node/open-prober.js';
import { loadRules } from '../own-strategies/load.js';
import { systemClock } from '../ports/clock.js';
import type { Prober } from '../probe/prober.js';
import type { Tolerance } from '../scores/measuring.js';
import { parseConnectionString, Unreachable, unreachableText } from '../zookeeper/index.js';
import {
  FunctionWorkload,
  type LeaderFunction,
  type LeaderFunctions,
  type Leadership,
} from './function-workload.js';
import { joinAccess } from './join-access.js';
import { type JoinOptions, type JoinSettings, readJoinOptions } from './join-options.js';

export interface PetrelEvents {
  /** This process leads, and READY has been written. */
  leader: [leadership: Leadership];
  /** This process no longer leads, and the signal has fired. */
  follower: [];
  /** A field of `status` has changed. */
  status: [status: AgentStatus];
  /** The node has left permanently, because of an error that would not go away by itself. */
  failed: [error: unknown];
}

const silent = pino({ level: 'silent' });

/** Resources that were opened before the agent was created. */
interface Opened {
  readonly prober: Prober | null;
  readonly rules: Rules;
}

export class Petrel implements AsyncDisposable {
  readonly #agent: Agent;
  readonly #workload: FunctionWorkload;
  readonly #scores: NodeScores;
  readonly #prober: Prober | null;
  readonly #log: Logger;
  readonly #emitter = new EventEmitter<PetrelEvents>();
  readonly #running: Promise<void>;
  #failure: { readonly error: unknown } | null = null;
  #wasLeading = false;
  /** Whether listeners have been notified that this process leads. */
  #notified = false;
  #hasWork = false;
  #health: { readonly ok: boolean; readonly reason: string | null } = { ok: true, reason: null };
  #closing: Promise<void> | null = null;

  private constructor(settings: JoinSettings, { prober, rules }: Opened) {
    const {
      zookeeper,
      sessionTimeout,
      credentials: _credentials,
      acl: _acl,
      tls,
      nodeId,
      stateDir,
      logger,
      signal,
      scores,
      probe: _,
      strategies: _strategies,
      constraints: _constraints,
      ...rest
    } = settings;
    this.#log = logger ?? silent;
    this.#workload = new FunctionWorkload(systemClock, () => this.leads, this.#log);
    this.#agent = openAgent({
      ...rest,
      store: {
        servers: parseConnectionString(zookeeper),
        sessionTimeoutMs: sessionTimeout,
        ...joinAccess(settings),
        ...(tls === undefined ? {} : { tls }),
      },
      node: nodeId,
      rules,
      probe: prober,
      tokenStore: stateDir === undefined ? null : TokenFile.open(stateDir, rest.root, nodeId),
      sessionMemory: stateDir === undefined ? null : SessionFile.open(stateDir, rest.root, nodeId),
      workload: this.#workload,
      workloadPlace: 'inside',
      log: this.#log,
    });
    this.#scores = new NodeScores({ ...rest, sources: scores, node: nodeId, log: this.#log });
    this.#scores.begin(this.#agent, prober === null ? undefined : () => prober.roundTrips());
    this.#prober = prober;
    prober?.begin({
      session: () => this.#agent.session,
      requestsPerSecond: () => this.#scores.requestsPerSecond,
    });
    this.#publishHealth();
    this.#agent.onStatus(() => this.#onStatus());
    this.#running = this.#run();
  }

  /**
   * Joins a group. Resolves when this node is registered and has its election znode. While the ensemble is
   * unreachable, keeps trying. The node can be elected once `lead` has been called.
   * @throws PetrelError INVALID if an option is invalid, or if the process cannot listen on the address for
   * probes. DUPLICATE_NODE if another running agent has the same node id. FORBIDDEN if ZooKeeper denies
   * permission. The signal's reason if the signal fires first. UNREACHABLE, with the signal's reason as its
   * cause, if the signal is a timeout and ZooKeeper was not reached.
   */
  static async join(options: JoinOptions = {}): Promise<Petrel> {
    const settings = readJoinOptions(options);
    const { signal } = settings;
    signal?.throwIfAborted();
    const { nodeId: node, root, logger } = settings;
    const rules = await loadRules(settings);
    const prober = await openProber(settings.probe, { node, root, log: logger ?? silent });
    const petrel = await Petrel.#with(settings, { prober, rules });
    try {
      await petrel.#joined(signal);
    } catch (error) {
      await petrel.close();
      throw error;
    }
    petrel.#leaveOn(signal);
    return petrel;
  }

  /**
   * Sets the function that runs while this node leads. After this call, the node can be elected. A later call
   * replaces the function, starting with the next leadership.
   * @throws PetrelError INVALID if an argument is not a function.
   */
  lead(work: LeaderFunction, options: Omit<LeaderFunctions, 'work'> = {}): void {
    const { takeover } = options;
    if (typeof work !== 'function' || (takeover !== undefined && typeof takeover !== 'function')) {
      throw new PetrelError(
        'INVALID',
        'lead() requires a function; { takeover }, if given, must also be a function',
      );
    }
    this.#workload.use({ work, ...(takeover === undefined ? {} : { takeover }) });
    this.#hasWork = true;
    this.#publishHealth();
  }

  /** Whether this process leads. Every access checks the clock. */
  get leads(): boolean {
    return this.#agent.status.leads && this.#workload.isAtWork;
  }

  get status(): AgentStatus {
    return { ...this.#agent.status, leads: this.leads };
  }

  /** Sets the health of this node, and the reason if it is unhealthy. An unhealthy leader is replaced. */
  setHealth(ok: boolean, reason: string | null = null): void {
    this.#health = { ok, reason };
    this.#publishHealth();
  }

  /**
   * Publishes a score of this node, for a strategy that compares scores. The score remains valid until it is
   * set again. Null removes the score. A bigint of up to 64 bits keeps its exact value.
   *
   * `tolerance` is the change that a score must exceed before it is published again: a percentage such as
   * `5%`, or a number. Default: 5 %, or zero for the score `history`.
   * @throws PetrelError INVALID if the name, value or tolerance is invalid, or if the option `scores` already
   * measures this score.
   */
  setScore(name: string, value: number | bigint | null, options: { tolerance?: Tolerance } = {}): void {
    this.#scores.report(name, value, options.tolerance);
  }

  /**
   * Adds a listener. If the listener throws or rejects, the error is logged and has no other effect. The
   * returned function unsubscribes.
   */
  on<Event extends keyof PetrelEvents>(
    event: Event,
    listener: (...args: PetrelEvents[Event]) => void,
  ): () => void {
    const contained = (...args: PetrelEvents[Event]) =>
      callListener(
        () => listener(...args),
        (error) => this.#log.error({ error }, `a listener for "${event}" failed: ${errorMessage(error)}`),
      );
    const emitter: EventEmitter = this.#emitter;
    emitter.on(event, contained);
    return () => emitter.off(event, contained);
  }

  /**
   * Hands over leadership if this process has it, leaves the group, and frees all resources. Never rejects,
   * and may be called at any time. While ZooKeeper is unreachable, this takes up to two session timeouts.
   *
   * Waits for the running functions to settle. As long as a function ignores its signal, the claim is kept
   * and the returned promise does not resolve.
   */
  async close(): Promise<void> {
    this.#closing ??= this.#leave();
    await this.#closing;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  static async #with(settings: JoinSettings, opened: Opened): Promise<Petrel> {
    try {
      return new Petrel(settings, opened);
    } catch (error) {
      await opened.prober?.close();
      throw error;
    }
  }

  async #run(): Promise<void> {
    try {
      await this.#agent.run();
    } catch (error) {
      this.#fail(error);
    }
    await Promise.all([this.#scores.close(), this.#prober?.close()]);
  }

  async #leave(): Promise<void> {
    this.#agent.stop();
    await this.#running;
    this.#emitter.removeAllListeners();
  }

  #leaveOn(signal: AbortSignal | undefined): void {
    if (signal === undefined) return;
    const leave = () => void this.close();
    signal.addEventListener('abort', leave, { once: true });
    void this.#running.then(() => signal.removeEventListener('abort', leave));
    if (signal.aborted) leave();
  }

  /**
   * Publishes the health. A process without a work function counts as unhealthy, because it must not be
   * elected.
   */
  #publishHealth(): void {
    if (this.#hasWork) this.#agent.setHealth(this.#health.ok, this.#health.reason);
    else this.#agent.setHealth(false, 'this process has no work yet: lead() was not called');
  }

  #onStatus(): void {
    if (this.#agent.status.leads && !this.#wasLeading) {
      this.#wasLeading = true;
      const leadership = this.#workload.startWork();
      this.#notified = leadership !== null;
      if (leadership !== null) this.#emitter.emit('leader', leadership);
    }
    if (!this.leads && this.#wasLeading) {
      this.#wasLeading = false;
      this.#workload.revoke('leadership ended');
      if (this.#notified) this.#emitter.emit('follower');
      this.#notified = false;
    }
    this.#emitter.emit('status', this.status);
  }

  #fail(error: unknown): void {
    this.#failure = { error };
    this.#log.error({ error }, 'left the group');
    this.#emitter.emit('failed', error);
  }

  /**
   * Returns the error for a join that the signal has cancelled. This is normally the signal's reason. If the
   * signal is a timeout and ZooKeeper was not reached, the error says so instead.
   */
  #whyAborted(reason: unknown): unknown {
    if (!(reason instanceof DOMException) || reason.name !== 'TimeoutError') return reason;
    const problem = this.#agent.session?.unreachable;
    if (!(problem instanceof Unreachable)) return reason;
    const message = unreachableText(problem.servers, { named: ' (option zookeeper)' });
    return new PetrelError('UNREACHABLE', message, { cause: reason });
  }

  async #joined(signal: AbortSignal | undefined): Promise<void> {
    let stopWaiting = () => {};
    const joined = new Promise<void>((resolve, reject) => {
      const look = () => {
        if (this.#agent.status.joined) resolve();
      };
      const abort = () => reject(this.#whyAborted(signal?.reason));
      const unlisten = this.#agent.onStatus(look);
      signal?.addEventListener('abort', abort, { once: true });
      if (signal?.aborted) abort();
      stopWaiting = () => {
        unlisten();
        signal?.removeEventListener('abort', abort);
      };
    });
    try {
      await Promise.race([joined, this.#running]);
    } finally {
      stopWaiting();
    }
    if (this.#failure !== null) throw this.#failure.error;
  }
}
