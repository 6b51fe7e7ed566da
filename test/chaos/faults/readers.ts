/** HTTP clients that send nothing, or read nothing. */
import { get } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { nowMs } from '../journal.js';
import type { World } from '../world.js';
import { type FaultReporter, type Of, slotText, type TargetedFault } from './targeted-fault.js';

/** Number of clients that request events, and read none. They are fewer than an agent allows. */
const deafReaders = 300;
const batch = 100;
const askEveryMs = 250;
/** Time after which a request counts as unanswered. */
const giveUpMs = 10_000;

/**
 * Prepares a crowd of clients. It must cost the node no leadership. Other clients must get answers meanwhile,
 * which the check judges.
 */
export async function silentReaders(
  fault: Of<'silent-readers'>,
  world: World,
  reporter: FaultReporter,
): Promise<TargetedFault | null> {
  const { slot = 1, count } = fault;
  const leader = world.client.leader(slot)?.node ?? null;
  if (leader === null) return null;
  const port = world.httpPort(leader);
  const sockets: Socket[] = [];
  const ended = new AbortController();
  let asking = Promise.resolve();
  return {
    nodes: [],
    slots: [],
    detail: `${count} connections to the leader${slotText(fault)} ${leader}`,
    begin: async () => {
      for (let opened = 0; opened < count; opened += batch) {
        const more = Array.from({ length: batch }, (_, index) =>
          open(port, opened + index < deafReaders ? eventsRequest(port) : ''),
        );
        sockets.push(...(await Promise.all(more)));
      }
      asking = askAgain(leader, port, reporter, ended.signal);
    },
    end: async () => {
      ended.abort();
      await asking;
      for (const socket of sockets) socket.destroy();
    },
  };
}

function eventsRequest(port: number): string {
  return `GET /events HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`;
}

/** Opens a connection of which nothing is read. Resolves when it is open, or was refused. */
function open(port: number, request: string): Promise<Socket> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.pause();
    socket.once('connect', () => {
      if (request !== '') socket.write(request);
      resolve(socket);
    });
    // The agent closes connections beyond its limit.
    socket.on('error', () => resolve(socket));
  });
}

/** Requests `/leader` again and again, each time over a new connection. */
async function askAgain(
  node: string,
  port: number,
  reporter: FaultReporter,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    const requestedAtMs = nowMs();
    reporter.http({ node, code: await codeOfLeader(port), requestedAtMs });
    await sleep(askEveryMs, undefined, { signal }).catch(() => undefined);
  }
}

/** Returns the status code of `/leader`. Null if there is no answer. */
function codeOfLeader(port: number): Promise<number | null> {
  return new Promise((resolve) => {
    const to = { host: '127.0.0.1', port, path: '/leader', agent: false, timeout: giveUpMs };
    const request = get(to, (response) => {
      response.resume();
      resolve(response.statusCode ?? null);
    });
    request.on('timeout', () => request.destroy());
    request.on('error', () => resolve(null));
  });
}
