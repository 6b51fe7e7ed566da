/** An election as the laboratory sees it: the program of a node, and the expectations of theory. */
import type { Conditions } from './conditions.js';

export interface Timer {
  /** Makes the timer fire once after `ms`. Replaces the time set before. */
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
  /** A number that all nodes of a run share. Nodes derive common data from it. */
  readonly seed: number;
  nowMs(): number;
  /** The number of this incarnation of the node, from 0. */
  readonly incarnation: number;
  /**
   * Sends one message to one node or to the server. `count` is the number of messages that this one
   * represents. A message with a `count` of 0 is not counted.
   */
  send(to: number, message: Message, count?: number): void;
  /** Sends one message to each other node. */
  sendAll(message: Message): void;
  /** Sends one message, with a copy to each other node. */
  multicast(message: Message): void;
  /**
   * Returns the next node on the ring that this node does not believe dead. Returns this node if there is no
   * other.
   */
  successor(): number;
  predecessor(): number;
  isSuspected(node: number): boolean;
  /** Treats a node as dead until it sends a message. */
  doubt(node: number): void;
  timer(fire: () => void): Timer;
  /** Sets the leader that this node recognizes: itself, another, `nobody` or `somebodyElse`. */
  follow(leader: number): void;
  /** The leader that this node recognizes. */
  leader(): number;
  /** Counts an event that matters only in this election. */
  count(what: string, by?: number): void;
}

/** One incarnation of a node. */
export interface Node<Message> {
  /** Called once, at the start. `initiates` says whether this node is among those that begin the election. */
  start(initiates: boolean): void;
  receive(message: Message, from: number): void;
  /**
   * Reports that a node is dead. The report may be wrong. `incarnation` is that of the reported node,
   * from 0.
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
  /** A `mean` is compared with the mean over all runs. The other kinds apply to each run. */
  readonly kind: 'exact' | 'mean' | 'at most' | 'at least';
  /** Where the expectation comes from, and how to read it. */
  readonly source: string;
}

export interface Protocol<Message> {
  readonly name: string;
  /** One-line description for readers. */
  readonly title: string;
  /**
   * Whether lost copies are sent again until they arrive, as with TCP. If false, the protocol handles loss
   * itself.
   */
  readonly isReliable: boolean;
  /**
   * The nodes that a failure detector notifies of crashes: all nodes, or only the server. `none` means that
   * the protocol detects crashes itself.
   */
  readonly detector: 'nodes' | 'server' | 'none';
  /** Whether a node's code continues in promises. The simulation lets it finish before the next event. */
  readonly isAsync?: boolean;
  /** Returns the size of a message. By default, a number counts 8 bytes and a kind 1 byte. */
  size?(message: Message): number;
  node(context: Context<Message>): Node<Message>;
  /** Creates the server that all nodes use. Its number is `n`, and it never fails. */
  server?(context: Context<Message>): Node<Message>;
  /** Returns the expectations that apply if failure detectors miss nothing and make no mistakes. */
  expect(conditions: Conditions): readonly Expectation[];
  /** Expectations that apply under all conditions. */
  readonly always?: readonly Expectation[];
}
