/**
 * Replays random histories against the chosen ZooKeeper and the development server. Both must give the same
 * replies, stats and notifications. This covers combinations that the other contract tests leave out.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Acl, openAcl, permissions } from '../../src/model/acl.js';
import { type DevelopmentServer, startDevelopmentServer } from '../../src/testing.js';
import { startZooKeeper, type TestServer, uniqueRoot } from '../support/ensemble.js';
import { tickTimeMs } from './setting.js';
import { WireClient } from './wire-client.js';
import { type MultiOperation, operations, type ReadOpcode, type Reply, readStat } from './wire-records.js';

const histories = 12;
const steps = 150;
const players = 3;

let chosen: TestServer;
let development: DevelopmentServer;

beforeAll(async () => {
  chosen = await startZooKeeper({ tickTimeMs });
  development = await startDevelopmentServer({ tickTimeMs });
});

afterAll(async () => {
  await chosen?.stop();
  await development?.close();
});

describe('a random history', () => {
  for (let seed = 1; seed <= histories; seed++) {
    it(`goes the same way on both, seed ${seed}`, async () => {
      const root = uniqueRoot('random');
      const expected = await play(chosen.connectString, root, seed);
      expect(await play(development.connectString, root, seed)).toEqual(expected);
    });
  }
});

async function play(address: string, root: string, seed: number): Promise<string[]> {
  const history = await History.begin(address, root, seed);
  while (history.transcript.length < steps) await history.step();
  await history.end();
  return history.transcript;
}

/** Names of znodes. Some are more frequent, so that most histories use a few existing znodes. */
const names = ['a', 'a', 'a', 'a', 'b', 'b', 'b', 'a/c', 'a/c', 'a/c', 'b/d', 'b/d', 'a/c/e', '', 'x//y'];
const newSession = 'starts a new session';
const readers: readonly ReadOpcode[] = ['exists', 'getData', 'getChildren', 'getChildren2'];
const readOnly: Acl = [{ permissions: permissions.read, identity: { scheme: 'world', id: 'anyone' } }];

class History {
  readonly transcript: string[] = [];
  readonly #address: string;
  readonly #root: string;
  readonly #chance: () => number;
  readonly #clients: WireClient[];
  /**
   * The transcript reports zxids relative to this one. It names each session by the player that opened it.
   */
  #startZxid = 0n;
  readonly #sessions = new Map<bigint, string>();

  private constructor(address: string, root: string, seed: number, clients: WireClient[]) {
    this.#address = address;
    this.#root = root;
    this.#chance = randomNumbers(seed);
    this.#clients = clients;
  }

  static async begin(address: string, root: string, seed: number): Promise<History> {
    const clients: WireClient[] = [];
    while (clients.length < players) clients.push(await WireClient.connect(address));
    const history = new History(address, root, seed, clients);
    clients.forEach(({ sessionId }, index) => {
      history.#sessions.set(sessionId, `first of ${index}`);
    });
    const created = await clients[0]?.create(root);
    history.#startZxid = created?.zxid ?? 0n;
    return history;
  }

  async step(): Promise<void> {
    const player = this.#pick([...this.#clients.keys()]);
    const client = this.#clients[player];
    if (!client) throw new Error('there is no such player');
    const [what, happened] = await this.#act(client, player);
    const heard: string[] = [];
    for (const [index, each] of this.#clients.entries()) {
      await each.ping();
      for (const { type, path } of each.events.splice(0)) heard.push(`${index} hears ${type} ${path}`);
    }
    // A session's ephemeral znodes are removed in an undefined order, so the notifications are sorted.
    if (what === newSession) heard.sort();
    this.transcript.push([`${player}: ${what}`, happened, ...heard].join('; '));
  }

  async end(): Promise<void> {
    await Promise.all(this.#clients.map((client) => client.leave()));
  }

  async #act(client: WireClient, player: number): Promise<[string, string]> {
    const path = this.#path();
    const dice = this.#chance();
    if (dice < 0.3) return this.#reply('create', path, await client.create2(path, this.#createOptions()));
    if (dice < 0.35)
      return this.#reply('set', path, await client.setData(path, this.#data(), this.#version()));
    if (dice < 0.47) return this.#reply('delete', path, await client.delete(path, this.#version()));
    if (dice < 0.7) return this.#read(client, path);
    if (dice < 0.9) return this.#multi(client);
    if (dice < 0.93) return this.#reply('acl', path, await client.setAcl(path, this.#acl(), this.#version()));
    if (dice < 0.96) return this.#reconnect(client, player);
    return this.#openNewSession(client, player);
  }

  async #read(client: WireClient, below: string): Promise<[string, string]> {
    const path = this.#chance() < 0.3 ? this.#root : below;
    const opcode = this.#pick(readers);
    const watch = this.#chance() < 0.7;
    return this.#reply(`${opcode}${watch ? ' watching' : ''}`, path, await client.read(opcode, path, watch));
  }

  async #multi(client: WireClient): Promise<[string, string]> {
    const kinds: (() => MultiOperation)[] = [
      () => operations.create(this.#path(), this.#createOptions()),
      () => operations.create(this.#path(), this.#createOptions()),
      () => operations.setData(this.#path(), this.#data(), this.#version()),
      () => operations.delete(this.#path(), this.#version()),
      () => operations.check(this.#path(), this.#version()),
    ];
    const chosenOnes = Array.from({ length: 1 + Math.floor(this.#chance() * 4) }, () => this.#pick(kinds)());
    const { error, results } = await client.multi(chosenOnes);
    return [`multi of ${chosenOnes.map(({ opcode }) => opcode)}`, `${error} ${this.#plain(results)}`];
  }

  /** Reconnects to the session, and requests the changes that the client missed. */
  async #reconnect(client: WireClient, player: number): Promise<[string, string]> {
    const { zxid } = await client.ping();
    const { sessionId, password } = client;
    await client.disconnect();
    const change = await this.#clients[(player + 1) % players]?.setData(`${this.#root}/a`, 'meanwhile');
    const again = await WireClient.connect(this.#address, { sessionId, password });
    this.#clients[player] = again;
    const paths = [`${this.#root}/a`, `${this.#root}/b`];
    const { error } = await again.setWatches(zxid, { data: paths, exist: paths, children: paths });
    return ['reconnects', `${change?.error} ${error} ${sessionId === again.sessionId}`];
  }

  async #openNewSession(client: WireClient, player: number): Promise<[string, string]> {
    const { error } = await client.closeSession();
    await client.disconnect();
    const fresh = await WireClient.connect(this.#address);
    this.#clients[player] = fresh;
    this.#sessions.set(fresh.sessionId, `step ${this.transcript.length} of ${player}`);
    return [newSession, String(error)];
  }

  #reply(what: string, path: string, { error, zxid, body }: Reply): [string, string] {
    const rest = error === 'OK' ? this.#body(what, body) : '';
    return [`${what} ${path}`, `${error} at ${zxid - this.#startZxid} ${rest}`];
  }

  #body(what: string, body: Reply['body']): string {
    const kind = what.split(' ')[0];
    if (kind === 'create') return `${body.string()} ${this.#plain(readStat(body))}`;
    if (kind === 'getData') return `${body.buffer()} ${this.#plain(readStat(body))}`;
    if (kind === 'delete') return '';
    if (!kind?.startsWith('getChildren')) return this.#plain(readStat(body));
    const children = body.vector(() => body.string()).sort();
    return `${children} ${kind === 'getChildren2' ? this.#plain(readStat(body)) : ''}`;
  }

  /**
   * Formats a value as text without the parts that always differ: instants, and the absolute values of zxids
   * and session ids.
   */
  #plain(value: unknown): string {
    return JSON.stringify(value, (key, part: unknown) => {
      if (key.endsWith('timeMs')) return undefined;
      if (key === 'ephemeralOwner' && typeof part === 'bigint')
        return this.#sessions.get(part) ?? String(part);
      return typeof part === 'bigint' ? String(part - this.#startZxid) : part;
    });
  }

  #path(): string {
    return `${this.#root}/${this.#pick(names)}`;
  }

  #data(): string {
    return 'x'.repeat(Math.floor(this.#chance() * 5));
  }

  #version(): number {
    return this.#pick([-1, -1, -1, -1, 0, 0, 1]);
  }

  #acl(): Acl {
    return this.#chance() < 0.08 ? readOnly : openAcl;
  }

  #createOptions() {
    return { data: this.#data(), flags: this.#pick([0, 0, 0, 0, 0, 1, 2, 3]), acl: this.#acl() };
  }

  #pick<T>(from: readonly T[]): T {
    const picked = from[Math.floor(this.#chance() * from.length)];
    if (picked === undefined) throw new Error('nothing to pick from');
    return picked;
  }
}

/** Returns a generator of random numbers (Mulberry32). */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
