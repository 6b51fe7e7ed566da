/**
 * An election in the form that the laboratory uses: the program of a node, and the theoretical expectations.
 */
import type { Conditions } from './conditions.js';

export interface Timer {
  /** Makes the timer fire once after `ms`. Replaces any time that was set before. */
  set(ms: number): void;
  stop(): void;
}

/**
 * The information and actions available to a node. Nodes are numbered from 0. In an election that needs ids,
 * the number is the id.
 */
export interface Context<Message> {
  readonly id: number;
  readonly n: number;
  readonly conditions: Conditions;
  readonly random: () => number;
  /** A number that all nodes of a run share, and from which they derive common data. */
  readonly seed: number;
  nowMs(): number;
  /** The number of this incarnation of the node, counted from 0. */
  readonly incarnation: number;
  /**
   * Sends one message to one node or to the server. `count` is the number of messages that this one
   * represents. A message with a `count` of 0 is not counted.
   */
  send(to: number, message: Message, count?: number): void;
  /** Sends a separate message to each other node. */
  sendAll(message: Message): void;
  /** Sends one message, whose copies go to all other nodes. */
  multicast(message: Message): void;
  /**
   * Returns the next node on the ring that this node does not believe to be dead. Returns this node if there
   * is no other.
   */
  successor(): number;
  predecessor(): number;
  isSuspected(node: number): boolean;
  /** Treats another node as dead until that node sends a message. */
  doubt(node: number): void;
  timer(fire: () => void): Timer;
  /** Sets the leader that this node recognizes: itself, another, `nobody` or `somebodyElse`. */
  follow(leader: number): void;
  /** The leader that this node recognizes. */
  leader(): number;
  /** Counts an event that matters only for this algorithm. */
  count(what: string, by?: number): void;
}

/** One incarnation of a node. */
export interface Node<Message> {
  /** Called once, at the start. `initiates` says whether this node is among those that begin the election. */
  start(initiates: boolean): void;
  receive(message: Message, from: number): void;
  /**
   * Reports that a node is dead. The report may be wrong. `incarnation` is the number of the reported node's
   * incarnation, counted from 0.
   */
  suspect?(node: number, incarnation: number): void;
  /** Reports that a node is alive after it was reported dead. */
  restored?(node: number): void;
  /** Called before the node leaves. The node may announce its departure. */
  leave?(): void;
}

export interface Expectation {
  readonly measure: string;
  readonly value: number;
  /** A `mean` is compared with the mean over all runs. The other kinds must hold in each run. */
  readonly kind: 'exact' | 'mean' | 'at most' | 'at least';
  /** The formula behind the expectation, or the reason for it. */
  readonly source: string;
}

export interface Protocol<Message> {
  readonly name: string;
  /** One-line description for users. */
  readonly title: string;
  /**
   * Whether lost copies are sent again until they arrive, as with TCP. If false, the protocol handles loss
   * itself.
   */
  readonly isReliable: boolean;
  /**
   * The nodes that a failure detector notifies of crashes: all nodes, or only the server. `none` means that
   * the protocol itself detects crashes.
   */
  readonly detector: 'nodes' | 'server' | 'none';
  /**
   * Whether a node's code continues asynchronously, in promises. The simulation waits for that code to finish
   * before the next event.
   */
  readonly isAsync?: boolean;
  /** Returns the size of a message. By default, a number counts as 8 bytes and a kind as 1 byte. */
  size?(message: Message): number;
  node(context: Context<Message>): Node<Message>;
  /** Creates the server that all nodes use. Its number is `n`, and it never fails. */
  server?(context: Context<Message>): Node<Message>;
  /** Returns the expectations that apply if failure detectors miss no crashes and make no mistakes. */
  expect(conditions: Conditions): readonly Expectation[];
  /** Expectations that apply under all conditions. */
  readonly always?: readonly Expectation[];
}
