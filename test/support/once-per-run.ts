/**
 * Work that is done once per test run, when the first test requests it. Tests run in separate processes. They
 * request the work from the main process, over HTTP on the loopback interface.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { inject } from 'vitest';
import { errorMessage } from '../../src/errors.js';

export type Task = () => Promise<string>;

export interface OncePerRunServer {
  readonly url: string;
  stop(): Promise<void>;
}

/**
 * Offers tasks by name. Runs in the main process. Each task runs at most once, and if it fails, every caller
 * gets its error.
 */
export async function serveOncePerRun(tasks: Readonly<Record<string, Task>>): Promise<OncePerRunServer> {
  const begun = new Map<string, Promise<string>>();
  const resultOf = (name: string): Promise<string> => {
    const task = tasks[name] ?? (() => Promise.reject(new Error(`no task named ${name}`)));
    const result = begun.get(name) ?? task();
    begun.set(name, result);
    return result;
  };
  const server = createServer((request, response) => {
    // The connection must not stay open: a test that counts what its process holds would find it.
    response.setHeader('connection', 'close');
    resultOf((request.url ?? '/').slice(1)).then(
      (result) => response.end(result),
      (error: unknown) => response.writeHead(500).end(errorMessage(error)),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${portOf(server.address())}`,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/**
 * Returns the result of a task. Runs in a test's process. Rejects with the task's own message if the task
 * failed.
 */
export async function oncePerRun(task: string): Promise<string> {
  const response = await fetch(`${inject('oncePerRunUrl')}/${task}`);
  const text = await response.text();
  if (!response.ok) throw new Error(text);
  return text;
}

function portOf(address: AddressInfo | string | null): number {
  if (address === null || typeof address === 'string')
    throw new Error('the server does not listen on a port');
  return address.port;
}
