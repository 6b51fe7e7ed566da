/** Converts settings to the options for opening a store. */
import { readFileSync } from 'node:fs';
import type { TlsNote } from '../guardian/messages.js';
import { parseConnectionString, type StoreOptions, type TlsOptions } from '../zookeeper/index.js';
import { accessOptions } from './access-settings.js';
import { readSecretText } from './secret-file.js';
import type { CommonSettings } from './settings.js';

/**
 * Returns the options for a store. For `rootOf`, see `accessOptions`. Throws PetrelError INVALID for an
 * invalid connection string or an unusable secret file.
 */
export function storeOptions(
  settings: CommonSettings,
  rootOf: (path: string) => string = () => settings.root,
): Pick<StoreOptions, 'servers' | 'auth' | 'acl' | 'tls'> {
  const tls = tlsOptions(settings);
  return {
    servers: parseConnectionString(settings.zookeeper),
    ...accessOptions(settings, rootOf),
    ...(tls === null ? {} : { tls }),
  };
}

/** Returns the TLS options that the guardian needs to close a session. */
export function tlsNote(tls: TlsOptions | undefined, settings: TlsSettings): TlsNote | null {
  if (tls === undefined) return null;
  const { ca, cert, key, passphrase = null, servername = null, rejectUnauthorized = true } = tls;
  const text = (pem: TlsOptions['ca']) => (pem === undefined ? null : [pem].flat().map(String).join('\n'));
  const { tlsCa, tlsCert, tlsKey, tlsPassphraseFile } = settings;
  return {
    atStart: { ca: text(ca), cert: text(cert), key: text(key), passphrase },
    files: { ca: tlsCa, cert: tlsCert, key: tlsKey, passphrase: tlsPassphraseFile },
    servername,
    rejectUnauthorized,
  };
}

/**
 * Returns the TLS options. Returns null if no TLS setting is given, which means a plaintext connection.
 * Throws an Error if a file cannot be read, and PetrelError INVALID for an unusable passphrase file.
 */
export function tlsOptions(settings: TlsSettings): TlsOptions | null {
  const tls = readTls(settings);
  // Read the files again before each connection. The settings that name them do not change.
  return tls === null ? null : { ...tls, reread: () => readTls(settings) ?? tls };
}

type TlsSettings = Pick<
  CommonSettings,
  'tlsCa' | 'tlsCert' | 'tlsKey' | 'tlsPassphrase' | 'tlsPassphraseFile' | 'tlsServername'
>;

function readTls({
  tlsCa,
  tlsCert,
  tlsKey,
  tlsPassphrase,
  tlsPassphraseFile,
  tlsServername,
}: TlsSettings): Omit<TlsOptions, 'reread'> | null {
  if (tlsCa === null && tlsCert === null && tlsKey === null && tlsServername === null) return null;
  const passphrase =
    tlsPassphrase ??
    (tlsPassphraseFile === null ? null : readSecretText('tls.passphraseFile', tlsPassphraseFile));
  return {
    ...(tlsCa === null ? {} : { ca: readFileSync(tlsCa) }),
    ...(tlsCert === null ? {} : { cert: readFileSync(tlsCert) }),
    ...(tlsKey === null ? {} : { key: readFileSync(tlsKey) }),
    ...(passphrase === null ? {} : { passphrase }),
    ...(tlsServername === null ? {} : { servername: tlsServername }),
  };
}
