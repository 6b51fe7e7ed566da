/**
 * Encodes the four requests of ZooKeeper's protocol that the guardian sends (attach to a session,
 * authenticate, ping, close), and decodes their answers. All other requests are in `src/zookeeper`, which
 * uses a library that the guardian does not load.
 */

const lengthBytes = 4;
const passwordBytes = 16;
const ping = { xid: -2, type: 11 };
const close = { xid: 1, type: -11 };
const authenticate = { xid: -4, type: 100 };
const errorOffset = 12;

/**
 * Returns a request to continue a session with its current timeout. Throws RangeError if the password has the
 * wrong length.
 */
export function attachRequest(id: bigint, password: Buffer, timeoutMs: number): Buffer {
  if (password.length !== passwordBytes)
    throw new RangeError(`a session password of ${password.length} bytes, expected ${passwordBytes}`);
  const body = Buffer.alloc(45);
  body.writeInt32BE(timeoutMs, 12);
  body.writeBigInt64BE(id, 16);
  body.writeInt32BE(passwordBytes, 24);
  password.copy(body, 28);
  return framed(body);
}

export const pingRequest = header(ping);
export const closeRequest = header(close);

/**
 * Returns the granted timeout. Returns null if the session is over. Throws RangeError if the frame is not an
 * answer to `attachRequest`.
 */
export function grantedMs(frame: Buffer): number | null {
  const timeoutMs = frame.readInt32BE(4);
  return timeoutMs > 0 && frame.readBigInt64BE(8) !== 0n ? timeoutMs : null;
}

/**
 * Returns the answer to a close request. Returns null if the frame answers another request. After `refused`,
 * the session continues. Throws RangeError if the frame is not a reply.
 */
export function answerToClose(frame: Buffer): 'done' | 'refused' | null {
  if (frame.readInt32BE(0) !== close.xid) return null;
  return frame.readInt32BE(errorOffset) === 0 ? 'done' : 'refused';
}

/**
 * Returns a request to authenticate with `USER:PASSWORD` in the digest scheme. Servers with
 * `enforce.auth.enabled` reject every other request from a session that has not authenticated.
 */
export function authRequest(credentials: string): Buffer {
  const kind = Buffer.alloc(lengthBytes);
  return framed(Buffer.concat([numbers(authenticate), kind, prefixed('digest'), prefixed(credentials)]));
}

function header(request: { xid: number; type: number }): Buffer {
  return framed(numbers(request));
}

function numbers({ xid, type }: { xid: number; type: number }): Buffer {
  const body = Buffer.alloc(8);
  body.writeInt32BE(xid, 0);
  body.writeInt32BE(type, 4);
  return body;
}

function prefixed(text: string): Buffer {
  return framed(Buffer.from(text));
}

function framed(body: Buffer): Buffer {
  const length = Buffer.alloc(lengthBytes);
  length.writeInt32BE(body.length, 0);
  return Buffer.concat([length, body]);
}
