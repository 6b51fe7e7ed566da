/** ZooKeeper in Docker containers. */
import type { ServerOptions, TestEnsemble, TestServer } from './server.js';

export async function dockerIsMissing(_image: string): Promise<string | undefined> {
  return 'not available yet';
}

export async function startDockerServer(_image: string, _options: ServerOptions): Promise<TestServer> {
  throw new Error('not available yet');
}

export async function startDockerEnsemble(
  _image: string,
  _size: number,
  _options: ServerOptions,
): Promise<TestEnsemble> {
  throw new Error('not available yet');
}
