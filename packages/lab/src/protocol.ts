/** An election as the laboratory sees it: the program of a node, and the expectations of theory. */
import type { Conditions } from './conditions.js';

export interface Timer {
  /** Fires once after `ms`, instead of at the time set before. */
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
  /** The same for all nodes of a run. Nodes derive shared data from it. */
  readonly seed: number;
  nowMs(): number;
  /** Which incarnation of the node this is, from 0. */
  readonly life: number;
  /**
   * Sends one message to one node or to the server. `count`: the number of messages, sent together, that it
   * represents. 0: it is not counted.
   */
  send(to: number, message: Message, count?: number): void;
  /** Sends one message to each other node. */
  sendAll(message: Message): void;
  /** Sends one message, with a copy to each other node. */
  multicast(message: Message): void;
  /** The neighbours on the ring that this node does not believe dead. The node itself if it is alone. */
  successor(): number;
  predecessor(): number;
  isSuspected(node: number): boolean;
  /** Believes a node dead until it sends a message. */
  doubt(node: number): void;
  timer(fire: () => void): Timer;
  /** Sets the leader that this node recognizes: itself, another, `nobody` or `somebodyElse`. */
  follow(leader: number): void;
  /** The leader that this node recognizes. */
  leader(): number;
  /** Counts something that matters only in this election. */
  count(what: string, by?: number): void;
}

/** One incarnation of a node. */
export interface Node<Message> {
  /** Called once, at the start. `initiates`: whether it is among the nodes that begin the election. */
  start(initiates: boolean): void;
  receive(message: Message, from: number): void;
  /** Reports that a node is dead, which may be wrong. `life`: the incarnation of that node, from 0. */
  suspect?(node: number, life: number): void;
  /** Reports that a node that was reported dead is alive. */
  restored?(node: number): void;
  /** Called before the node leaves. The node may announce it. */
  leave?(): void;
}

export interface Expectation {
  readonly measure: string;
  readonly value: number;
  /** `mean`: over all runs. `exact`: in each run. */
  readonly kind: 'exact' | 'mean' | 'at most' | 'at least';
  /** Where the expectation comes from, and how to read it. */
  readonly source: string;
}

export interface Protocol<Message> {
  readonly name: string;
  /** One line for readers. */
  readonly title: string;
  /**
   * Whether lost copies are sent again until they arrive, as with TCP. Otherwise the protocol handles loss
   * itself.
   */
  readonly isReliable: boolean;
  /**
   * Which nodes a failure detector notifies of crashes: all nodes, or only the server. `none` if the protocol
   * detects crashes itself.
   */
  readonly detector: 'nodes' | 'server' | 'none';
  /** Whether a node's code continues in promises. It comes to rest before the next event. */
  readonly isAsync?: boolean;
  /** The size of a message. Without this function: 8 bytes for a number and 1 for a kind. */
  size?(message: Message): number;
  node(context: Context<Message>): Node<Message>;
  /** A server that all nodes use, numbered `n`. It never fails. */
  server?(context: Context<Message>): Node<Message>;
  /** Expectations that apply if failure detectors miss nothing and make no mistakes. */
  expect(conditions: Conditions): readonly Expectation[];
  /** Expectations that always apply. */
  readonly always?: readonly Expectation[];
}
