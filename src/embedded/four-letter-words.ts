/**
 * ZooKeeper's four-letter words: plain-text queries about a server. A client sends one instead of a
 * handshake.
 */

import type { Connection } from './connection.js';
import type { Database } from './database.js';

export interface ServerView {
  readonly database: Database;
  readonly connections: readonly Connection[];
}

/**
 * The ZooKeeper release whose behaviour this server follows, with a suffix that marks a different
 * implementation.
 */
const version = '3.8.0-petrel-development-server';

export function answerFourLetterWord(word: string, server: ServerView): string | undefined {
  return answers.get(word)?.(server);
}

const answers = new Map<string, (server: ServerView) => string>([
  ['ruok', () => 'imok'],
  ['isro', () => 'rw'],
  ['envi', () => `Environment:\nzookeeper.version=${version}\nnode.version=${process.versions.node}\n`],
  ['conf', configuration],
  ['srvr', summary],
  ['stat', (server) => summary(server, `Clients:\n${clients(server)}\n`)],
  ['cons', clients],
  ['mntr', metrics],
]);

function summary(server: ServerView, clientLines = ''): string {
  const { database } = server;
  return [
    `Zookeeper version: ${version}`,
    ...(clientLines === '' ? [] : [clientLines.trimEnd(), '']),
    'Latency min/avg/max: 0/0.0/0',
    `Received: ${sum(server, 'received')}`,
    `Sent: ${sum(server, 'sent')}`,
    `Connections: ${server.connections.length}`,
    'Outstanding: 0',
    `Zxid: 0x${database.lastZxid.toString(16)}`,
    'Mode: standalone',
    `Node count: ${database.counts.znodes}`,
    '',
  ].join('\n');
}

/** Returns the settings that a client may need. A real server reports more. */
function configuration({ database }: ServerView): string {
  const { tickTimeMs, minTimeoutMs, maxTimeoutMs } = database.timing;
  return `tickTime=${tickTimeMs}\nminSessionTimeout=${minTimeoutMs}\nmaxSessionTimeout=${maxTimeoutMs}\n`;
}

function clients({ connections }: ServerView): string {
  return connections
    .map(({ remote, sessionId, received, sent }) => {
      const session = sessionId === 0n ? '' : `,sid=0x${sessionId.toString(16)}`;
      return ` /${remote}[${sessionId === 0n ? 0 : 1}](queued=0,recved=${received},sent=${sent}${session})\n`;
    })
    .join('');
}

function metrics(server: ServerView): string {
  const { counts } = server.database;
  const values: Record<string, string | number> = {
    zk_version: version,
    zk_server_state: 'standalone',
    zk_num_alive_connections: server.connections.length,
    zk_outstanding_requests: 0,
    zk_packets_received: sum(server, 'received'),
    zk_packets_sent: sum(server, 'sent'),
    zk_znode_count: counts.znodes,
    zk_ephemerals_count: counts.ephemerals,
    zk_watch_count: counts.watches,
    zk_global_sessions: counts.sessions,
    zk_approximate_data_size: counts.dataBytes,
  };
  return Object.entries(values)
    .map(([name, value]) => `${name}\t${value}\n`)
    .join('');
}

function sum({ connections }: ServerView, count: 'received' | 'sent'): number {
  return connections.reduce((total, connection) => total + connection[count], 0);
}
