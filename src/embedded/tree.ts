/**
 * The znode tree: ZooKeeper 3.8's data model in memory. It is synchronous and deterministic: the caller
 * passes the time, and the same calls give the same tree. The tree does not use connections, watches or
 * session timeouts. In the tree, a session is only the owner of ephemeral znodes.
 *
 * Not promised: persistence, quotas, containers, and znodes with a time to live.
 */

import { type Acl, type Identity, openAcl, permissions } from '../model/acl.js';
import { permits, resolveAcl } from './acl.js';
import { type ErrorCode, ZooKeeperError } from './errors.js';
import { formatSequence, nameOf, parentOf, validatePath } from './paths.js';

export interface Stat {
  readonly czxid: bigint;
  readonly mzxid: bigint;
  readonly ctimeMs: number;
  readonly mtimeMs: number;
  readonly version: number;
  readonly cversion: number;
  readonly aversion: number;
  readonly ephemeralOwner: bigint;
  readonly dataLength: number;
  readonly numChildren: number;
  readonly pzxid: bigint;
}

export const createFlags = { persistent: 0, ephemeral: 1, sequential: 2 } as const;
/** Flags from this value up to `lastFlags` request containers and znodes with a time to live. */
const firstRefusedFlags = 4;
const lastFlags = 6;

/** An operation that changes the tree or checks a version. Version -1 matches any version. */
export type Operation =
  | {
      readonly type: 'create';
      readonly path: string;
      readonly data: Buffer | null;
      readonly acl: Acl;
      /** The sum of the requested `createFlags`. */
      readonly flags: number;
    }
  | { readonly type: 'delete'; readonly path: string; readonly version: number }
  | {
      readonly type: 'setData';
      readonly path: string;
      readonly data: Buffer | null;
      readonly version: number;
    }
  | { readonly type: 'setAcl'; readonly path: string; readonly acl: Acl; readonly version: number }
  | { readonly type: 'check'; readonly path: string; readonly version: number };

/**
 * Result of an operation. For a create, `path` includes the sequence number. `stat` describes the znode after
 * the operation, and is null after a delete.
 */
export interface OperationResult {
  readonly path: string;
  readonly stat: Stat | null;
}

export interface Change {
  readonly type: 'created' | 'deleted' | 'dataChanged';
  readonly path: string;
}

export type Outcome =
  | { readonly ok: true; readonly results: readonly OperationResult[]; readonly changes: readonly Change[] }
  | { readonly ok: false; readonly failedOperation: number; readonly error: ErrorCode };

/** The client that requested an operation. */
export interface Author {
  readonly sessionId: bigint;
  readonly identities: readonly Identity[];
}

/**
 * Behaviour of a parent's sequence counter past 2147483647. In ZooKeeper up to 3.4, the counter wraps to
 * -2147483648. Since 3.5, the counter wraps only while several creates are in progress in the server. If only
 * one create is in progress at a time, every create gets 2147483647, so each name can be created only once.
 */
export type SequenceOverflow = 'wraps' | 'sticks';

export interface TreeOptions {
  /** The zxid at which the tree starts. The first transaction gets the next zxid. The default is 0. */
  readonly startZxid?: bigint;
  readonly sequenceOverflow?: SequenceOverflow;
}

interface Znode {
  readonly czxid: bigint;
  readonly ctimeMs: number;
  readonly ephemeralOwner: bigint;
  readonly children: Set<string>;
  mzxid: bigint;
  mtimeMs: number;
  pzxid: bigint;
  version: number;
  aversion: number;
  /**
   * Number of children that have ever been created, as a signed 32-bit number. It is the next sequence
   * number.
   */
  creates: number;
  acl: Acl;
  data: Buffer | null;
}

const root = '/';
const readOnlyAcl: Acl = [{ permissions: permissions.read, identity: { scheme: 'world', id: 'anyone' } }];
const systemPaths = ['/zookeeper', '/zookeeper/quota', '/zookeeper/config'];
const undeletable = new Set([root, ...systemPaths]);

/** Changes that one transaction has made so far, and functions that undo them. */
interface Transaction {
  readonly zxid: bigint;
  readonly nowMs: number;
  readonly author: Author;
  readonly changes: Change[];
  readonly undo: (() => void)[];
}

export class ZnodeTree {
  readonly #nodes = new Map<string, Znode>();
  readonly #ephemerals = new Map<bigint, Set<string>>();
  readonly #overflow: SequenceOverflow;
  #lastZxid: bigint;

  constructor(options: TreeOptions = {}) {
    this.#overflow = options.sequenceOverflow ?? 'wraps';
    this.#lastZxid = options.startZxid ?? 0n;
    this.#nodes.set(root, emptyZnode(openAcl));
    for (const path of systemPaths) {
      this.#nodes.set(path, emptyZnode(path === '/zookeeper/config' ? readOnlyAcl : openAcl));
      this.#find(parentOf(path))?.children.add(nameOf(path));
    }
  }

  /** The zxid of the newest transaction. Failed transactions count too. */
  get lastZxid(): bigint {
    return this.#lastZxid;
  }

  get size(): number {
    return this.#nodes.size;
  }

  get ephemeralCount(): number {
    return [...this.#ephemerals.values()].reduce((sum, paths) => sum + paths.size, 0);
  }

  get dataBytes(): number {
    return [...this.#nodes].reduce((sum, [path, node]) => sum + path.length + (node.data?.length ?? 0), 0);
  }

  /** Uses the next zxid for an event that changes no znode, such as a new session. */
  advance(): bigint {
    this.#lastZxid += 1n;
    return this.#lastZxid;
  }

  /**
   * Applies one transaction. Either all operations are applied, under one zxid, or none of them is applied.
   */
  apply(operations: readonly Operation[], author: Author, nowMs: number): Outcome {
    const transaction: Transaction = { zxid: this.advance(), nowMs, author, changes: [], undo: [] };
    const results: OperationResult[] = [];
    for (const operation of operations) {
      try {
        results.push(this.#perform(operation, transaction));
      } catch (error) {
        for (const step of transaction.undo.reverse()) step();
        if (!(error instanceof ZooKeeperError)) throw error;
        return { ok: false, failedOperation: results.length, error: error.code };
      }
    }
    return { ok: true, results, changes: transaction.changes };
  }

  /** Deletes the znodes that a session owns, under one zxid. */
  removeOwnedBy(sessionId: bigint, nowMs: number): readonly Change[] {
    const author = { sessionId, identities: [] };
    const transaction: Transaction = { zxid: this.advance(), nowMs, author, changes: [], undo: [] };
    for (const path of this.ephemeralsOf(sessionId)) this.#unlink(path, transaction);
    return transaction.changes;
  }

  ephemeralsOf(sessionId: bigint): string[] {
    return [...(this.#ephemerals.get(sessionId) ?? [])];
  }

  stat(path: string): Stat | undefined {
    const node = this.#find(path);
    return node && statOf(node);
  }

  getData(path: string, client: readonly Identity[]): { data: Buffer | null; stat: Stat } {
    const node = this.#get(path);
    demand(node, permissions.read, client, path);
    return { data: node.data, stat: statOf(node) };
  }

  getChildren(path: string, client: readonly Identity[]): { children: string[]; stat: Stat } {
    const node = this.#get(path);
    demand(node, permissions.read, client, path);
    return { children: [...node.children], stat: statOf(node) };
  }

  /** Returns the number of znodes below this one, at any depth. */
  countDescendants(path: string, client: readonly Identity[]): number {
    demand(this.#get(path), permissions.read, client, path);
    const prefix = path === root ? root : `${path}/`;
    return [...this.#nodes.keys()].filter((other) => other !== path && other.startsWith(prefix)).length;
  }

  /** Returns the ACL. `full` is false if the client may see the ACL but not the digests. */
  getAcl(path: string, client: readonly Identity[]): { acl: Acl; stat: Stat; full: boolean } {
    const node = this.#get(path);
    demand(node, permissions.read | permissions.admin, client, path);
    return { acl: node.acl, stat: statOf(node), full: permits(node.acl, permissions.admin, client) };
  }

  /** Sets the sequence number of the next sequential znode under `path` to `next`. */
  setNextSequence(path: string, next: number): void {
    this.#get(path).creates = next | 0;
  }

  #perform(operation: Operation, transaction: Transaction): OperationResult {
    switch (operation.type) {
      case 'create':
        return this.#create(operation, transaction);
      case 'delete':
        return this.#delete(operation, transaction);
      case 'setData':
        return this.#setData(operation, transaction);
      case 'setAcl':
        return this.#setAcl(operation, transaction);
      case 'check':
        return this.#check(operation, transaction);
    }
  }

  // Creates a znode. The checks are in ZooKeeper's order, because the order determines which error a client
  // sees.
  #create(operation: Operation & { type: 'create' }, transaction: Transaction): OperationResult {
    const { author, zxid, nowMs } = transaction;
    const { ephemeral, sequential } = readFlags(operation.flags, operation.path);
    const parentPath = parentOf(operation.path);
    const acl = resolveAcl(operation.acl, author.identities, operation.path);
    const parent = this.#get(parentPath);
    demand(parent, permissions.create, author.identities, operation.path);
    const path = sequential ? operation.path + formatSequence(parent.creates) : operation.path;
    validatePath(path);
    if (this.#nodes.has(path)) throw new ZooKeeperError('NODE_EXISTS', path);
    if (parent.ephemeralOwner !== 0n) throw new ZooKeeperError('NO_CHILDREN_FOR_EPHEMERALS', path);
    const owner = ephemeral ? author.sessionId : 0n;
    const node = { ...emptyZnode(acl, zxid, nowMs, owner), data: operation.data };
    this.#countCreate(parent, transaction);
    this.#link(path, node);
    transaction.undo.push(() => this.#remove(path, node));
    transaction.changes.push({ type: 'created', path });
    return { path, stat: statOf(node) };
  }

  #countCreate(parent: Znode, { zxid, undo }: Transaction): void {
    const next = (parent.creates + 1) | 0;
    if (next < parent.creates && this.#overflow === 'sticks') return;
    const { creates, pzxid } = parent;
    undo.push(() => Object.assign(parent, { creates, pzxid }));
    Object.assign(parent, { creates: next, pzxid: zxid });
  }

  #delete(operation: Operation & { type: 'delete' }, transaction: Transaction): OperationResult {
    const { path } = operation;
    const parentPath = parentOf(path);
    if (undeletable.has(path)) throw new ZooKeeperError('BAD_ARGUMENTS', path);
    demand(this.#get(parentPath), permissions.delete, transaction.author.identities, path);
    const node = this.#get(path);
    expectVersion(node.version, operation.version, path);
    if (node.children.size > 0) throw new ZooKeeperError('NOT_EMPTY', path);
    this.#unlink(path, transaction);
    return { path, stat: null };
  }

  #setData(operation: Operation & { type: 'setData' }, transaction: Transaction): OperationResult {
    const { path } = operation;
    validatePath(path);
    const node = this.#get(path);
    demand(node, permissions.write, transaction.author.identities, path);
    expectVersion(node.version, operation.version, path);
    const { data, version, mzxid, mtimeMs } = node;
    transaction.undo.push(() => Object.assign(node, { data, version, mzxid, mtimeMs }));
    node.data = operation.data;
    node.version = (version + 1) | 0;
    node.mzxid = transaction.zxid;
    node.mtimeMs = transaction.nowMs;
    transaction.changes.push({ type: 'dataChanged', path });
    return { path, stat: statOf(node) };
  }

  #setAcl(operation: Operation & { type: 'setAcl' }, transaction: Transaction): OperationResult {
    const { path } = operation;
    const client = transaction.author.identities;
    validatePath(path);
    const wanted = resolveAcl(operation.acl, client, path);
    const node = this.#get(path);
    demand(node, permissions.admin, client, path);
    expectVersion(node.aversion, operation.version, path);
    const { acl, aversion } = node;
    transaction.undo.push(() => Object.assign(node, { acl, aversion }));
    node.acl = wanted;
    node.aversion = (aversion + 1) | 0;
    return { path, stat: statOf(node) };
  }

  #check(operation: Operation & { type: 'check' }, transaction: Transaction): OperationResult {
    const { path } = operation;
    validatePath(path);
    const node = this.#get(path);
    demand(node, permissions.read, transaction.author.identities, path);
    expectVersion(node.version, operation.version, path);
    return { path, stat: statOf(node) };
  }

  #unlink(path: string, { zxid, changes, undo }: Transaction): void {
    const node = this.#get(path);
    const parent = this.#get(parentOf(path));
    const { pzxid } = parent;
    undo.push(() => {
      this.#link(path, node);
      parent.pzxid = pzxid;
    });
    this.#remove(path, node);
    parent.pzxid = zxid;
    changes.push({ type: 'deleted', path });
  }

  #link(path: string, node: Znode): void {
    this.#nodes.set(path, node);
    this.#get(parentOf(path)).children.add(nameOf(path));
    if (node.ephemeralOwner === 0n) return;
    const owned = this.#ephemerals.get(node.ephemeralOwner);
    if (owned) owned.add(path);
    else this.#ephemerals.set(node.ephemeralOwner, new Set([path]));
  }

  #remove(path: string, node: Znode): void {
    this.#nodes.delete(path);
    this.#get(parentOf(path)).children.delete(nameOf(path));
    const owned = this.#ephemerals.get(node.ephemeralOwner);
    owned?.delete(path);
    if (owned?.size === 0) this.#ephemerals.delete(node.ephemeralOwner);
  }

  #find(path: string): Znode | undefined {
    return this.#nodes.get(path === '' ? root : path);
  }

  #get(path: string): Znode {
    const node = this.#find(path);
    if (!node) throw new ZooKeeperError('NO_NODE', path);
    return node;
  }
}

function readFlags(flags: number, path: string): { ephemeral: boolean; sequential: boolean } {
  if (flags < 0 || flags > lastFlags) throw new ZooKeeperError('BAD_ARGUMENTS', path);
  if (flags >= firstRefusedFlags) throw new ZooKeeperError('UNIMPLEMENTED', path);
  return {
    ephemeral: (flags & createFlags.ephemeral) !== 0,
    sequential: (flags & createFlags.sequential) !== 0,
  };
}

function emptyZnode(acl: Acl, zxid = 0n, nowMs = 0, ephemeralOwner = 0n): Znode {
  return {
    czxid: zxid,
    mzxid: zxid,
    pzxid: zxid,
    ctimeMs: nowMs,
    mtimeMs: nowMs,
    version: 0,
    aversion: 0,
    creates: 0,
    ephemeralOwner,
    acl,
    data: Buffer.alloc(0),
    children: new Set(),
  };
}

function statOf(node: Znode): Stat {
  const { czxid, mzxid, pzxid, ctimeMs, mtimeMs, version, aversion, ephemeralOwner } = node;
  const numChildren = node.children.size;
  return {
    czxid,
    mzxid,
    ctimeMs,
    mtimeMs,
    version,
    // Number of creations and deletions of children.
    cversion: (Math.imul(node.creates, 2) - numChildren) | 0,
    aversion,
    ephemeralOwner,
    dataLength: node.data?.length ?? 0,
    numChildren,
    pzxid,
  };
}

function demand(node: Znode, permission: number, client: readonly Identity[], path: string): void {
  if (!permits(node.acl, permission, client)) throw new ZooKeeperError('NO_AUTH', path);
}

function expectVersion(actual: number, expected: number, path: string): void {
  if (expected !== -1 && expected !== actual) throw new ZooKeeperError('BAD_VERSION', path);
}
