/**
 * The ZooKeeper that the tests run against. Its kind is decided once per run (`zookeeper/choose.ts`, by
 * PETREL_TEST_ZOOKEEPER). Tests request what they need, and use `describe.skipIf` for what that kind cannot
 * do.
 */
import { inject } from 'vitest';
import { oncePerRun } from './once-per-run.js';
import type { ZooKeeperChoice } from './zookeeper/choose.js';
import type { ServerOptions, TestEnsemble, TestServer } from './zookeeper/server.js';
import { startEnsembleOf, startServerOf } from './zookeeper/start.js';

export { uniqueRoot } from './unique-root.js';
export type { ServerOptions, TestEnsemble, TestServer, TlsOptions } from './zookeeper/server.js';

const choice: ZooKeeperChoice = inject('zooKeeper');

export const zooKeeperKind = choice.kind;
/** Several servers, and faults between them. */
export const supportsEnsemble = choice.kind !== 'embedded';
/** `tls`, `extraConfig`, `jvmFlags`, `syncLimitTicks`. */
export const supportsServerConfig = choice.kind !== 'embedded';

/** Starts a single server for one test. Stop it when done, or bind it with `await using`. */
export function startZooKeeper(options: ServerOptions = {}): Promise<TestServer> {
  return startServerOf(choice, options);
}

/** Starts several servers for one test. Resolves once all of them serve clients. */
export function startEnsemble(size = 3, options: ServerOptions = {}): Promise<TestEnsemble> {
  return startEnsembleOf(choice, size, options);
}

/**
 * The connect string of a single server that all tests of a run share. Do not harm it, and work under a
 * `uniqueRoot` or a chroot.
 */
export function sharedZooKeeper(): Promise<string> {
  return oncePerRun(`zookeeper-${choice.kind}`);
}

/**
 * The connect strings of the servers of an ensemble that all tests of a run share. Where the kind has no
 * ensembles, it is one server. Do not harm it, and work under a `uniqueRoot`.
 */
export async function sharedEnsemble(): Promise<readonly string[]> {
  return (await oncePerRun(`ensemble-${choice.kind}`)).split(',');
}
