/** ZooKeeper's four-letter words: one word in, text out, end of connection. */
import { connect } from 'node:net';
import { parseAddress } from '../proxy.js';

const answerTimeoutMs = 400;

export function fourLetterWord(address: string, word: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(parseAddress(address));
    const chunks: Buffer[] = [];
    const fail = (error: Error) => {
      socket.destroy();
      reject(error);
    };
    const timer = setTimeout(
      () => fail(new Error(`${address} did not answer ${word} within ${answerTimeoutMs} ms`)),
      answerTimeoutMs,
    );
    socket.once('connect', () => socket.write(word));
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    socket.once('error', fail);
    socket.once('end', () => resolve(Buffer.concat(chunks).toString()));
    socket.once('close', () => clearTimeout(timer));
  });
}

/**
 * `leader`, `follower`, `standalone`, … Rejects while the server serves no clients. A server that only
 * listens may leave its first connections hanging; one that reports its mode does not.
 */
export async function serverMode(address: string): Promise<string> {
  const answer = await fourLetterWord(address, 'srvr');
  const mode = /^Mode: (\S+)/m.exec(answer)?.[1];
  if (mode === undefined) throw new Error(`${address} serves no clients yet: ${answer.trim()}`);
  return mode;
}
