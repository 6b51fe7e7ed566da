/**
 * HAProxy in front of three nodes of `petrel run`: the effects of planned and unplanned handovers on clients.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { startDevelopmentServer } from '../../src/testing.js';
import { type PetrelProcess, startProcess } from '../support/agents.js';
import { addresses, Haproxy, haproxyExample, hasHaproxy, noHaproxy } from '../support/haproxy.js';
import { ofNode } from '../support/known.js';
import { freePorts } from '../support/ports.js';
import { uniqueRoot } from '../support/unique-root.js';
import { until } from '../support/until.js';

const token = 'a-token-for-the-tests-0123456789';
/** Number of handovers. The README of the example reports a run with 20. */
const handovers = Number(process.env.PETREL_TEST_HANDOVERS ?? 6);
const kills = 3;

interface Call {
  readonly method: string;
  readonly tookMs: number;
  /** Null if the call succeeded. */
  readonly failure: string | null;
}

/** Clients that call repeatedly. Each has its own persistent connection. */
class Clients {
  readonly calls: Call[] = [];
  /** The node that answered the latest call. */
  answered = '';
  readonly #agent = new Agent({ keepAlive: true });
  readonly #port: number;
  readonly #running: Promise<void>[];
  /** Number of calls of each client that have ended. */
  readonly #counts: number[];
  #stopped = false;

  constructor(port: number, methods: readonly string[]) {
    this.#port = port;
    this.#counts = methods.map(() => 0);
    this.#running = methods.map((method, index) => this.#callOn(method, index));
  }

  /** Returns the calls that have ended since the last `take`, and removes them. */
  take(): Call[] {
    return this.calls.splice(0);
  }

  /** Waits until a leader other than `other` answers clients. Returns the leader's name. */
  answeredBy(other: string): Promise<string> {
    return until(() => (this.answered !== '' && this.answered !== other ? this.answered : null), {
      timeoutMs: 30_000,
      describe: `clients to be answered by another than ${other}`,
    });
  }

  /** Waits until all earlier calls have ended. */
  async callAgain(): Promise<void> {
    const before = [...this.#counts];
    await until(() => this.#counts.every((count, index) => count > (before[index] ?? 0)));
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await Promise.all(this.#running);
    this.#agent.destroy();
  }

  async #callOn(method: string, index: number): Promise<void> {
    while (!this.#stopped) {
      const sentMs = performance.now();
      const failure = await this.#call(method);
      this.calls.push({ method, tookMs: performance.now() - sentMs, failure });
      this.#counts[index] = (this.#counts[index] ?? 0) + 1;
      await sleep(5);
    }
  }

  async #call(method: string): Promise<string | null> {
    try {
      const { status, body } = await call(this.#port, '/', { host: '127.0.0.1', method, agent: this.#agent });
      if (status === 200) this.answered = body.trim();
      return status === 200 ? null : `${status}`;
    } catch (error) {
      return String(error);
    }
  }
}

interface CallOptions {
  readonly host: string;
  readonly method: string;
  readonly agent?: Agent;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

function call(
  port: number,
  path: string,
  { body, ...options }: CallOptions,
): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    const sent = request({ port, path, ...options }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => {
        text += chunk;
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body: text }));
      response.on('error', reject);
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

function summary(what: string, calls: readonly Call[]): string {
  const failed = calls.filter(({ failure }) => failure !== null).length;
  const longestMs = Math.max(...calls.map(({ tookMs }) => tookMs));
  return `${what}: ${calls.length} requests, ${failed} failed, the longest took ${longestMs.toFixed(0)} ms`;
}

describe.skipIf(!hasHaproxy)(`behind HAProxy${noHaproxy}`, () => {
  it('no request fails in planned handovers, and none that may be tried again when a leader is killed', async () => {
    await using zookeeper = await startDevelopmentServer({ tickTimeMs: 250 });
    const directory = await mkdtemp(join(tmpdir(), 'petrel-web-'));
    const tokenFile = join(directory, 'token');
    await writeFile(tokenFile, token, { mode: 0o600 });
    const [bind = 0, service = 0, agent = 0] = await freePorts(3);
    const root = uniqueRoot('web');
    const nodes = new Map<string, PetrelProcess>();
    for (const [name, address] of Object.entries(addresses)) {
      const args = ['run', '--restart', 'always', '--', process.execPath, `${haproxyExample}service.mjs`];
      const env = {
        PETREL_ZOOKEEPER: zookeeper.connectString,
        PETREL_ROOT: root,
        PETREL_NODE_ID: name,
        PETREL_SESSION_TIMEOUT: '3s',
        PETREL_LISTEN: `${address}:${agent}`,
        PETREL_HTTP_TOKEN_FILE: tokenFile,
        HOST: address,
        PORT: String(service),
        // HAProxy must notice that the service leaves before the service stops, even on a slow machine.
        DRAIN_MS: '1000',
      };
      nodes.set(name, await startProcess(args, env));
    }
    await using _haproxy = await Haproxy.start({ bind, service, agent });
    const clients = new Clients(bind, ['GET', 'GET', 'POST', 'POST']);
    try {
      let leader = await clients.answeredBy('');
      clients.take();
      for (let handover = 0; handover < handovers; handover += 1) {
        const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
        const ask = { host: addresses.a, method: 'POST', headers, body: '{}' };
        // The request is refused while the other node is absent. On a starved machine, that node may still be
        // joining the group again.
        await until(async () => {
          const { status, body } = await call(agent, '/switchover', ask);
          expect(status, body).toBe(202);
          return true;
        });
        leader = await clients.answeredBy(leader);
      }
      const planned = clients.take();
      console.log(summary(`${handovers} planned handovers`, planned));
      for (let kill = 0; kill < kills; kill += 1) {
        ofNode(nodes, leader.split(' ')[0] ?? '').signal('SIGKILL');
        leader = await clients.answeredBy(leader);
        await clients.callAgain();
      }
      const killed = clients.take();
      console.log(summary(`${kills} killed leaders`, killed));
      const failures = (calls: readonly Call[]) => calls.filter(({ failure }) => failure !== null);
      expect(failures(planned)).toEqual([]);
      expect(failures(killed).filter(({ method }) => method === 'GET')).toEqual([]);
      // At each kill, each of the two POST clients had at most one call in progress.
      expect(failures(killed).length).toBeLessThanOrEqual(2 * kills);
    } finally {
      await clients.stop();
      await Promise.all([...nodes.values()].map((node) => node.stop()));
      await rm(directory, { recursive: true });
    }
  });
});
