/**
 * Checks whether an agent with these settings could listen for HTTP. If the address is in use, determines
 * which agent uses it.
 */
import { request } from 'node:http';
import { request as requestSecurely } from 'node:https';
import { createServer } from 'node:net';
import * as z from 'zod';
import { hostText, type ListenAddress, parseListen, usualListen } from '../config/listen.js';
import type { AgentSettings } from '../config/settings.js';
import { parseJson } from '../model/names.js';
import { cut } from '../model/outside.js';
import type { ListenFacts, Problem } from './facts.js';

export type ListenSettings = Pick<AgentSettings, 'httpListen' | 'httpTlsCert' | 'nodeId' | 'root'>;

const answerMs = 2_000;
const mostBytes = 16 * 1024;

/**
 * Checks the configured HTTP address. Returns null if HTTP is off or any free port may be used. Never
 * rejects.
 */
export async function listenFacts(settings: ListenSettings): Promise<ListenFacts | null> {
  const configured = parseListen(settings.httpListen);
  if (configured === 'off') return null;
  const place = configured === 'auto' ? usualListen : configured;
  if (place.port === 0) return null;
  const state = await tryToListen(place);
  return {
    address: `${hostText(place.host)}:${place.port}`,
    isConfigured: configured !== 'auto',
    state,
    owner: state === 'taken' ? await ownerOf(place, settings) : null,
  };
}

const remedies: Readonly<Record<string, string>> = {
  EACCES: 'a port below 1024 requires root or CAP_NET_BIND_SERVICE: choose another port for --listen',
  EADDRNOTAVAIL: 'the address does not belong to this machine: use one that `ip address` shows, or 0.0.0.0',
  ENOTFOUND: 'the host name cannot be resolved: use an IP address',
};

function tryToListen({ host, port }: ListenAddress): Promise<ListenFacts['state']> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => {
      const { code = '', message } = error;
      const problem: Problem = {
        problem: cut(message),
        todo: remedies[code] ?? 'choose another address for --listen',
      };
      resolve(code === 'EADDRINUSE' ? 'taken' : problem);
    });
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve('free')));
  });
}

/** The response from an agent in one group, or from an agent in several groups. */
const answerSchema = z.union([
  z.object({ node: z.string(), root: z.string() }),
  z.object({ groups: z.number() }),
]);
type Answer = z.infer<typeof answerSchema>;

/**
 * Identifies the agent by its response. The response of an agent in several groups does not contain a node
 * name, so such an agent is assumed to be this node's agent.
 */
async function ownerOf(place: ListenAddress, settings: ListenSettings): Promise<ListenFacts['owner']> {
  const answer = await healthOf(place, settings.httpTlsCert !== null);
  if (answer === null) return null;
  if ('groups' in answer) return { isOwn: true, text: `an agent with ${answer.groups} groups`, peer: null };
  const text = `the agent of ${cut(answer.node)} in ${cut(answer.root)}`;
  const isOwn = answer.node === settings.nodeId;
  const isPeer = !isOwn && answer.root === settings.root;
  return { isOwn, text, peer: isPeer ? cut(answer.node) : null };
}

/** Returns the response of the agent at this address, or null if no agent responds. */
function healthOf({ host, port }: ListenAddress, isSecure: boolean): Promise<Answer | null> {
  const anywhere: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };
  const options = { host: anywhere[host] ?? host, port, path: '/health', agent: false, timeout: answerMs };
  return new Promise((resolve) => {
    const sent = isSecure ? requestSecurely({ ...options, rejectUnauthorized: false }) : request(options);
    const give = (answer: Answer | null) => {
      resolve(answer);
      sent.destroy();
    };
    sent.once('timeout', () => give(null));
    sent.once('error', () => give(null));
    sent.once('response', (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (part: string) => {
        text += part;
        if (text.length > mostBytes) give(null);
      });
      response.once('end', () => give(parseJson(answerSchema, text).value));
    });
    sent.end();
  });
}
