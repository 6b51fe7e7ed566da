/**
 * Tests that new connections use certificates that were replaced on disk (fault A4 in
 * docs/reports/faults.md).
 */
import { copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { tlsOptions } from '../../src/config/store-options.js';
import { dialWith } from '../../src/zookeeper/index.js';
import { showCertificates } from '../support/shown-certificates.js';
import { until } from '../support/until.js';

it('A4 a certificate that was replaced is shown at the next connection, and a broken one is not', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'petrel-renewed-'));
  const { files, next, cert, key, use, shown, server, port } = await showCertificates(dir);
  const messages: string[] = [];
  const note = (_fields: object, message: string) => void messages.push(message);
  const ca = join(dir, 'ca.crt');
  const [other, own] = await Promise.all(
    [next, files].map(async ({ certificatePath }) => await readFile(certificatePath, 'utf8')),
  );
  await writeFile(ca, `${other}${own}`);
  const settings = { tlsCa: ca, tlsCert: cert, tlsKey: key };
  const rest = { tlsPassphrase: null, tlsPassphraseFile: null, tlsServername: null };
  const dial = dialWith(tlsOptions({ ...settings, ...rest }) ?? undefined, {
    debug: note,
    info: note,
    warn: note,
  });
  const connectOnce = async () => {
    const before = shown.length;
    const endpoint = { server: { host: '127.0.0.1', port }, address: '127.0.0.1' };
    const events = { opened() {}, received() {}, closed() {}, failed() {} };
    const wire = dial(endpoint, events);
    await until(() => shown.length > before, { describe: 'a connection' });
    wire.destroy();
    return shown.at(-1);
  };
  try {
    expect(await connectOnce()).toBe('first');
    expect(messages).toEqual([]);
    await use(next);
    expect(await connectOnce()).toBe('second');
    expect(messages).toEqual([expect.stringContaining('loaded the new certificates')]);
    await writeFile(cert, 'half a certif');
    expect(await connectOnce()).toBe('second');
    expect(await connectOnce()).toBe('second');
    expect(messages.slice(1)).toEqual([expect.stringContaining('keeping the old certificates')]);
    expect(messages.at(-1)).toContain('TLS options: cert: ');
    // The certificate and its key are replaced one after the other. At this point, the new key is still
    // missing.
    await copyFile(files.certificatePath, cert);
    expect(await connectOnce()).toBe('second');
    expect(messages.at(-1)).toContain('TLS options: cert and key: ');
    await writeFile(key, 'half a k');
    expect(await connectOnce()).toBe('second');
    expect(messages.at(-1)).toContain('TLS options: key: ');
    await copyFile(files.keyPath, key);
    expect(await connectOnce()).toBe('first');
    // Node would trust only the first of these CAs, and not the server.
    for (const half of [own?.slice(0, -300), own?.slice(0, 20), own?.slice(0, 5)]) {
      await writeFile(ca, `${other}${half}`);
      expect(await connectOnce()).toBe('first');
      expect(messages.at(-1)).toContain('TLS options: ca: ');
    }
    await writeFile(ca, `# both\n${other}\n${own}`);
    expect(await connectOnce()).toBe('first');
    expect(messages.at(-1)).toContain('loaded the new certificates');
  } finally {
    server.close();
    await rm(dir, { recursive: true, force: true });
  }
});
