/**
 * The ZooKeeper that the tests run against. Which kind it is, is decided once a run (`zookeeper/choose.ts`,
 * by PETREL_TEST_ZOOKEEPER); tests ask for what they need, and skip with `describe.skipIf` what that kind
 * can't do.
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

/** A single server of the test's own. Stop it when done, or hold it by `await using`. */
export function startZooKeeper(options: ServerOptions = {}): Promise<TestServer> {
  return startServerOf(choice, options);
}

/** Several servers of the test's own; resolves when all of them serve clients. */
export function startEnsemble(size = 3, options: ServerOptions = {}): Promise<TestEnsemble> {
  return startEnsembleOf(choice, size, options);
}

/**
 * The connect string of a single server that all tests of a run share. Do it no harm, and work under a
 * `uniqueRoot` or a chroot.
 */
export function sharedZooKeeper(): Promise<string> {
  return oncePerRun(`zookeeper-${choice.kind}`);
}

/**
 * The connect strings of the servers of an ensemble that all tests of a run share; of one server where the
 * kind has no ensembles. Do it no harm, and work under a `uniqueRoot`.
 */
export async function sharedEnsemble(): Promise<readonly string[]> {
  return (await oncePerRun(`ensemble-${choice.kind}`)).split(',');
}
