/**
 * Polls /leader of every node over persistent connections, as load balancers do. Records when each request
 * was sent and each answer was received, on the clock that all processes of the machine share.
 */
import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock } from '../../src/ports/clock.js';
import type { HookEvent } from './hook-events.js';

export interface Check {
  readonly node: string;
  readonly sentAtMs: number;
  readonly receivedAtMs: number;
  readonly code: number;
  /** Fencing token of the reported leadership. Null if the answer contains none. */
  readonly token: bigint | null;
}

export interface Pace {
  /** Number of connections per node. */
  readonly connections: number;
  /** Pause between an answer and the next request on the same connection. */
  readonly pauseMs: number;
}

/** A request to each node every few milliseconds. A higher rate would take CPU time from the nodes. */
const incessant: Pace = { connections: 3, pauseMs: 10 };

export class LeaderChecks implements AsyncDisposable {
  readonly checks: Check[] = [];
  readonly #agents: Agent[] = [];
  readonly #running: Promise<void>[] = [];
  readonly #pace: Pace;
  #isOver = false;

  constructor(pace = incessant) {
    this.#pace = pace;
  }

  /** Starts to poll this node too. */
  add(node: string, url: string): void {
    for (let n = 0; n < this.#pace.connections; n++) {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      this.#agents.push(agent);
      this.#running.push(this.#check(node, url, agent));
    }
  }

  of(node: string, code: number, sinceMs: number): Check[] {
    return this.checks.filter((one) => one.node === node && one.code === code && one.sentAtMs >= sinceMs);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOver = true;
    for (const agent of this.#agents) agent.destroy();
    await Promise.all(this.#running);
  }

  async #check(node: string, url: string, agent: Agent): Promise<void> {
    while (!this.#isOver) {
      const sentAtMs = systemClock.monotonicMs();
      const answer = await ask(`${url}/leader`, agent);
      const receivedAtMs = systemClock.monotonicMs();
      if (answer !== null) this.checks.push({ node, sentAtMs, receivedAtMs, ...answer });
      await sleep(this.#pace.pauseMs);
    }
  }
}

/** Requests /leader once. Returns null if there is no answer: a node that is gone does not claim to lead. */
function ask(url: string, agent: Agent): Promise<Pick<Check, 'code' | 'token'> | null> {
  return new Promise((resolve) => {
    const sent = request(url, { agent }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (part: string) => {
        text += part;
      });
      response.on('end', () => {
        const token = /"fencingToken":"(\d+)"/.exec(text)?.[1];
        resolve({ code: response.statusCode ?? 0, token: token === undefined ? null : BigInt(token) });
      });
      response.on('error', () => resolve(null));
    });
    sent.on('error', () => resolve(null));
    sent.end();
  });
}

export interface Findings {
  /**
   * One line for each answer 200 to a request that was sent too late. At that time another takeover or the
   * node's own release had begun.
   */
  readonly wrong: readonly string[];
  /**
   * Number of answers 200 that were in transit when another takeover or the node's own release began. A
   * process that is frozen between reading its clock and writing can cause one of these.
   */
  readonly overtaken: number;
  /** One line for each answer 200 that was received before the node's own takeover had ended. */
  readonly early: readonly string[];
}

/** Compares the answers with the events that the hooks recorded. */
export function findings(checks: readonly Check[], events: readonly HookEvent[]): Findings {
  const claims = checks.filter(({ code }) => code === 200);
  const ends = claims.map((claim) => ({ claim, endMs: endOf(claim, events) }));
  const text = ({ node, token, sentAtMs, receivedAtMs }: Check, why: string) =>
    `${node} (token ${token}) said 200 to a request of ${sentAtMs} at ${receivedAtMs}, ${why}`;
  return {
    wrong: ends
      .filter(({ claim, endMs }) => claim.sentAtMs > endMs)
      .map(({ claim, endMs }) => text(claim, `though it was over at ${endMs}`)),
    overtaken: ends.filter(({ claim, endMs }) => claim.sentAtMs <= endMs && claim.receivedAtMs > endMs)
      .length,
    early: claims
      .filter((claim) => claim.receivedAtMs < beginOf(claim, events))
      .map((claim) => text(claim, `though it began at ${beginOf(claim, events)}`)),
  };
}

/**
 * Returns when a leadership was certainly over: the start of its release or of a later takeover, whichever is
 * earlier.
 */
function endOf({ node, token }: Check, events: readonly HookEvent[]): number {
  const over = events.filter(({ phase, event, token: other, node: who }) => {
    if (event !== 'started' || token === null || !/^\d+$/.test(other)) return false;
    if (phase === 'release') return who === node && BigInt(other) === token;
    return phase === 'takeover' && BigInt(other) > token;
  });
  return Math.min(...over.map(({ monotonicMs }) => monotonicMs));
}

/** Returns when the takeover of the leadership had ended. */
function beginOf({ node, token }: Check, events: readonly HookEvent[]): number {
  const ended = events.find((one) => {
    return (
      one.node === node && one.phase === 'takeover' && one.event === 'ended' && one.token === String(token)
    );
  });
  return ended?.monotonicMs ?? Number.POSITIVE_INFINITY;
}
