/** What an election is to the laboratory: the program of a node, and what theory says of it. */
import type { Conditions } from './conditions.js';

export interface Timer {
  /** Fires once, so long after now, instead of whenever it was to. */
  set(ms: number): void;
  stop(): void;
}

/**
 * What a node may know and do. Nodes are numbered from 0; where an election wants ids, the number is the id.
 */
export interface Context<Message> {
  readonly id: number;
  readonly n: number;
  readonly conditions: Conditions;
  readonly random: () => number;
  /** The same for all nodes of a run: for what they were given in common. */
  readonly seed: number;
  nowMs(): number;
  /** Which life of the node this is, from 0. */
  readonly life: number;
  /**
   * One message to one node, or to the server; `count`: that stands for so many, sent at once. 0: it is left
   * out of whatever is counted.
   */
  send(to: number, message: Message, count?: number): void;
  /** One message for each other node. */
  sendAll(message: Message): void;
  /** One message, of which all others get a copy. */
  multicast(message: Message): void;
  /** The neighbours on the ring that this node does not believe dead; itself where it is alone. */
  successor(): number;
  predecessor(): number;
  isSuspected(node: number): boolean;
  /** Believes a node dead from now on, until it speaks. */
  doubt(node: number): void;
  timer(fire: () => void): Timer;
  /** Takes somebody for the leader: itself, another, `nobody` or `somebodyElse`. */
  follow(leader: number): void;
  /** Whom it takes for the leader. */
  leader(): number;
  /** Counts what is of interest in this election alone. */
  count(what: string, by?: number): void;
}

/** One life of a node. */
export interface Node<Message> {
  /** Once, when it begins; `initiates`: it is among those that are to begin the election. */
  start(initiates: boolean): void;
  receive(message: Message, from: number): void;
  /** It is told that a node is dead, which may not be true. `life`: of the node, from 0. */
  suspect?(node: number, life: number): void;
  /** It is told that a node that it was to believe dead is not. */
  restored?(node: number): void;
  /** It is about to leave, and may say so. */
  leave?(): void;
}

export interface Expectation {
  readonly measure: string;
  readonly value: number;
  /** `mean`: of runs; `exact`: in each run. */
  readonly kind: 'exact' | 'mean' | 'at most' | 'at least';
  /** Where it is from, and what is to be known of it. */
  readonly source: string;
}

export interface Protocol<Message> {
  readonly name: string;
  /** One line for people. */
  readonly title: string;
  /**
   * Lost copies are sent again until they arrive, as TCP does; otherwise the protocol sees to loss itself.
   */
  readonly isReliable: boolean;
  /**
   * Whom a failure detector tells of crashes: all nodes, or the server alone; none where the protocol sees to
   * that itself.
   */
  readonly detector: 'nodes' | 'server' | 'none';
  /** A node's code continues in promises. It comes to rest before the next event. */
  readonly isAsync?: boolean;
  /** What a message would take: without it, 8 bytes a number and 1 a kind. */
  size?(message: Message): number;
  node(context: Context<Message>): Node<Message>;
  /** A server that all nodes use, numbered `n`. It never fails. */
  server?(context: Context<Message>): Node<Message>;
  /** Where failure detectors neither miss anything nor err. */
  expect(conditions: Conditions): readonly Expectation[];
  /** Whatever happens. */
  readonly always?: readonly Expectation[];
}
