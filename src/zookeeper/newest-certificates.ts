/** TLS certificates that can be replaced while the process is running. */
import { isDeepStrictEqual } from 'node:util';
import { errorMessage, PetrelError } from '../errors.js';
import { loadTls, type SecureOptions } from './dial.js';
import type { Logger } from './session.js';
import type { TlsOptions } from './tls-options.js';

/**
 * Returns a function that returns the newest usable certificates. That function is called before each
 * connection. Throws PetrelError INVALID if the first certificates are unusable.
 */
export function newestOf({ reread, ...first }: TlsOptions, logger: Logger): () => SecureOptions {
  let known: Omit<TlsOptions, 'reread'> = first;
  let inForce = secure(known);
  let logged = '';
  return () => {
    if (reread === undefined) return inForce;
    try {
      const now = reread();
      if (!isDeepStrictEqual(now, known)) {
        inForce = secure(now);
        known = now;
        logger.info({}, 'TLS to ZooKeeper: loaded the new certificates');
      }
      logged = '';
    } catch (error) {
      const problem = errorMessage(error);
      if (problem !== logged) logger.warn({}, `TLS to ZooKeeper: keeping the old certificates: ${problem}`);
      logged = problem;
    }
    return inForce;
  };
}

/** Parses each part by itself, because OpenSSL's own error does not name the part that it could not use. */
function secure(tls: Omit<TlsOptions, 'reread'>): SecureOptions {
  const { servername, rejectUnauthorized = true, ...certificates } = tls;
  const { ca = [], cert, key, passphrase } = certificates;
  const { X509Certificate, createPrivateKey } = process.getBuiltinModule('node:crypto');
  // Node accepts text that is not a certificate as an empty list of trusted CAs, and empty text, such as a
  // file that is just being replaced, as no certificate or no key.
  for (const each of [ca].flat()) using('ca', () => new X509Certificate(each));
  if (cert !== undefined) using('cert', () => new X509Certificate(cert));
  if (key !== undefined) using('key', () => createPrivateKey({ key, passphrase }));
  const context = using('cert and key', () => loadTls().createSecureContext(certificates));
  return { context, servername, rejectUnauthorized };
}

function using<T>(part: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    const problem = `${part}: ${errorMessage(error)}`;
    throw new PetrelError('INVALID', `TLS options: ${problem}`, { cause: error });
  }
}
