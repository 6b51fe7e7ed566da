/** Error responses. They always have the same shape, name a remedy, and reveal no internals. */
import type { Socket } from 'node:net';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { hasZodFastifySchemaValidationErrors } from 'fastify-type-provider-zod';
import { errorMessage, PetrelError, type PetrelErrorCode, type Remedy } from '../errors.js';
import { asPetrelError, type Failure, failureSchema, toldAs } from '../group/failure.js';
import type { Logger } from '../log.js';
import { cut, firstOf } from '../model/outside.js';
import { plainMessage } from '../model/plain-message.js';
import { isStoreError } from '../ports/store.js';
import { commonHeaderLines, commonHeaders } from './headers.js';

/** Error for a request that is rejected before the group is consulted. */
export class Denial extends Error {
  override readonly name = 'Denial';
  /** HTTP status of the response. */
  readonly status: number;
  readonly code: string;
  readonly reasons: readonly string[];
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    status: number,
    code: string,
    message: string,
    more: { reasons?: readonly string[]; headers?: Readonly<Record<string, string>> } = {},
  ) {
    super(message);
    this.status = status;
    this.code = code;
    this.reasons = more.reasons ?? [];
    this.headers = more.headers ?? {};
  }
}

const statusOf: Readonly<Record<PetrelErrorCode, number>> = {
  INVALID: 400,
  FORBIDDEN: 403,
  CONFLICT: 409,
  DUPLICATE_NODE: 409,
  UNDER_WAY: 409,
  REFUSED: 412,
  FAILED: 500,
  LEADERSHIP_LOST: 503,
  UNREACHABLE: 503,
};

/** Error responses that every route may send. */
export const failures = {
  400: failureSchema,
  403: failureSchema,
  /** The agent is not in the requested group. */
  404: failureSchema,
  500: failureSchema,
  503: failureSchema,
} as const;

interface Told extends Omit<Failure['error'], 'reasons'> {
  readonly status: number;
  readonly reasons: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
}

export function answerError(
  log: Logger,
  error: unknown,
  { method, url }: FastifyRequest,
  reply: FastifyReply,
): void {
  const { status, code, message, reasons, headers } = told(error);
  if (status >= 500 && status !== 503) log.error({ error, method, url }, `HTTP: ${errorMessage(error)}`);
  const failure: Failure = { error: { code, message, reasons: [...reasons] } };
  // Serialize here: the schemas of the route do not cover errors that occur outside its handler.
  const text = JSON.stringify(failure);
  void reply
    .code(status)
    // Set the common headers again. Requests that Fastify itself rejects skip the hook that sets them, and
    // the route may have replaced them.
    .headers({ ...commonHeaders, ...headers })
    .type('application/json; charset=utf-8')
    .serializer((payload: string) => payload)
    .send(text);
}

function told(error: unknown): Told {
  const none = { reasons: [], headers: {} };
  if (error instanceof Denial) return error;
  if (hasZodFastifySchemaValidationErrors(error)) {
    const reasons = firstOf(
      error.validation.map(({ instancePath, message }) => {
        const part = error.validationContext === 'querystring' ? 'query' : error.validationContext;
        const where = [part, ...instancePath.split('/')].filter(Boolean).map(String);
        return `${where.map(cut).join('.')}: ${plainMessage(message ?? '')}`;
      }),
    );
    return { ...none, status: 400, code: 'INVALID', message: reasons.join('; '), reasons };
  }
  if (error instanceof PetrelError || isStoreError(error)) {
    const petrel = asPetrelError(error);
    const headers: Told['headers'] = petrel.code === 'UNREACHABLE' ? { 'retry-after': '1' } : {};
    return { status: statusOf[petrel.code], ...toldAs(petrel, remedyText), headers };
  }
  const status = statusOfFramework(error);
  if (status === null)
    return {
      ...none,
      status: 500,
      code: 'FAILED',
      message: 'internal agent error: see the agent’s log',
    };
  const [code, message] = frameworkWords[status] ?? ['INVALID', errorMessage(error)];
  return { ...none, status, code, message };
}

function remedyText(remedy: Remedy): string {
  switch (remedy.kind) {
    case 'yes':
      return `send "yes": true in the body to ${remedy.does}`;
    case 'unknown':
      return `send "allowUnknown": true in the body to ${remedy.does}`;
    case 'slot':
      return 'set "slot" in the body';
    case 'cancel':
      return 'to cancel it: POST /switchover with {"cancel": true}';
    case 'root':
      return 'the groups of this agent are set in its settings';
    case 'credentials':
      return 'the agent uses its own credentials (setting authFile); to list the rights, run petrel acl show with the same credentials';
  }
}

/** Returns the error and its remedies in one line. */
export function failureText(error: unknown): string {
  const { message, reasons } = toldAs(asPetrelError(error), remedyText);
  return [message, ...reasons.filter((reason) => !message.includes(reason))].join('; ');
}

const frameworkWords: Readonly<Record<number, readonly [code: string, message: string]>> = {
  413: ['TOO_LARGE', 'the request body is too large: at most 16 KiB are allowed'],
  415: ['UNSUPPORTED_MEDIA_TYPE', 'unsupported content type: send JSON with Content-Type: application/json'],
};

/** Returns the HTTP status of an error that Fastify found in a request. Returns null for any other error. */
function statusOfFramework(error: unknown): number | null {
  if (!(error instanceof Error) || !('statusCode' in error) || typeof error.statusCode !== 'number')
    return null;
  return error.statusCode >= 400 && error.statusCode < 500 ? error.statusCode : null;
}

/** A route: its methods, and its path with `:NAME` for parameters. */
export interface Place {
  readonly methods: readonly string[];
  readonly url: string;
}

/** Returns the error for a request whose path does not exist or does not accept the method. */
export function notFound({ method, url }: FastifyRequest, known: readonly Place[]): Denial {
  const path = url.split('?')[0] ?? '';
  const allowed = new Set(known.filter((one) => isAt(one, path)).flatMap(({ methods }) => methods));
  if (allowed.size === 0) {
    const places = known.filter(({ methods }) => !methods.includes('HEAD') || methods.length > 1);
    const reasons = [`available: ${places.map((one) => `${one.methods.join('|')} ${one.url}`).join(', ')}`];
    return new Denial(404, 'NOT_FOUND', `not found: ${cut(method)} ${cut(url)}`, { reasons });
  }
  const allow = [...allowed].toSorted().join(', ');
  const message = `${cut(path)} does not support ${cut(method)}: use ${allow}`;
  return new Denial(405, 'METHOD_NOT_ALLOWED', message, { headers: { allow } });
}

function isAt({ url }: Place, path: string): boolean {
  const [parts, given] = [url.split('/'), path.split('/')];
  return (
    parts.length === given.length && parts.every((part, at) => part.startsWith(':') || part === given[at])
  );
}

const brokenRequests: Readonly<Record<string, readonly [line: string, code: string, message: string]>> = {
  HPE_HEADER_OVERFLOW: [
    '431 Request Header Fields Too Large',
    'TOO_LARGE',
    'the request header is too large: at most 8 KiB are allowed',
  ],
  ERR_HTTP_REQUEST_TIMEOUT: ['408 Request Timeout', 'TIMEOUT', 'timed out while receiving the request'],
};

/** Answers a request that is too slow or is not HTTP, if possible, and closes the connection. */
export function answerBrokenRequest(error: Error & { readonly code: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return;
  const [line, code, message] = brokenRequests[error.code] ?? [
    '400 Bad Request',
    'INVALID',
    'the request is not valid HTTP',
  ];
  const body = JSON.stringify({ error: { code, message, reasons: [] } } satisfies Failure);
  const head = `HTTP/1.1 ${line}\r\nconnection: close\r\ncontent-type: application/json\r\n${commonHeaderLines}content-length: ${body.length}\r\n\r\n`;
  if (socket.writable) socket.write(head + body);
  socket.destroySoon();
}
