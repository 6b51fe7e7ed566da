/**
 * Petrel's own development server, inside the test process. It is a single server, without configuration or
 * TLS.
 */
import { type DevelopmentServer, startDevelopmentServer } from '../../../src/testing.js';
import { fourLetterWord, serverMode } from './four-letter-word.js';
import type { ServerOptions, TestServer } from './server.js';

export async function startEmbeddedServer(options: ServerOptions): Promise<TestServer> {
  const { extraConfig, jvmFlags, tls, syncLimitTicks, ...settings } = options;
  if (extraConfig ?? jvmFlags ?? tls ?? syncLimitTicks) {
    throw new Error('the embedded development server has neither TLS nor zoo.cfg nor a JVM');
  }
  return new EmbeddedTestServer(await startDevelopmentServer(settings));
}

class EmbeddedTestServer implements TestServer {
  readonly pid = undefined;
  readonly #server: DevelopmentServer;

  constructor(server: DevelopmentServer) {
    this.#server = server;
  }

  get connectString(): string {
    return this.#server.connectString;
  }

  get secureConnectString(): string {
    throw new Error('the embedded development server has no TLS');
  }

  kill9(): Promise<void> {
    return this.#server.halt();
  }

  async pause(): Promise<void> {
    this.#server.freeze();
  }

  async resume(): Promise<void> {
    this.#server.resume();
  }

  shutdown(): Promise<void> {
    return this.#server.halt();
  }

  restart(): Promise<void> {
    return this.#server.restart();
  }

  /** The server serves clients as soon as it listens. */
  async ready(): Promise<void> {
    await serverMode(this.connectString);
  }

  async isLeader(): Promise<boolean> {
    const mode = await serverMode(this.connectString).catch(() => 'unknown');
    return mode === 'standalone';
  }

  fourLetterWord(word: string): Promise<string> {
    return fourLetterWord(this.connectString, word);
  }

  async log(): Promise<string> {
    return '';
  }

  stop(): Promise<void> {
    return this.#server.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }
}
