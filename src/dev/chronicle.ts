/**
 * Reports the events of a group as lines of text. It observes the group from outside, through the
 * transactions that ZooKeeper commits and the events that the hooks write. It also adds up the time without a
 * READY node.
 */

import type { Commit, WriteOperation } from '../embedded/commit.js';
import { parseJson } from '../model/names.js';
import type { GroupPaths } from '../model/paths.js';
import { registrationSchema } from '../model/registration.js';
import { parseSeatName } from '../model/sequence.js';
import { claimSchema, electedSchema, historyRecordSchema } from '../model/znodes.js';
import type { HookEvent } from './hooks.js';

export interface ChronicleOptions {
  readonly paths: GroupPaths;
  /** Returns milliseconds on a monotonic clock. */
  nowMs(): number;
  line(text: string): void;
}

const endings = { closed: 'is closed', expired: 'expires' } as const;

export class Chronicle {
  readonly #options: ChronicleOptions;
  readonly #sessions = new Map<bigint, string>();
  readonly #draining = new Set<string>();
  /**
   * Fencing tokens of takeovers, keyed by node. A token is kept from the start of the takeover until a
   * release completes.
   */
  readonly #begun = new Map<string, bigint>();
  #term = -1;
  #owner: string | null = null;
  #ready: string | null = null;
  #leaderlessSinceMs: number | null = null;
  #leaderlessMs = 0;

  constructor(options: ChronicleOptions) {
    this.#options = options;
  }

  /** Starts measuring the time without a READY node. */
  begin(): void {
    this.#leaderlessMs = 0;
    this.#leaderlessSinceMs = this.#ready === null ? this.#options.nowMs() : null;
  }

  /** Milliseconds without a READY node since `begin`. */
  get leaderlessMs(): number {
    const since = this.#leaderlessSinceMs;
    return Math.round(this.#leaderlessMs + (since === null ? 0 : this.#options.nowMs() - since));
  }

  /**
   * Returns the fencing token of the takeover that this node has begun. Null if there is none, or if a
   * completed release has followed.
   */
  begunUnder(node: string): bigint | null {
    return this.#begun.get(node) ?? null;
  }

  /** Records that the agent of this node, its guardian, or both were killed. */
  killed(text: string, node: string): void {
    this.#options.line(text);
    // The workload ends immediately. The agent or the guardian ends it, whichever survives. If neither
    // survives, the reaper ends it.
    if (this.#ready === node) this.#noLongerReady();
  }

  hook({ node, phase, event, token }: HookEvent): void {
    this.#options.line(`${node}: ${phase} hook ${event}`);
    if (phase === 'takeover' && event === 'started') this.#begun.set(node, token);
    if (phase === 'release' && event === 'ended') this.#begun.delete(node);
    if (phase === 'release' && event === 'started' && node === this.#ready) this.#noLongerReady();
  }

  commit(commit: Commit): void {
    const { paths } = this.#options;
    for (const operation of commit.operations) {
      const { path } = operation;
      if (path === paths.elected) this.#elected(operation);
      else if (path === paths.current) this.#claim(operation, commit);
      else if (path.startsWith(paths.historyPrefix)) this.#recorded(operation);
      else if (path.startsWith(paths.node(''))) this.#registration(operation, commit);
      else if (path.startsWith(`${paths.election}/`)) this.#seat(operation, commit);
    }
    if (commit.endsSession !== null) this.#sessions.delete(commit.sessionId);
  }

  #noLongerReady(): void {
    this.#ready = null;
    this.#leaderlessSinceMs ??= this.#options.nowMs();
  }

  #isReady(node: string): void {
    this.#ready = node;
    if (this.#leaderlessSinceMs === null) return;
    this.#leaderlessMs += this.#options.nowMs() - this.#leaderlessSinceMs;
    this.#leaderlessSinceMs = null;
  }

  #elected({ data }: WriteOperation): void {
    const elected = parseJson(electedSchema, textOf(data)).value;
    if (elected === null || elected.term === this.#term) return;
    this.#term = elected.term;
    const { by, node, term, reason } = elected;
    if (term > 0) this.#options.line(`${by} elects ${node ?? 'no node'} in term ${term}: ${reason}`);
  }

  #claim({ type, data }: WriteOperation, { sessionId, zxid, endsSession }: Commit): void {
    const { line } = this.#options;
    if (type === 'delete') {
      const node = this.#sessions.get(sessionId) ?? 'somebody';
      line(
        endsSession === null
          ? `${node} gives up its claim`
          : `the session of ${node} ${endings[endsSession]}, which removes its claim`,
      );
      this.#owner = null;
      this.#noLongerReady();
      return;
    }
    const claim = parseJson(claimSchema, textOf(data)).value;
    if (claim === null) return;
    this.#owner = claim.node;
    if (type === 'create') line(`${claim.node} claims: PROGRESS, fencing token ${zxid}`);
    else if (claim.status === 'READY' && this.#ready !== claim.node) line(`${claim.node} is READY`);
    if (claim.status === 'READY') this.#isReady(claim.node);
  }

  #recorded({ type, data }: WriteOperation): void {
    const record = type === 'create' ? parseJson(historyRecordSchema, textOf(data)).value : null;
    if (record?.kind !== 'transition') return;
    const { term, node, outcome } = record;
    this.#options.line(`the history records term ${term}: ${node ?? 'no node'}, ${outcome}`);
  }

  #registration({ type, path, data }: WriteOperation, { sessionId }: Commit): void {
    if (type === 'delete') return;
    const node = path.slice(this.#options.paths.node('').length);
    this.#sessions.set(sessionId, node);
    if (type === 'create') this.#options.line(`${node} joins`);
    const isDraining = parseJson(registrationSchema, textOf(data)).value?.draining === true;
    if (isDraining && !this.#draining.has(node)) this.#options.line(`${node} announces that it is leaving`);
    if (isDraining) this.#draining.add(node);
    else this.#draining.delete(node);
  }

  #seat({ type, path }: WriteOperation, { endsSession }: Commit): void {
    if (type !== 'delete') return;
    const seat = parseSeatName(path.slice(this.#options.paths.election.length + 1));
    if (seat === null || (endsSession !== null && this.#owner === seat.node)) return;
    this.#options.line(
      endsSession === null
        ? `the seat of ${seat.node} is removed`
        : `the session of ${seat.node} ${endings[endsSession]}`,
    );
  }
}

function textOf(data: Buffer | null): string {
  return data?.toString('utf8') ?? '';
}
