/**
 * A group of three nodes in the simulation's world, without randomness. It carries out commands and reports
 * what happens.
 */
import { z } from 'zod';
import { createFlags, type Operation } from '../../src/embedded/tree.js';
import { durationMs } from '../../src/model/duration.js';
import { groupPaths } from '../../src/model/paths.js';
import { type Commit, Ensemble } from '../simulation/ensemble.js';
import { Machine } from '../simulation/machine.js';
import { Network } from '../simulation/network.js';
import { Node, openSimulated } from '../simulation/node.js';
import { Operator } from '../simulation/operator.js';
import { Process } from '../simulation/process.js';
import { World } from '../simulation/world.js';
import type { Chance } from '../support/chance.js';

const names = { nodes: ['a1', 'a2', 'b1'], sites: ['a', 'b'] };
const config = { sites: { a: { priority: 200 }, b: { priority: 100 } }, failback: 'manual' };
const root = '/cluster';
const servers = 1;
const tickMs = 1_000;
const sessionTimeoutMs = 4_000;
const delays = { leastMs: 1, mostMs: 1 };
const clock = { rate: 1, startMs: 0, wallMs: Date.UTC(2026, 0, 1) };
/** Longer than anything that `until` waits for. */
const patienceMs = 30_000;

/** Every draw yields the middle. */
const middle: Chance = {
  next: () => 0.5,
  pick: ([first]) => first,
  odds: (p) => p > 0.5,
  upTo: (n) => Math.floor(n / 2),
  between: (low, high) => (low + high) / 2,
  fork: () => middle,
};

const untapped = { opened() {}, sent() {}, granted() {}, delivered() {} };
const unheard = { started() {}, failed() {}, kills() {}, ended() {}, fences() {} };

export class Group {
  readonly #world = new World(middle, true);
  readonly #ensemble = new Ensemble({
    world: this.#world,
    servers,
    tickMs,
    minSessionTimeoutMs: 2 * tickMs,
    delays,
    overflow: 'wraps',
    clockOf: () => clock,
    onCommit: (commit) => this.#committed(commit),
    onWake() {},
  });
  readonly #network = new Network(this.#world, this.#ensemble, delays, untapped);
  readonly #nodes = names.nodes.map((name) => this.#newNode(name));
  readonly #operator: Operator;
  /** Owner of each session. */
  readonly #sessions = new Map<bigint, string>();
  /** The session that owns each ephemeral znode. */
  readonly #owners = new Map<string, bigint>();
  /** When a command last changed the group. */
  #sinceMs = 0;

  constructor() {
    const world = this.#world;
    const process = new Process(world, 'ops', clock);
    const at = { process, network: this.#network, machine: 'ops', world, servers, sessionTimeoutMs };
    this.#operator = new Operator(world, process, () => openSimulated(at), groupPaths(root), names);
  }

  #newNode(name: string): Node {
    return new Node({
      world: this.#world,
      network: this.#network,
      machine: new Machine(this.#world, name, clock, unheard),
      name,
      site: name.slice(0, 1),
      root,
      servers,
      sessionTimeoutMs,
      hasPrepare: false,
      hasFence: false,
      hasMemory: true,
      ended: (error) => this.#world.note(() => `the agent of ${name} ended: ${String(error)}`),
    });
  }

  /** Carries out one command. Returns what happened. */
  async play(command: string): Promise<string[]> {
    const [verb = '', ...words] = command.split(' ');
    const [word = '', value = ''] = words;
    const logged: string[] = [];
    if (verb === 'run') {
      await this.#world.run(this.#world.nowMs + durationMs(word), () => false);
    } else if (verb === 'until') {
      const isLogged = () => {
        logged.push(...this.#news());
        return logged.some((line) => line.includes(words.join(' ')));
      };
      await this.#world.run(this.#world.nowMs + patienceMs, isLogged);
      if (!isLogged()) throw new Error(`waited in vain: ${command}`);
    } else {
      if (verb !== 'leaders') this.#sinceMs = this.#world.nowMs;
      this.#do(verb, word, value);
    }
    return [...logged, ...this.#news()];
  }

  #do(verb: string, word: string, value: string): void {
    if (verb === 'found') this.#operator.process.deliver(() => void this.#operator.found(config));
    else if (verb === 'start') this.#node(word).start();
    else if (verb === 'kill') this.#node(word).process?.kill();
    else if (verb === 'power-off') {
      const { machine, process } = this.#node(word);
      for (const one of [...machine.supervisors, process]) one?.kill();
      machine.killGroups();
    } else if (verb === 'priority') {
      const site = names.sites.indexOf(word);
      this.#operator.do({ do: 'priority', site, priority: Number(value), lastsMs: null });
    } else if (verb === 'switchover') {
      this.#operator.do({ do: 'switchover', node: this.#nodes.indexOf(this.#node(word)) });
    } else if (verb === 'leaders') {
      const leaders = this.#nodes.filter(({ saysItLeads }) => saysItLeads).map(({ name }) => name);
      this.#world.note(() => `leading: ${leaders.join(', ') || 'nobody'}`);
    } else throw new Error(`no such command: ${verb}`);
  }

  #node(name: string): Node {
    const node = this.#nodes.find((one) => one.name === name);
    if (node === undefined) throw new Error(`no such node: ${name}`);
    return node;
  }

  #news(): string[] {
    return (this.#world.trace?.splice(0) ?? []).flatMap((line) => {
      const ms = Math.round(1_000 * Number.parseFloat(line) - this.#sinceMs);
      const text = transcriptText(line);
      return text === null ? [] : [`${String(ms).padStart(5)} ms  ${text}`];
    });
  }

  #committed({ transaction, changes, ok }: Commit): void {
    if (transaction.kind === 'open') return;
    const { session } = transaction;
    const who =
      this.#nodes.find((node) => node.session === session)?.name ?? this.#sessions.get(session) ?? 'ops';
    this.#sessions.set(session, who);
    if (transaction.kind === 'close') {
      const gone = [...this.#owners].filter(([, owner]) => owner === session).map(([path]) => path);
      for (const path of gone) this.#owners.delete(path);
      const verb = transaction.silence === undefined ? 'ends' : 'expires';
      this.#world.note(
        () => `ZooKeeper: the session of ${who} ${verb}: delete ${gone.map(short).join(', delete ')}`,
      );
      return;
    }
    const created = changes.filter(({ type }) => type === 'created').map(({ path }) => path);
    const texts = transaction.operations.map((operation) => {
      const path = (operation.type === 'create' ? created.shift() : null) ?? operation.path;
      if (operation.type === 'delete') this.#owners.delete(path);
      if (operation.type === 'create' && (operation.flags & createFlags.ephemeral) !== 0)
        this.#owners.set(path, session);
      return operationText(operation, path);
    });
    const isRenewal = transaction.operations.every(({ type }) => type === 'check');
    const verb = ok ? 'writes' : 'may not write';
    if (!isRenewal) this.#world.note(() => `${who} ${verb}: ${texts.join(', ')}`);
  }
}

/** Shortens sequences, which have ten digits. */
function short(path: string): string {
  return path.replace(`${root}/`, '').replace(/\b0+(?=\d+$)/, '');
}

const verbs = {
  check: 'check',
  create: 'create',
  delete: 'delete',
  setData: 'set',
  setAcl: 'set the ACL of',
};
const shown = ['node', 'term', 'status', 'outcome', 'cause', 'what'];

function operationText(operation: Operation, path: string): string {
  const text = `${verbs[operation.type]} ${short(path)}`;
  if (!('data' in operation) || !/^(leader|history)/.test(short(path))) return text;
  const json: unknown = JSON.parse(operation.data?.toString('utf8') || '{}');
  const content = z.record(z.string(), z.unknown()).parse(json);
  const values = shown
    .filter((key) => content[key] != null)
    .map((key) => (key === 'term' ? `term ${content[key]}` : String(content[key])));
  return values.length === 0 ? text : `${text} (${values.join(', ')})`;
}

/** A line of the simulation's trace as a transcript shows it. Null if readers do not need it. */
function transcriptText(line: string): string | null {
  const text = line
    .replace(/^ *[\d.]+ s +/, '')
    .replace(/^(\w+) life \d+ under guardian \d+ of \w+/, '$1')
    .replace(/^guardian \d+ of (\w+)/, 'guardian of $1')
    .replace(/says: \[.*?\] \w+: \[\w+\] /, 'says: ')
    .replace(' hook starts (well)', ' hook starts');
  const isKnown = /^(server|guardian of \w+ starts|ops: (priority|switchover))|says: (connection to|on[TR])/;
  return isKnown.test(text) ? null : text;
}
