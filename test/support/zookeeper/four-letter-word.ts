/**
 * Sends ZooKeeper's four-letter words. The client sends one word, and the server answers with text and closes
 * the connection.
 */
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
 * Returns `leader`, `follower`, `standalone` or another mode. Rejects while the server serves no clients. A
 * server that only listens may leave its first connections hanging, but a server that reports its mode does
 * not.
 */
export async function serverMode(address: string): Promise<string> {
  const answer = await fourLetterWord(address, 'srvr');
  const mode = /^Mode: (\S+)/m.exec(answer)?.[1];
  if (mode === undefined) throw new Error(`${address} serves no clients yet: ${answer.trim()}`);
  return mode;
}
