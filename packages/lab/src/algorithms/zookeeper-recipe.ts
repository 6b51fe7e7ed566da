/**
 * ZooKeeper's recipe: every node creates a sequential ephemeral znode, and the node with the lowest znode
 * becomes the leader. In one variant, each node watches the znode just below its own. When a znode
 * disappears, only one node wakes. In the other variant, all nodes watch the lowest znode. When that znode
 * disappears, all of them wake. This is the herd effect.
 *
 * The simulation leaves out the traffic between ZooKeeper's own servers, and the pings that keep sessions
 * alive.
 */

import { type Algorithm, algorithm } from '../algorithm.js';
import { nobody, somebodyElse } from '../census.js';
import type { Conditions } from '../conditions.js';
import type { Context, Expectation, Node } from '../protocol.js';

interface Znode {
  readonly sequence: number;
  readonly owner: number;
  readonly incarnation: number;
}

type Message =
  | { readonly kind: 'create'; readonly incarnation: number }
  | { readonly kind: 'created'; readonly sequence: number }
  | { readonly kind: 'list' }
  | { readonly kind: 'children'; readonly children: readonly Znode[] }
  | { readonly kind: 'watch'; readonly sequence: number }
  | { readonly kind: 'watched'; readonly isThere: boolean }
  | { readonly kind: 'gone' }
  | { readonly kind: 'close'; readonly incarnation: number };

/**
 * The znode that a node watches. `below` is the znode just below its own. `lowest` is the lowest znode of
 * all. This choice causes the herd effect. `misprint` is the znode with the largest number j ≥ i, where i is
 * the node's own number. This is a misprint in one version of the recipe. Such a znode is never below the
 * node's own, so no node wakes.
 */
export type Watches = 'below' | 'lowest' | 'misprint';

class Client implements Node<Message> {
  readonly #context: Context<Message>;
  readonly #watches: Watches;
  #own = -1;

  constructor(context: Context<Message>, watches: Watches) {
    this.#context = context;
    this.#watches = watches;
  }

  start(): void {
    this.#request({ kind: 'create', incarnation: this.#context.incarnation });
  }

  receive(message: Message): void {
    switch (message.kind) {
      case 'created':
        this.#own = message.sequence;
        this.#request({ kind: 'list' });
        break;
      case 'children':
        this.#look(message.children);
        break;
      case 'watched':
        if (!message.isThere) this.#request({ kind: 'list' });
        break;
      case 'gone':
        this.#context.count('wake-ups');
        this.#request({ kind: 'list' });
        break;
    }
  }

  /**
   * Reads the list of znodes again instead of trusting the report. If a client could not reach ZooKeeper for
   * a whole session timeout, it knows that its session has ended.
   */
  suspect(node: number): void {
    if (node === this.#context.n) {
      this.#own = -1;
      this.#context.follow(nobody);
      return;
    }
    if (this.#own !== -1 && this.#context.leader() !== this.#context.id) this.#request({ kind: 'list' });
  }

  /** Opens a new session with ZooKeeper. */
  restored(): void {
    if (this.#own === -1) this.start();
  }

  leave(): void {
    this.#request({ kind: 'close', incarnation: this.#context.incarnation });
  }

  #request(message: Message): void {
    this.#context.send(this.#context.n, message);
  }

  #look(children: readonly Znode[]): void {
    const [lowest] = children;
    if (lowest === undefined) return;
    if (lowest.sequence === this.#own) {
      this.#context.follow(this.#context.id);
      return;
    }
    // Only a node that watches the lowest znode notices when another node's znode becomes the lowest. If the
    // lowest znode belongs to an earlier incarnation of this node, this node is not the leader.
    const isKnown = this.#watches === 'lowest' && lowest.owner !== this.#context.id;
    this.#context.follow(isKnown ? lowest.owner : somebodyElse);
    const watched = watchedBy(this.#watches, children, this.#own);
    if (watched !== undefined) this.#request({ kind: 'watch', sequence: watched.sequence });
  }
}

function watchedBy(watches: Watches, children: readonly Znode[], own: number): Znode | undefined {
  switch (watches) {
    case 'lowest':
      return children[0];
    case 'below':
      return children.findLast(({ sequence }) => sequence < own);
    case 'misprint':
      return children.findLast(({ sequence }) => sequence >= own);
  }
}

class Ensemble implements Node<Message> {
  readonly #context: Context<Message>;
  /** The znodes, ordered by sequence number. */
  #children: readonly Znode[] = [];
  #made = 0;
  readonly #watchers = new Map<number, Set<number>>();

  constructor(context: Context<Message>) {
    this.#context = context;
  }

  start(): void {}

  receive(message: Message, from: number): void {
    const { send } = this.#context;
    switch (message.kind) {
      case 'create':
        this.#children = [
          ...this.#children,
          { sequence: this.#made, owner: from, incarnation: message.incarnation },
        ];
        send(from, { kind: 'created', sequence: this.#made });
        this.#made += 1;
        break;
      case 'list':
        send(from, { kind: 'children', children: this.#children });
        break;
      case 'watch':
        send(from, { kind: 'watched', isThere: this.#watch(message.sequence, from) });
        break;
      case 'close':
        this.#remove(from, message.incarnation);
        break;
    }
  }

  /** Ends the session of an incarnation. */
  suspect(node: number, incarnation: number): void {
    this.#remove(node, incarnation);
  }

  #watch(sequence: number, client: number): boolean {
    if (!this.#children.some((child) => child.sequence === sequence)) return false;
    const watchers = this.#watchers.get(sequence) ?? new Set();
    this.#watchers.set(sequence, watchers.add(client));
    return true;
  }

  #remove(owner: number, incarnation: number): void {
    const gone = this.#children.filter((child) => child.owner === owner && child.incarnation === incarnation);
    this.#children = this.#children.filter((child) => !gone.includes(child));
    for (const { sequence } of gone) {
      for (const client of this.#watchers.get(sequence) ?? []) this.#context.send(client, { kind: 'gone' });
      this.#watchers.delete(sequence);
    }
  }
}

function expect({ scenario, nodes: n, loss }: Conditions, watches: Watches): Expectation[] {
  if (loss > 0 || n < 3 || (scenario !== 'crash' && scenario !== 'bye')) return [];
  if (watches === 'misprint') return [];
  const value = watches === 'lowest' ? n - 1 : 1;
  const source = watches === 'lowest' ? 'N−1: all other nodes (the herd)' : '1: only the next node';
  return [{ measure: 'wake-ups', value, kind: 'exact', source }];
}

export function zooKeeperRecipe(name: string, title: string, watches: Watches): Algorithm {
  return algorithm<Message>({
    name,
    title,
    isReliable: true,
    detector: 'server',
    size: (message) => (message.kind === 'children' ? 1 + 16 * message.children.length : 9),
    node: (context) => new Client(context, watches),
    server: (context) => new Ensemble(context),
    expect: (conditions) => expect(conditions, watches),
  });
}

export const zooKeeperRecipes: readonly Algorithm[] = [
  zooKeeperRecipe('zk-recipe', 'ZooKeeper’s recipe', 'below'),
  zooKeeperRecipe('zk-herd', 'ZooKeeper’s recipe with the herd', 'lowest'),
];
