/** Makes self-signed certificates for TLS tests with openssl. They are valid for 127.0.0.1 and localhost. */
import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

export interface CertificateFiles {
  /** PEM file with the private key. */
  readonly keyPath: string;
  /** PEM file with the certificate, which is also the authority that vouches for it. */
  readonly certificatePath: string;
  /** PEM file with the key and then the certificate, as ZooKeeper expects its key store. */
  readonly keyStorePath: string;
}

/** Makes a certificate, and writes its three files into `dir`. */
export async function makeCertificate(dir: string, commonName: string): Promise<CertificateFiles> {
  const files = {
    keyPath: join(dir, `${commonName}.key.pem`),
    certificatePath: join(dir, `${commonName}.crt.pem`),
    keyStorePath: join(dir, `${commonName}.pem`),
  };
  const request = [
    'req',
    '-x509',
    '-nodes',
    '-days',
    '2',
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:P-256',
  ];
  const names = ['-subj', `/CN=${commonName}`, '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'];
  const output = ['-keyout', files.keyPath, '-out', files.certificatePath];
  await promisify(execFile)('openssl', [...request, ...names, ...output]);
  const parts = [await readFile(files.keyPath, 'utf8'), await readFile(files.certificatePath, 'utf8')];
  await writeFile(files.keyStorePath, parts.join(''));
  return files;
}
