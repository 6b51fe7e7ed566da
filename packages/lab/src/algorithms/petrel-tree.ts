/**
 * Petrel's znodes as its decisions see them, on one server that never fails: a stand-in for ZooKeeper, with sessions, versions,
 * all-or-nothing writes and watches that fire once.
 */
import {
  type Claim,
  type ClaimContent,
  type Elected,
  type GroupConfig,
  groupConfigSchema,
  type HistoryHead,
  initialElected,
  initialHistoryHead,
  type Member,
  type Registration,
  type SessionId,
  type Versioned,
} from 'petrel/internals';
import type { Context, Node } from '../algorithm.js';

/** The ensemble's clock at instant 0 of a run: any will do. */
export const epochMs = 1_700_000_000_000;

export interface Seat {
  readonly name: string;
  readonly node: string;
  readonly owner: SessionId;
}

/** Never changed: a write makes another. */
export interface Tree {
  readonly config: Versioned<GroupConfig>;
  readonly elected: Versioned<Elected>;
  readonly current: Claim | null;
  /** In order of node ids. */
  readonly members: readonly Member[];
  /** The elector's first. */
  readonly seats: readonly Seat[];
  readonly history: Versioned<HistoryHead>;
}

export type Operation =
  | { readonly check: 'seat'; readonly name: string }
  | { readonly check: 'config' | 'elected'; readonly version: number }
  | { readonly set: 'elected'; readonly value: Elected; readonly version: number }
  | { readonly set: 'history'; readonly value: HistoryHead; readonly version: number }
  | { readonly set: 'member'; readonly node: string; readonly value: Registration }
  | { readonly create: 'current'; readonly value: ClaimContent }
  | { readonly set: 'current'; readonly value: ClaimContent; readonly version: number }
  | { readonly delete: 'current'; readonly version: number };

/** How much a node reads, and watches. */
export type Part = 'standby' | 'involved' | 'elector';

export type Message =
  | { readonly kind: 'join'; readonly session: SessionId; readonly registration: Registration }
  | { readonly kind: 'joined'; readonly seat: string }
  | { readonly kind: 'read'; readonly part: Part; readonly seat: string }
  | { readonly kind: 'view'; readonly part: Part; readonly tree: Tree }
  | { readonly kind: 'write'; readonly session: SessionId; readonly operations: readonly Operation[] }
  /** `zxid`: of the write; null: it was refused, and nothing was written. */
  | { readonly kind: 'written'; readonly zxid: bigint | null }
  | { readonly kind: 'renew'; readonly sentAtMs: number }
  | { readonly kind: 'renewed'; readonly sentAtMs: number }
  | { readonly kind: 'changed' }
  | { readonly kind: 'close'; readonly session: SessionId };

export function versioned<T>(value: T, version: number, nowMs: number): Versioned<T> {
  return { value, problem: null, version, modifiedAtMs: epochMs + nowMs };
}

function emptyTree(): Tree {
  return {
    config: versioned(groupConfigSchema.parse({}), 0, 0),
    elected: versioned(initialElected, 0, 0),
    current: null,
    members: [],
    seats: [],
    history: versioned(initialHistoryHead, 0, 0),
  };
}

/** Requests of which a part's reading consists: what `agent/observe.ts` asks for. */
export function requestsOf(part: Part, members: number): number {
  switch (part) {
    case 'standby':
      return 5;
    case 'involved':
      return 6;
    case 'elector':
      return 9 + members;
  }
}

export class PetrelEnsemble implements Node<Message> {
  readonly #context: Context<Message>;
  #tree = emptyTree();
  #zxid = 0n;
  #seatsMade = 0;
  readonly #watchers = new Map<string, Set<number>>();

  constructor(context: Context<Message>) {
    this.#context = context;
  }

  start(): void {}

  receive(message: Message, from: number): void {
    const { send } = this.#context;
    switch (message.kind) {
      case 'join':
        send(from, { kind: 'joined', seat: this.#join(message.session, message.registration) }, 4);
        break;
      case 'read':
        this.#watch(message.part, message.seat, from);
        send(
          from,
          { kind: 'view', part: message.part, tree: this.#tree },
          requestsOf(message.part, this.#tree.members.length),
        );
        break;
      case 'write':
        send(from, { kind: 'written', zxid: this.#write(message.session, message.operations) });
        break;
      case 'renew':
        send(from, { kind: 'renewed', sentAtMs: message.sentAtMs });
        break;
      case 'close':
        this.#close(message.session);
        break;
    }
  }

  suspect(node: number, life: number): void {
    this.#close(sessionOf(node, life));
  }

  #join(owner: SessionId, registration: Registration): string {
    const { node } = registration;
    const name = `${node}-${String(this.#seatsMade).padStart(10, '0')}`;
    this.#seatsMade += 1;
    this.#zxid += 2n;
    const member = { ...this.#versioned(registration, 0), node, owner, seat: null };
    const others = this.#tree.members.filter((one) => one.node !== node);
    const members = [...others, member].sort((a, b) => (a.node < b.node ? -1 : 1));
    this.#tree = { ...this.#tree, members, seats: [...this.#tree.seats, { name, node, owner }] };
    this.#fire('members');
    return name;
  }

  #close(session: SessionId): void {
    const { members, seats, current } = this.#tree;
    const gone = seats.filter(({ owner }) => owner === session);
    if (gone.length === 0) return;
    const isClaimGone = current?.owner === session;
    this.#tree = {
      ...this.#tree,
      members: members.filter(({ owner }) => owner !== session),
      seats: seats.filter(({ owner }) => owner !== session),
      current: isClaimGone ? null : current,
    };
    this.#fire('members');
    if (isClaimGone) this.#fire('current');
    for (const { name } of gone) this.#fire(`seat ${name}`);
  }

  #watch(part: Part, seat: string, client: number): void {
    const place = this.#tree.seats.findIndex(({ name }) => name === seat);
    const below = this.#tree.seats[place - 1];
    const own = ['elected', ...(below === undefined ? [] : [`seat ${below.name}`])];
    const involved = part === 'standby' ? [] : ['config', 'current'];
    for (const what of [...own, ...involved, ...(part === 'elector' ? ['members'] : [])]) {
      this.#watchers.set(what, (this.#watchers.get(what) ?? new Set()).add(client));
    }
  }

  #fire(what: string): void {
    const watchers = this.#watchers.get(what);
    this.#watchers.delete(what);
    for (const client of watchers ?? []) this.#context.send(client, { kind: 'changed' });
  }

  #write(session: SessionId, operations: readonly Operation[]): bigint | null {
    if (!operations.every((operation) => this.#isPossible(operation))) return null;
    this.#zxid += 1n;
    for (const operation of operations) this.#apply(session, operation);
    return this.#zxid;
  }

  #isPossible(operation: Operation): boolean {
    const { seats, config, elected, current, history } = this.#tree;
    if ('check' in operation) {
      if (operation.check === 'seat') return seats.some(({ name }) => name === operation.name);
      return (operation.check === 'config' ? config : elected).version === operation.version;
    }
    if ('create' in operation) return current === null;
    if ('delete' in operation) return current?.version === operation.version;
    switch (operation.set) {
      case 'member':
        return true;
      case 'elected':
        return elected.version === operation.version;
      case 'history':
        return history.version === operation.version;
      case 'current':
        return current?.version === operation.version;
    }
  }

  #apply(owner: SessionId, operation: Operation): void {
    if ('check' in operation) return;
    if ('delete' in operation) {
      this.#put({ current: null }, 'current');
    } else if ('create' in operation) {
      const createdAtMs = epochMs + this.#context.nowMs();
      const claim = { ...this.#versioned(operation.value, 0), token: this.#zxid, owner, createdAtMs };
      this.#put({ current: claim }, 'current');
    } else this.#set(operation);
  }

  #set(operation: Extract<Operation, { set: string }>): void {
    const { current, members } = this.#tree;
    switch (operation.set) {
      case 'elected':
        this.#put({ elected: this.#versioned(operation.value, operation.version + 1) }, 'elected');
        break;
      case 'history':
        this.#put({ history: this.#versioned(operation.value, operation.version + 1) }, 'history');
        break;
      case 'member': {
        const changed = members.map((member) =>
          member.node === operation.node
            ? { ...member, ...this.#versioned(operation.value, member.version + 1) }
            : member,
        );
        this.#put({ members: changed }, 'members');
        break;
      }
      case 'current':
        if (current === null) break;
        this.#put(
          { current: { ...current, ...this.#versioned(operation.value, operation.version + 1) } },
          'current',
        );
        break;
    }
  }

  #put(change: Partial<Tree>, what: string): void {
    this.#tree = { ...this.#tree, ...change };
    this.#fire(what);
  }

  #versioned<T>(value: T, version: number): Versioned<T> {
    return versioned(value, version, this.#context.nowMs());
  }
}

/** Of one life of a node. */
export function sessionOf(node: number, life: number): SessionId {
  return BigInt(node) * 1000n + BigInt(life) + 1n;
}
