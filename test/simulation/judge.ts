/**
 * Watches a simulated group and reports a broken promise at the step that breaks it. The judge knows the
 * tree, the hooks and what nodes report, but not how nodes decide.
 *
 * The judge permits two things, because the documentation does not promise otherwise. One is an overlap after
 * a claim was deleted by hand. The other is a workload on a machine where neither the agent nor its
 * supervisor is left to end it.
 */

import type { Database } from '../../src/embedded/database.js';
import { groupConfigSchema } from '../../src/model/group-config.js';
import { type GroupPaths, pathsOfSlot } from '../../src/model/paths.js';
import { claimSchema, electedSchema } from '../../src/model/znodes.js';
import type { Commit, Transaction } from './ensemble.js';
import { Guards } from './guards.js';
import { inSlot, type Picture } from './ledger.js';
import type { Group, Machine } from './machine.js';
import type { Node } from './node.js';
import type { Setup } from './setup.js';
import type { World } from './world.js';

/**
 * The invariant's number in docs/reference/protocol.md. 0 means that an agent ended unexpectedly. 9 means
 * that another rule of that page was broken.
 */
export type Invariant = 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9;

export type Violate = (invariant: Invariant, what: string) => void;

export interface Violation {
  readonly invariant: Invariant;
  readonly what: string;
}

type Write = Extract<Transaction, { kind: 'write' }>;

interface ClaimSeen {
  readonly node: string;
  readonly token: bigint;
  readonly owner: bigint;
  readonly isReady: boolean;
}

/** The last known state of one slot. */
interface SlotSeen {
  readonly slot: number;
  readonly paths: GroupPaths;
  claim: ClaimSeen | null;
  term: number;
}

/**
 * Maximum number of nodes that one departure may wake: the elector, the next elector, the node with the next
 * higher seat, the elected node, and an operator who is watching.
 */
const wokenByOneDeparture = 5;

export class Judge {
  violation: Violation | null = null;
  transitions = 0;
  claims = 0;
  permittedOverlaps = 0;
  /** Number of committed writes, not counting a leader's lease renewals. */
  writes = 0;
  readonly #slots: readonly SlotSeen[];
  /** Claims that may be removed, because a correct fence hook or an operator reported the workload dead. */
  readonly #mayBeRemoved = new Set<bigint>();
  readonly guards = new Guards();
  readonly #permittedUntilMs = new Map<bigint, number>();
  /** Claims that their owner deleted. */
  readonly #released = new Set<bigint>();
  readonly #world: World;
  readonly #paths: GroupPaths;
  readonly #nodes: readonly Node[];
  readonly #leaseMs: number;
  readonly #hasMemory: boolean;
  #newestToken = 0n;
  #tokenEpoch = 0;
  /** The greatest token that each node has certainly seen under the current `tokenEpoch`. */
  readonly #seenTokens = new Map<Node, bigint>();
  readonly #limits = new Map<string, string | null>();

  /**
   * Expects that no lease lasts longer than the session timeout, and that there are never more slots than
   * `slots`.
   */
  constructor(
    world: World,
    paths: GroupPaths,
    nodes: readonly Node[],
    { sessionTimeoutMs, slots, hasMemory }: Pick<Setup, 'sessionTimeoutMs' | 'slots' | 'hasMemory'>,
  ) {
    this.#hasMemory = hasMemory;
    this.#leaseMs = 1.1 * sessionTimeoutMs;
    this.#slots = Array.from({ length: slots }, (_, index) => {
      return { slot: index + 1, paths: pathsOfSlot(paths, index + 1), claim: null, term: 0 };
    });
    this.#world = world;
    this.#paths = paths;
    this.#nodes = nodes;
  }

  /** Returns the current claim of a slot. Null if there is none. */
  claimIn(slot: number): ClaimSeen | null {
    return this.#slots.find((one) => one.slot === slot)?.claim ?? null;
  }

  /** All current claims, starting with the first slot's. */
  get standing(): readonly ClaimSeen[] {
    return this.#slots.flatMap(({ claim }) => (claim === null ? [] : [claim]));
  }

  violate(invariant: Invariant, what: string): void {
    if (this.violation !== null) return;
    this.violation = { invariant, what };
    this.#world.note(() => `VIOLATION of invariant ${invariant}: ${what}`);
  }

  // -- Hooks and what nodes report

  started(node: Node, group: Group): void {
    this.guards.begun(node, group);
    if (group.phase !== 'takeover' && group.phase !== 'release') return;
    if (group.phase === 'takeover') this.#takesOver(node, group.token);
    for (const other of this.#nodes) {
      const { fencingToken: token, slot } = other.agent?.status ?? { fencingToken: null, slot: null };
      const isSame = slot === group.slot || other.name === node.name;
      const leads = other !== node && isSame && other.saysItLeads && !this.isPermitted(token ?? 0n);
      if (group.phase === 'takeover' && leads) {
        this.violate(2, `${other.name} says that it leads while the takeover of ${node.name} starts`);
      }
      for (const held of other.machine.groups) {
        if (held.phase !== 'takeover' && (held.phase !== 'release' || group.phase === 'release')) continue;
        const isOwn = other === node && held.token === group.token;
        // Leaders of two slots do not exclude each other.
        const isApart = held.slot !== group.slot && other.name !== node.name;
        if (!isOwn && !isApart) this.#overlap(node, group, other, held);
      }
    }
  }

  /** Checks that a node takes over only under a token that is greater than all that it has seen. */
  #takesOver(node: Node, token: bigint): void {
    const greatest = this.#seenTokens.get(node) ?? 0n;
    if (token < greatest)
      this.violate(3, `${node.name} takes over under token ${token}, and has seen token ${greatest}`);
    this.sees(node, token);
  }

  /** Records that a node has certainly seen a token, and remembers it whatever happens to its processes. */
  sees(node: Node, token: bigint): void {
    const greatest = this.#seenTokens.get(node) ?? 0n;
    if (this.#hasMemory && token > greatest) this.#seenTokens.set(node, token);
  }

  #overlap(node: Node, group: Group, other: Node, held: Group): void {
    // Not promised: a takeover may overlap a workload that survives SIGKILL. Such an overlap is a violation
    // only if the workload's claim was released deliberately.
    const isStuck = (machine: Machine, { token }: Group) =>
      !this.#released.has(token) && machine.groups.some((one) => one.isUndying && one.token === token);
    const hasOutlived = isStuck(other.machine, held) || isStuck(node.machine, group);
    const isUnguarded = !this.guards.isGuarded(other, held) || !this.guards.isGuarded(node, group);
    if (hasOutlived || isUnguarded || this.isPermitted(held.token) || this.isPermitted(group.token)) {
      this.permittedOverlaps += 1;
      return;
    }
    const what = `${group.phase} of ${node.machine.name} (token ${group.token}) starts`;
    this.violate(
      2,
      `${what} while the ${held.phase} group of ${other.machine.name} (token ${held.token}) lives`,
    );
  }

  /**
   * Whether a session belongs to an operator. An operator may delete a claim whose leader is still working.
   */
  isByHand: (session: bigint) => boolean = () => false;

  /** Whether an operator has requested the deletion of a claim. */
  mayDeleteByHand: () => boolean = () => false;

  /**
   * Whether the claim was taken from its owner recently. What the owner runs and reports may continue until
   * the owner's lease ends.
   */
  isPermitted(token: bigint): boolean {
    return this.#world.nowMs < (this.#permittedUntilMs.get(token) ?? Number.NEGATIVE_INFINITY);
  }

  /** Whether an operator or a fence has ever taken the claim from its owner. */
  wasTaken(token: bigint): boolean {
    return this.#permittedUntilMs.has(token);
  }

  #permit(token: bigint): void {
    this.#permittedUntilMs.set(token, this.#world.nowMs + this.#leaseMs);
  }

  fenced(target: string): void {
    for (const { node, token } of this.standing) if (node === target) this.#mayBeRemoved.add(token);
  }

  // -- The tree

  /**
   * Continues with the restored data of an ensemble. Tokens start over, and some may appear again. All leases
   * from before the restore must be over.
   */
  restored(picture: Picture): void {
    for (const seen of this.#slots) {
      const { claim, elected } = inSlot(picture, seen.slot);
      seen.term = elected?.content.term ?? 0;
      seen.claim = claim && {
        node: claim.content.node,
        token: claim.id,
        owner: claim.owner,
        isReady: claim.readySinceMs !== null,
      };
    }
    this.#newestToken = 0n;
    this.#mayBeRemoved.clear();
    this.#released.clear();
    this.#permittedUntilMs.clear();
    this.#limits.clear();
  }

  committed({ transaction, truth, changes, ok }: Commit): void {
    if (transaction.kind === 'open') return;
    if (transaction.kind === 'close') {
      for (const seen of this.#slots) {
        if (seen.claim?.owner !== transaction.session) continue;
        // The session was closed deliberately, so its claim was released deliberately.
        if (transaction.silence === undefined) this.#released.add(seen.claim.token);
        seen.claim = null;
      }
      return;
    }
    if (!ok) return;
    this.#count(transaction);
    const touched = new Set(changes.map(({ path }) => path));
    for (const seen of this.#slots) {
      const { elected, current } = seen.paths;
      if (changes.some(({ type, path }) => type === 'created' && path === elected)) seen.term = 0;
      if (touched.has(elected)) this.#electedChanged(truth, transaction, seen);
      if (touched.has(current)) this.#claimChanged(truth, transaction, seen);
    }
    if (touched.has(this.#paths.config)) this.#configChanged(truth, transaction);
  }

  #count({ operations, session }: Write): void {
    const done = operations.filter(({ type }) => type !== 'check');
    if (done.length === 0) return;
    this.writes += 1;
    this.#world.note(
      () =>
        `written by ${this.#world.nameOf(session)}: ${done.map(({ type, path }) => `${type} ${path}`).join(', ')}`,
    );
  }

  #read(truth: Database, path: string, { session }: Write) {
    try {
      const { data, stat } = truth.getData(path, { sessionId: session, watcher: 0, identities: [] }, false);
      return { json: JSON.parse(data?.toString('utf8') || 'null') as unknown, stat };
    } catch {
      return null;
    }
  }

  #electedChanged(truth: Database, write: Write, seen: SlotSeen): void {
    const read = this.#read(truth, seen.paths.elected, write);
    const elected = electedSchema.safeParse(read?.json);
    if (!elected.success) return;
    if (elected.data.term > seen.term) this.transitions += 1;
    if (elected.data.term < seen.term)
      this.violate(3, `the term falls from ${seen.term} to ${elected.data.term}`);
    seen.term = elected.data.term;
    for (const { node, failedAt, until } of elected.data.failures) {
      this.#limit(`backoff of ${node} for ${failedAt}`, until);
    }
  }

  /** Checks that the end of a limit, once set, is never postponed. */
  #limit(name: string, until: string | null): void {
    const known = this.#limits.get(name);
    if (known != null && until !== null && until > known) {
      this.violate(8, `the end of the ${name} moves from ${known} to ${until}`);
    }
    this.#limits.set(name, until ?? known ?? null);
  }

  #configChanged(truth: Database, write: Write): void {
    const config = groupConfigSchema.safeParse(this.#read(truth, this.#paths.config, write)?.json);
    if (!config.success) return;
    if (config.data.tokenEpoch > this.#tokenEpoch) this.#seenTokens.clear();
    this.#tokenEpoch = Math.max(this.#tokenEpoch, config.data.tokenEpoch);
    for (const [site, { override }] of Object.entries(config.data.sites)) {
      if (override !== null) this.#limit(`override of ${site} of ${override.at}`, override.until);
    }
  }

  #claimChanged(truth: Database, write: Write, seen: SlotSeen): void {
    const before = seen.claim;
    const read = this.#read(truth, seen.paths.current, write);
    const content = claimSchema.safeParse(read?.json);
    if (read === null || !content.success) {
      seen.claim = null;
      if (before !== null) this.#claimDeleted(before, write);
      return;
    }
    const token = read.stat.czxid;
    const { node, status } = content.data;
    seen.claim = { node, token, owner: read.stat.ephemeralOwner, isReady: status === 'READY' };
    this.#ownsOne(seen, seen.claim);
    if (before?.token !== token) {
      this.claims += 1;
      if (token <= this.#newestToken) this.violate(3, `token ${token} after token ${this.#newestToken}`);
      this.#newestToken = token;
    }
    if (status !== 'READY') return;
    if (before?.token !== token) this.violate(4, `${node} is READY without having been in PROGRESS`);
    const elected = electedSchema.safeParse(this.#read(truth, seen.paths.elected, write)?.json);
    if (elected.data?.node !== node) {
      this.violate(4, `READY is written by ${node} while ${elected.data?.node ?? 'nobody'} is elected`);
    }
  }

  /** Checks that no node has claims in two slots, whether in one session or in two. */
  #ownsOne({ slot }: SlotSeen, { node, owner }: ClaimSeen): void {
    const second = this.#slots.find(({ slot: other, claim }) => {
      return other !== slot && claim !== null && (claim.owner === owner || claim.node === node);
    });
    if (second !== undefined)
      this.violate(1, `${node} has a claim in slot ${slot}, and in slot ${second.slot}`);
  }

  #claimDeleted(claim: ClaimSeen, { session }: Write): void {
    this.#world.note(() => `claim of ${claim.node}, token ${claim.token}, is deleted`);
    if (session === claim.owner) this.#released.add(claim.token);
    if (session === claim.owner) return;
    if (this.#mayBeRemoved.has(claim.token)) {
      this.#permit(claim.token);
      return;
    }
    if (this.isByHand(session) && this.mayDeleteByHand()) {
      this.#permit(claim.token);
      return;
    }
    this.violate(1, `the claim of ${claim.node}, token ${claim.token}, is deleted by another session`);
  }

  /** Checks the number of nodes that one departure woke. */
  woken(count: number): void {
    if (count > wokenByOneDeparture) this.violate(7, `${count} nodes are woken by one departure`);
  }
}
