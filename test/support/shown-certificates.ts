/**
 * A client's certificate that can be replaced on disk, and a server that records which certificate a client
 * presents.
 */
import { copyFile, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createServer, type Server, type TLSSocket } from 'node:tls';
import { type CertificateFiles, makeCertificate } from './certificates.js';

export interface ShownCertificates {
  readonly files: CertificateFiles;
  readonly next: CertificateFiles;
  /** Paths of the certificate and of the key in use. At first they are copies of those in `files`. */
  readonly cert: string;
  readonly key: string;
  use(files: CertificateFiles): Promise<void>;
  /** Common names of the certificates that clients presented, in the order of the connections. */
  readonly shown: string[];
  readonly server: Server;
  readonly port: number;
}

/** Starts the server. Calls `connected` for each connection, after recording its certificate. */
export async function showCertificates(
  dir: string,
  connected: (socket: TLSSocket) => void = () => {},
): Promise<ShownCertificates> {
  const files = await makeCertificate(dir, 'first');
  const next = await makeCertificate(dir, 'second');
  const [cert, key] = [join(dir, 'in-use.crt'), join(dir, 'in-use.key')];
  const use = async ({ certificatePath, keyPath }: CertificateFiles) => {
    await copyFile(certificatePath, cert);
    await copyFile(keyPath, key);
  };
  await use(files);
  const shown: string[] = [];
  const server = createServer({
    cert: await readFile(files.certificatePath),
    key: await readFile(files.keyPath),
    requestCert: true,
    rejectUnauthorized: false,
  });
  server.on('secureConnection', (socket: TLSSocket) => {
    // There is no certificate if the client has disconnected in the meantime.
    const subject: { CN?: string | string[] } | undefined = socket.getPeerCertificate().subject;
    if (subject !== undefined) shown.push(String(subject.CN));
    socket.on('error', () => {});
    connected(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('a port was requested');
  return { files, next, cert, key, use, shown, server, port: address.port };
}
