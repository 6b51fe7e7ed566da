/**
 * ZooKeeper's four-letter words: commands that a client sends instead of a handshake. The server answers with
 * text.
 */
import { errorMessage } from '../errors.js';
import type { Clock } from '../ports/clock.js';
import type { Server } from './connection-string.js';
import type { Dial } from './dial.js';
import { resolveHost } from './servers.js';

export interface AskOptions {
  readonly dial: Dial;
  readonly clock: Clock;
  readonly timeoutMs: number;
}

const maxAnswerBytes = 64 * 1024;

/**
 * Returns the server's answer to a word such as `srvr`. Rejects with an Error if the server cannot be reached
 * or does not answer in time.
 */
export async function askServer(server: Server, word: string, options: AskOptions): Promise<string> {
  const { clock, timeoutMs } = options;
  const signal = new AbortController().signal;
  const addresses = await resolveHost(server.host, { clock, timeoutMs, lookup: undefined, signal });
  let problem: unknown;
  for (const { address } of addresses) {
    try {
      return await send(server, address, word, options);
    } catch (error) {
      problem = error;
    }
  }
  throw problem;
}

function send(
  server: Server,
  address: string,
  word: string,
  { dial, clock, timeoutMs }: AskOptions,
): Promise<string> {
  return new Promise((resolve, reject) => {
    let answer = '';
    const end = (settle: () => void) => {
      cancel();
      wire.destroy();
      settle();
    };
    const fail = (why: string) => end(() => reject(new Error(why)));
    const cancel = clock.timer(timeoutMs, () => fail(`no response within ${timeoutMs} ms`));
    const wire = dial(
      { server, address },
      {
        opened: () => wire.write(Buffer.from(word)),
        received: (chunk) => {
          answer += chunk.toString('utf8');
          if (answer.length > maxAnswerBytes) fail('the response is too long: is this a ZooKeeper server?');
        },
        closed: () => end(() => resolve(answer)),
        failed: (why, cause) => fail(why || errorMessage(cause)),
      },
    );
  });
}
