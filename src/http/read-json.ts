/** Reads the body of a request. */
import type { IncomingMessage } from 'node:http';
import { Denial } from './failures.js';

const maxBytes = 16 * 1024;

/**
 * Reads JSON. A missing or empty body counts as an empty object. Any content type other than JSON is
 * rejected, because a page from another website can send some other types without a CORS preflight. Throws
 * Denial.
 */
export async function readJson(request: IncomingMessage): Promise<unknown> {
  const { 'content-type': type, 'content-length': length } = request.headers;
  if (type === undefined && (length ?? '0') === '0' && !('transfer-encoding' in request.headers)) return {};
  if (!/^application\/json *(;|$)/i.test(type ?? '')) {
    const message = 'unsupported content type: send JSON with Content-Type: application/json';
    throw new Denial(415, 'UNSUPPORTED_MEDIA_TYPE', message);
  }
  const text = await readText(request);
  return text === '' ? {} : parse(text);
}

async function readText(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  let bytes = 0;
  // Do not destroy a request that is too long, because then the client could not receive the response.
  const chunks: AsyncIterable<unknown> = request.iterator({ destroyOnReturn: false });
  for await (const chunk of chunks) {
    if (!Buffer.isBuffer(chunk)) continue;
    bytes += chunk.length;
    if (bytes > maxBytes) throw tooLarge();
    parts.push(chunk);
  }
  return Buffer.concat(parts).toString('utf8');
}

/** The connection is closed, because the rest of the body is not read. */
function tooLarge(): Denial {
  return new Denial(413, 'TOO_LARGE', 'the request body is too large: at most 16 KiB is allowed', {
    headers: { connection: 'close' },
  });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text, refusePrototypes);
  } catch (error) {
    throw new Denial(400, 'INVALID', 'the request body is not valid JSON', { cause: error });
  }
}

/** Rejects a key that would change the prototype of a copy of the object. */
function refusePrototypes(key: string, value: unknown): unknown {
  if (key === '__proto__') throw new SyntaxError('the key __proto__ is not allowed');
  return value;
}
