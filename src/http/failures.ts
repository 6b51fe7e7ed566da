/** Error responses. They always have the same shape, name a remedy, and reveal no internals. */
import type { Duplex } from 'node:stream';
import type * as z from 'zod';
import { errorMessage, PetrelError, type PetrelErrorCode, type Remedy } from '../errors.js';
import { asPetrelError, type Failure, failureReport, failureSchema } from '../group/failure.js';
import type { Logger } from '../log.js';
import { cut, firstOf } from '../model/outside.js';
import { plainMessage } from '../model/plain-message.js';
import { isStoreError } from '../ports/store.js';
import { commonHeaderLines } from './headers.js';
import { type Answer, type Head, type Place, paramsAt } from './route.js';

/** Error for a request that is rejected before the group is read. */
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
    more: {
      reasons?: readonly string[];
      headers?: Readonly<Record<string, string>>;
      cause?: unknown;
    } = {},
  ) {
    super(message, more);
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

interface ErrorAnswer extends Omit<Failure['error'], 'reasons'> {
  readonly status: number;
  readonly reasons: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
}

/** Returns the answer to a request that failed with this error. */
export function answerError(log: Logger, error: unknown, { method, url }: Head): Answer {
  const { status, code, message, reasons, headers } = answerOf(error);
  if (status >= 500 && status !== 503) log.error({ error, method, url }, `HTTP: ${errorMessage(error)}`);
  const failure: Failure = { error: { code, message, reasons: [...reasons] } };
  return { status, headers, json: failure };
}

/** Returns the error for a part of a request that does not match its schema. */
export function invalid(part: 'params' | 'query' | 'body', { issues }: z.ZodError): Denial {
  const reasons = firstOf(
    issues.map(
      ({ path, message }) => `${[part, ...path.map(String)].map(cut).join('.')}: ${plainMessage(message)}`,
    ),
  );
  return new Denial(400, 'INVALID', reasons.join('; '), { reasons });
}

function answerOf(error: unknown): ErrorAnswer {
  if (error instanceof Denial) return error;
  if (error instanceof PetrelError || isStoreError(error)) {
    const petrel = asPetrelError(error);
    const headers: ErrorAnswer['headers'] = petrel.code === 'UNREACHABLE' ? { 'retry-after': '1' } : {};
    return { status: statusOf[petrel.code], ...failureReport(petrel, remedyText), headers };
  }
  const message = 'internal agent error: see the agent’s log';
  return { status: 500, code: 'FAILED', message, reasons: [], headers: {} };
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
    case 'state-dir':
      return 'choose another (setting stateDir)';
    case 'credentials':
      return 'the agent uses its own credentials (setting authFile); to list the rights, run petrel acl show with the same credentials';
  }
}

/** Returns the error and its remedies in one line. */
export function failureText(error: unknown): string {
  const { message, reasons } = failureReport(asPetrelError(error), remedyText);
  return [message, ...reasons.filter((reason) => !message.includes(reason))].join('; ');
}

/** Returns the error for a request whose path does not exist or does not accept the method. */
export function notFound({ method, url }: Head, known: readonly Place[]): Denial {
  const path = url.split('?')[0] ?? '';
  const allowed = new Set(
    known.filter((one) => paramsAt(one, path) !== null).flatMap(({ methods }) => methods),
  );
  if (allowed.size === 0) {
    const reasons = [`available: ${known.map((one) => `${one.methods[0]} ${one.path}`).join(', ')}`];
    return new Denial(404, 'NOT_FOUND', `not found: ${cut(method)} ${cut(url)}`, { reasons });
  }
  const allow = [...allowed].toSorted().join(', ');
  const message = `${cut(path)} does not support ${cut(method)}: use ${allow}`;
  return new Denial(405, 'METHOD_NOT_ALLOWED', message, { headers: { allow } });
}

const brokenRequests: Readonly<Record<string, readonly [line: string, code: string, message: string]>> = {
  HPE_HEADER_OVERFLOW: [
    '431 Request Header Fields Too Large',
    'TOO_LARGE',
    'the request header is too large: at most 8 KiB is allowed',
  ],
  ERR_HTTP_REQUEST_TIMEOUT: ['408 Request Timeout', 'TIMEOUT', 'timed out while receiving the request'],
};

/** If possible, answers a request that is too slow or is not HTTP. Closes the connection in any case. */
export function answerBrokenRequest({ code: cause = '' }: NodeJS.ErrnoException, socket: Duplex): void {
  if (cause === 'ECONNRESET' || socket.destroyed) return;
  const [line, code, message] = brokenRequests[cause] ?? [
    '400 Bad Request',
    'INVALID',
    'the request is not valid HTTP',
  ];
  const body = JSON.stringify({ error: { code, message, reasons: [] } } satisfies Failure);
  const head = `HTTP/1.1 ${line}\r\nconnection: close\r\ncontent-type: application/json\r\n${commonHeaderLines}content-length: ${body.length}\r\n\r\n`;
  if (socket.writable) socket.end(head + body, () => socket.destroy());
  else socket.destroy();
}
