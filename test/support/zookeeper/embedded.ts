/** Petrel's own development server, inside the test process: one server, no faults of its own. */
import type { ServerOptions, TestServer } from './server.js';

export function embeddedIsMissing(): string | undefined {
  return 'not available yet';
}

export async function startEmbeddedServer(_options: ServerOptions): Promise<TestServer> {
  throw new Error('the embedded development server is not available yet');
}
