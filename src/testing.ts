/**
 * A ZooKeeper development server for your own tests. The server runs inside the test's process.
 *
 * ```ts
 * await using server = await startDevelopmentServer();
 * const petrel = await Petrel.join({ zookeeper: server.connectString });
 * …
 * server.expireSession(id); // or freeze(), dropConnections(), halt() and restart()
 * ```
 */

export type { Commit, Write, WriteOperation } from './embedded/commit.js';
export {
  type DevelopmentServer,
  type DevelopmentServerOptions,
  startDevelopmentServer,
} from './embedded/server.js';
export type { Moment, Standstill } from './embedded/standstill.js';
export type { SessionTraffic } from './embedded/traffic.js';
export type { SequenceOverflow } from './embedded/tree.js';
export {
  type TriedConstraintNode,
  type TriedContext,
  tryConstraint,
} from './own-strategies/try-constraint.js';
export { type TriedInput, type TriedNode, tryStrategy } from './own-strategies/try-strategy.js';
