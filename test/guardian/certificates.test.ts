/**
 * Fault A4 (docs/reports/faults.md): the guardian presents the current certificate, even if it was replaced
 * after the agent's start.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { tlsNote, tlsOptions } from '../../src/config/store-options.js';
import { Certificates } from '../../src/guardian/certificates.js';
import { HeldSession } from '../../src/guardian/held-session.js';
import { isFromAgent, type SessionNote } from '../../src/guardian/messages.js';
import { systemClock } from '../../src/ports/clock.js';
import { dialOver } from '../../src/zookeeper/dial.js';
import { makeCertificate } from '../support/certificates.js';
import { showCertificates } from '../support/shown-certificates.js';
import { until } from '../support/until.js';

/** The answer to a handshake when the session is over: a timeout of 0. */
const sessionOver = Buffer.alloc(40);
sessionOver.writeInt32BE(36, 0);
sessionOver.writeInt32BE(16, 20);

it('A4 a guardian holds its agent’s session with the certificate that is on disk then', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'petrel-held-'));
  let isOver = false;
  // If the connection is destroyed, the guardian retries.
  const { files, next, cert, key, use, shown, server, port } = await showCertificates(dir, (socket) => {
    if (isOver) socket.end(sessionOver);
    else socket.destroy();
  });
  const paths = { tlsCa: files.certificatePath, tlsCert: cert, tlsKey: key };
  const settings = { ...paths, tlsPassphrase: null, tlsPassphraseFile: null, tlsServername: null };
  const tls = tlsNote(tlsOptions(settings) ?? undefined, settings);
  const session: SessionNote = {
    id: '7',
    password: Buffer.alloc(16).toString('base64'),
    timeoutMs: 60_000,
    longestTimeoutMs: 60_000,
    servers: [{ host: '127.0.0.1', port }],
    tls,
    auth: null,
  };
  expect(isFromAgent({ type: 'session', session })).toBe(true);
  if (tls === null) throw new Error('TLS was requested');
  const warned: string[] = [];
  const log = { debug() {}, info() {}, warn: (_fields: object, text: string) => void warned.push(text) };
  await use(next);
  const certificates = new Certificates(tls, systemClock, log);
  const held = new HeldSession({
    session,
    clock: systemClock,
    dial: dialOver(() => certificates.inForce()),
    prepare: (limitMs) => certificates.renew(limitMs),
    random: () => 0.5,
  });
  try {
    await until(() => shown.length > 0, { describe: 'a connection' });
    expect(shown[0]).toBe('second');
    // A file is empty for a moment while it is being replaced.
    await writeFile(cert, '');
    await until(() => warned.length > 0, { describe: 'a warning' });
    await writeFile(cert, 'half a certif');
    const before = shown.length;
    await until(() => shown.length > before, { describe: 'another connection' });
    expect(new Set(shown)).toEqual(new Set(['second']));
    expect(warned).toEqual([expect.stringContaining('keeping the old certificates')]);
    await use(files);
    await until(() => shown.at(-1) === 'first', { describe: 'the certificate that was put back' });
  } finally {
    isOver = true;
    expect(await held.end()).toBe('over');
    server.close();
    await rm(dir, { recursive: true, force: true });
  }
});

it('A4 a disk that hangs does not keep a guardian from going on with the certificates that it has', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'petrel-hung-'));
  const { certificatePath } = await makeCertificate(dir, 'first');
  const ca = join(dir, 'ca.pem');
  // Reading the FIFO blocks until another process writes to it.
  await promisify(execFile)('mkfifo', [ca]);
  const none = { ca: null, cert: null, key: null, passphrase: null };
  const atStart = { ...none, ca: await readFile(certificatePath, 'utf8') };
  const note = { atStart, files: { ...none, ca }, servername: null, rejectUnauthorized: true };
  const certificates = new Certificates(note, systemClock, { debug() {}, info() {}, warn() {} });
  const before = certificates.inForce();
  try {
    await certificates.renew(20);
    expect(certificates.inForce()).toBe(before);
  } finally {
    await writeFile(ca, atStart.ca);
    await rm(dir, { recursive: true, force: true });
  }
});
