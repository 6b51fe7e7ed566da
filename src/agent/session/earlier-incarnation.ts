/**
 * Ends the session of an earlier incarnation of this node if that session still owns the node's name. If this
 * node has remembered the session's id and password, the node ends the session immediately. Otherwise, the
 * node waits for the session to expire.
 *
 * If the session owns the claim, the node waits for the session to expire in any case, because the workload
 * of the earlier incarnation may still be running. There is no need to wait if the workload ends with the
 * agent's process.
 */

import type { Logger } from 'pino';
import { PetrelError } from '../../errors.js';
import { claimPaths, type GroupPaths, pathsOfSlot } from '../../model/paths.js';
import type { Registration } from '../../model/registration.js';
import type { Clock } from '../../ports/clock.js';
import type { Store } from '../../ports/store.js';
import { depart, type EarlierIncarnation } from '../membership.js';
import type { SessionMemory, SessionTicket } from './session-memory.js';

/**
 * Place where the workload runs. A workload inside the agent's process ends with that process. A workload
 * outside it may continue to run.
 */
export type WorkloadPlace = 'inside' | 'outside';

export interface EarlierIncarnationOptions {
  readonly node: string;
  readonly paths: GroupPaths;
  readonly workloadPlace: WorkloadPlace;
  readonly sessionMemory: SessionMemory | null;
  /**
   * Whether the earlier session may also serve other groups whose workload may still be running. That session
   * is then left to expire.
   */
  readonly isShared: boolean;
  openStore(session: SessionTicket): Store;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * Number of session timeouts for which the node waits. If the earlier session lasts longer, another client
 * must be keeping it alive.
 */
const patienceTimeouts = 10;

export class EarlierIncarnations {
  readonly #options: EarlierIncarnationOptions;
  #session = 0n;
  #sinceMs = 0;

  constructor(options: EarlierIncarnationOptions) {
    this.#options = options;
  }

  /**
   * Whether the name is free now. If it is not, leaves a watch on the registration. The caller must check
   * again when the registration changes. Throws PetrelError DUPLICATE_NODE if the session does not end.
   */
  async isOver(store: Store, earlier: EarlierIncarnation): Promise<boolean> {
    const { paths, node } = this.#options;
    if (await this.#end(store, earlier)) return true;
    this.#wait(store, earlier);
    return (await store.exists(paths.node(node), { watch: true })) === null;
  }

  async #end(store: Store, { session, registration }: EarlierIncarnation): Promise<boolean> {
    const { sessionMemory, openStore, log, isShared, paths, node } = this.#options;
    const ticket = sessionMemory?.earlier ?? null;
    if (ticket?.id !== session || (await this.#mayWork(store, session, registration))) return false;
    if (isShared) {
      log.info({ incarnation: registration?.incarnation }, 'removing znodes of an earlier run of this node');
      return await depart(store, paths, node, session);
    }
    log.info({ incarnation: registration?.incarnation }, 'ending the session of an earlier run of this node');
    return await openStore(ticket).close({ timeoutMs: store.negotiatedTimeoutMs });
  }

  /**
   * Whether a workload may still be running under a claim that the session owns. The registration was written
   * together with the claim, and names the claim's slot. If the registration is unreadable, the claim may be
   * for any slot.
   */
  async #mayWork(store: Store, session: bigint, registration: Registration | null): Promise<boolean> {
    const { workloadPlace } = this.#options;
    if (workloadPlace === 'inside') return false;
    const { paths } = this.#options;
    await store.sync(paths.leader);
    const claims =
      registration === null
        ? claimPaths(paths, (await store.getChildren(paths.leader)).children)
        : [pathsOfSlot(paths, registration.claimedSlot ?? 1).current];
    const stats = await Promise.all(claims.map((path) => store.exists(path)));
    return stats.some((stat) => stat?.ephemeralOwner === session);
  }

  #wait(store: Store, { session, registration }: EarlierIncarnation): void {
    const { node, clock, log } = this.#options;
    const { negotiatedTimeoutMs: timeoutMs } = store;
    const now = clock.monotonicMs();
    if (this.#session !== session) {
      this.#session = session;
      this.#sinceMs = now;
      const atMost = `for at most its session timeout (${Math.ceil(timeoutMs / 1000)} s, if that run had the same setting)`;
      const message = `the session of an earlier run of ${node} has not expired yet: waiting ${atMost}`;
      log.warn({ incarnation: registration?.incarnation }, message);
    } else if (now - this.#sinceMs > patienceTimeouts * timeoutMs) {
      const who = `session 0x${session.toString(16)}, which has not ended`;
      const right = 'another agent uses this node id: choose another node id for this agent';
      throw new PetrelError('DUPLICATE_NODE', `node id ${node} is still held by ${who}: ${right}`);
    }
  }
}
