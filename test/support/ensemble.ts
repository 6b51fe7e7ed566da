/**
 * The ZooKeeper that the tests run against. `zookeeper/choose.ts` decides its kind once per run, by
 * PETREL_TEST_ZOOKEEPER. Tests that need more than that kind can do use `describe.skipIf`.
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
/** Whether there can be several servers, and faults between them. */
export const supportsEnsemble = choice.kind !== 'embedded';
/** Whether servers can be started with `tls`, `extraConfig`, `jvmFlags` and `syncLimitTicks`. */
export const supportsServerConfig = choice.kind !== 'embedded';

/** Starts a single server for one test. The caller must stop it, or bind it with `await using`. */
export function startZooKeeper(options: ServerOptions = {}): Promise<TestServer> {
  return startServerOf(choice, options);
}

/** Starts several servers for one test. Resolves once all of them serve clients. */
export function startEnsemble(size = 3, options: ServerOptions = {}): Promise<TestEnsemble> {
  return startEnsembleOf(choice, size, options);
}

/**
 * Returns the connect string of a single server that all tests of a run share. Tests must not harm it, and
 * must work under a `uniqueRoot` or a chroot.
 */
export function sharedZooKeeper(): Promise<string> {
  return oncePerRun(`zookeeper-${choice.kind}`);
}

/**
 * Returns the connect strings of the servers of an ensemble that all tests of a run share. If the kind has no
 * ensembles, there is only one server. Tests must not harm them, and must work under a `uniqueRoot`.
 */
export async function sharedEnsemble(): Promise<readonly string[]> {
  return (await oncePerRun(`ensemble-${choice.kind}`)).split(',');
}
