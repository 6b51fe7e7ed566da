/** Fetches a short page over HTTP, within a timeout and a size limit, and only from the given address. */

import { errorMessage } from '../errors.js';
import { brief } from '../model/names.js';
import { quoted } from '../model/outside.js';

export interface PageLimits {
  readonly timeoutMs: number;
  readonly maxBytes: number;
}

/**
 * Fetches the text at an address. Throws an Error that says what went wrong. `signal` cancels the request.
 */
export async function fetchText(
  address: string,
  { timeoutMs, maxBytes }: PageLimits,
  signal: AbortSignal,
): Promise<string> {
  const limit = AbortSignal.timeout(timeoutMs);
  try {
    const response = await fetch(address, {
      redirect: 'manual',
      headers: { accept: 'text/plain;version=0.0.4, text/plain;q=0.9, */*;q=0.1' },
      signal: AbortSignal.any([limit, signal]),
    });
    if (response.status !== 200) {
      await response.body?.cancel();
      throw new Error(refusal(response));
    }
    return await bodyText(response, maxBytes);
  } catch (error) {
    if (limit.aborted) throw new Error(`timed out after ${timeoutMs} ms`, { cause: error });
    throw new Error(reasonOf(error), { cause: error });
  }
}

function refusal({ status, headers }: Response): string {
  const location = headers.get('location');
  if (location === null || status < 300 || status > 399) return `responded with status ${status}`;
  return `redirects to ${quoted(location)}, but redirects are not followed: set that address directly`;
}

async function bodyText({ body }: Response, maxBytes: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  // An error thrown inside this loop ends the iteration, which releases the connection.
  for await (const chunk of body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > maxBytes) throw new Error(`responded with more than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/**
 * Returns the reason for an error. The message `fetch failed` contains no reason, but the cause of that error
 * does.
 */
function reasonOf(error: unknown): string {
  const cause = error instanceof TypeError && error.cause !== undefined ? error.cause : error;
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  return brief(errorMessage(cause) || code || errorMessage(error));
}
