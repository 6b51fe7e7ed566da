/**
 * An agent's HTTP interface, and calls to it. Every answer is checked against the OpenAPI description that
 * the interface serves.
 */

import { request } from 'node:http';
import pino from 'pino';
import { type HttpOptions, HttpServer, type Secrets } from '../../src/http/server.js';
import type { Logger } from '../../src/log.js';
import { type ServedGroup, theOnly } from '../../src/node/served-groups.js';
import { type Clock, systemClock } from '../../src/ports/clock.js';
import type { Store } from '../../src/ports/store.js';
import { dialWith, parseConnectionString } from '../../src/zookeeper/index.js';
import { builtInRules } from '../../strategies/index.js';
import { connect, type Group, type Member } from './agent-group.js';
import { sessionTimeoutMs } from './led-group.js';
import { type Description, descriptionSchema, expectDescribed, expectOthersDescribed } from './openapi.js';
import { secrets } from './secrets.js';

export const token = secrets.httpToken;

export interface OpenOptions {
  readonly agent?: ServedGroup['agent'];
  readonly secrets?: Partial<Secrets>;
  readonly log?: Logger;
  readonly clock?: Clock;
  /** Address to listen on. Default: any free port. */
  readonly listen?: HttpOptions['listen'];
  readonly hosts?: readonly string[];
  /** Connect string for reading the group. Defaults to the connect string of the group. */
  readonly connect?: string;
}

export interface Api extends AsyncDisposable {
  readonly server: HttpServer;
  /** Sessions that the interface opened to read the group, oldest first. */
  readonly stores: Store[];
  readonly call: Call;
}

export interface CallOptions {
  readonly method?: string;
  readonly body?: unknown;
  /** The token to send. Null means that the call sends none. Default: the correct token. */
  readonly token?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: unknown;
}

export type Call = (path: string, options?: CallOptions) => Promise<Answer>;

/** Opens the interface of one member of a group, in this process. */
export async function openApi(group: Group, member: Member, options: OpenOptions = {}): Promise<Api> {
  const stores: Store[] = [];
  const server = await HttpServer.open({
    listen: options.listen ?? { host: '127.0.0.1', port: 0 },
    hosts: options.hosts ?? [],
    groups: theOnly({ agent: options.agent ?? member.agent, root: group.root, site: 'here' }),
    openStore() {
      const store = connect(options.connect ?? group.connectString, sessionTimeoutMs);
      stores.push(store);
      return store;
    },
    ensemble: {
      servers: parseConnectionString(options.connect ?? group.connectString).servers,
      dial: dialWith(undefined),
    },
    secrets: { token, certificate: null, ...options.secrets },
    rules: builtInRules,
    clock: options.clock ?? systemClock,
    log: options.log ?? pino({ level: 'silent' }),
  });
  const call = await caller(server.url);
  return { server, stores, call, [Symbol.asyncDispose]: () => server.close() };
}

/** Returns a function that calls the server at `url`. */
export async function caller(url: string): Promise<Call> {
  const described = await fetch(`${url}/openapi.json`);
  const description: Description = descriptionSchema.parse(await described.json());
  return async (path, { method = 'GET', body, token: given = token, headers = {} } = {}) => {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: {
        ...(method === 'GET' || given === null ? {} : { authorization: `Bearer ${given}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    const parsed: unknown = text === '' ? undefined : JSON.parse(text);
    const type = response.headers.get('content-type');
    if (response.status === 405) {
      expectOthersDescribed(description, { method, path, allow: response.headers.get('allow') });
    } else if (response.status !== 404) {
      expectDescribed(description, { method, path, status: response.status, type, body: parsed });
    }
    return { status: response.status, headers: response.headers, body: parsed };
  };
}

/** Sends one request over a separate connection, and returns only the status code. */
export function codeOf(url: string, method = 'GET'): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    sent.on('error', reject);
    sent.end();
  });
}
