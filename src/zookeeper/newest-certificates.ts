/** TLS certificates that can be replaced while the process is running. */
import { isDeepStrictEqual } from 'node:util';
import { errorMessage, PetrelError } from '../errors.js';
import { loadTls, type SecureOptions } from './dial.js';
import type { Logger } from './session.js';
import type { TlsOptions } from './tls-options.js';

/**
 * Returns a function that provides the newest usable certificates. The returned function is called before
 * each connection. Throws PetrelError INVALID if the first certificates are unusable.
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

/** Parses each part separately, because OpenSSL's own error does not name the part that it could not use. */
function secure(tls: Omit<TlsOptions, 'reread'>): SecureOptions {
  const { servername, rejectUnauthorized = true, ...certificates } = tls;
  const { ca = [], cert, key, passphrase } = certificates;
  const { X509Certificate, createPrivateKey } = process.getBuiltinModule('node:crypto');
  // Node accepts unusable text. It treats text that is not a certificate as an empty list of trusted CAs. If
  // the text is empty, for example because a file is being replaced, Node behaves as if there were no
  // certificate or key. If a list of CAs is not complete yet, Node trusts only the CAs before the incomplete
  // one.
  const parse = (pem: string | Buffer) => certificatesIn(pem).map((each) => new X509Certificate(each));
  for (const each of [ca].flat()) using('ca', () => parse(each));
  if (cert !== undefined) using('cert', () => parse(cert));
  if (key !== undefined) using('key', () => createPrivateKey({ key, passphrase }));
  const context = using('cert and key', () => loadTls().createSecureContext(certificates));
  return { context, servername, rejectUnauthorized };
}

/**
 * Returns the certificates of a PEM file, each as a separate string. Anything that follows a certificate,
 * such as a key, belongs to that certificate's string. A file without certificates is returned as a single
 * string.
 */
function certificatesIn(pem: string | Buffer): string[] {
  // A line that starts with a dash, but is not a complete BEGIN or END line, starts an incomplete
  // certificate.
  const beginning = /(?=^-----BEGIN .*CERTIFICATE-----$|^-(?!----(?:BEGIN|END) .*-----$))/m;
  const text = String(pem);
  const certificates = text.split(beginning).filter((part) => beginning.test(part));
  return certificates.length === 0 ? [text] : certificates;
}

function using<T>(part: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    const problem = `${part}: ${errorMessage(error)}`;
    throw new PetrelError('INVALID', `TLS options: ${problem}`, { cause: error });
  }
}
