/** Headers of every response. A route that returns a page replaces `content-security-policy`. */

export const commonHeaders = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
} as const;

/** The common headers as text, for responses that Node.js does not write. */
export const commonHeaderLines = Object.entries(commonHeaders)
  .map(([name, value]) => `${name}: ${value}\r\n`)
  .join('');
