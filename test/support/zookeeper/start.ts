/** Starts a ZooKeeper of the chosen kind. */
import type { ZooKeeperChoice } from './choose.js';
import { startDockerEnsemble, startDockerServer } from './docker.js';
import { startEmbeddedServer } from './embedded.js';
import { startJavaEnsemble, startJavaServer } from './java.js';
import type { ServerOptions, TestEnsemble, TestServer } from './server.js';

export function startServerOf({ kind, image }: ZooKeeperChoice, options: ServerOptions): Promise<TestServer> {
  if (kind === 'docker') return startDockerServer(image, options);
  if (kind === 'java') return startJavaServer(options);
  return startEmbeddedServer(options);
}

export async function startEnsembleOf(
  { kind, image }: ZooKeeperChoice,
  size: number,
  options: ServerOptions,
): Promise<TestEnsemble> {
  if (kind === 'docker') return startDockerEnsemble(image, size, options);
  if (kind === 'java') return startJavaEnsemble(size, options);
  throw new Error('the embedded ZooKeeper is a single server; skip such tests by supportsEnsemble');
}
