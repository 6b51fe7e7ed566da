/** Tests TLS and digest authentication, against a real ZooKeeper if one is available. */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PetrelError } from '../../src/errors.js';
import type { TlsOptions } from '../../src/zookeeper/index.js';
import { type CertificateFiles, makeCertificate } from '../support/certificates.js';
import {
  sharedZooKeeper,
  startZooKeeper,
  supportsServerConfig,
  type TestServer,
  uniqueRoot,
} from '../support/ensemble.js';
import { startProxy } from '../support/proxy.js';
import { FakeServer, op } from './fake-server.js';
import { connectedProbe, failureOf, probe } from './probe.js';

const nothing: Buffer = Buffer.alloc(0);

describe.skipIf(!supportsServerConfig)('TLS', () => {
  let dir: string;
  let [serverFiles, clientFiles, strangerFiles]: CertificateFiles[] = [];
  let mutual: TestServer;
  let serverOnly: TestServer;

  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'petrel-tls-'));
    serverFiles = await makeCertificate(dir, 'server');
    clientFiles = await makeCertificate(dir, 'client');
    strangerFiles = await makeCertificate(dir, 'stranger');
    const tls = { keyStorePath: serverFiles.keyStorePath, trustStorePath: clientFiles.certificatePath };
    mutual = await startZooKeeper({ tls });
    serverOnly = await startZooKeeper({ tls: { ...tls, clientAuth: 'none' } });
  });

  afterAll(async () => {
    await Promise.all([mutual?.stop(), serverOnly?.stop()]);
    await rm(dir, { recursive: true, force: true });
  });

  const pem = (path: string | undefined) => readFile(path ?? '', 'utf8');

  async function refusal(server: TestServer, tls: TlsOptions): Promise<string> {
    await using ours = probe(server.secureConnectString, { tls });
    const error = await failureOf(ours.store.connected({ timeoutMs: 1000 }));
    expect(error.code).toBe('TIMEOUT');
    return error.message;
  }

  it('checks the server and shows no certificate', async () => {
    const tls = { ca: await pem(serverFiles?.certificatePath) };
    await using ours = await connectedProbe(serverOnly.secureConnectString, { tls });
    const path = await ours.store.create(uniqueRoot(), Buffer.from('secret'), 'persistent');
    await using plain = await connectedProbe(serverOnly.connectString);
    expect((await plain.store.getData(path)).data.toString()).toBe('secret');
  });

  it('checks the server by its name, if the connection string has one', async () => {
    const tls = { ca: await pem(serverFiles?.certificatePath) };
    const byName = serverOnly.secureConnectString.replace('127.0.0.1', 'localhost');
    await using ours = await connectedProbe(byName, { tls });
    expect(ours.store.state).toBe('CONNECTED');
  });

  it('shows its own certificate to a server that asks for one', async () => {
    const tls = {
      ca: Buffer.from(await pem(serverFiles?.certificatePath)),
      cert: await pem(clientFiles?.certificatePath),
      key: Buffer.from(await pem(clientFiles?.keyPath)),
    };
    await using ours = await connectedProbe(mutual.secureConnectString, { tls });
    await ours.store.create(uniqueRoot(), Buffer.alloc(200_000), 'persistent');
    expect(await ours.store.close()).toBe(true);
  });

  it('reads an encrypted key', async () => {
    const keyPath = join(dir, 'encrypted.key.pem');
    const encrypt = [
      'pkcs8',
      '-topk8',
      '-in',
      clientFiles?.keyPath ?? '',
      '-passout',
      'pass:open',
      '-out',
      keyPath,
    ];
    await promisify(execFile)('openssl', encrypt);
    const tls = {
      ca: await pem(serverFiles?.certificatePath),
      cert: await pem(clientFiles?.certificatePath),
      key: await pem(keyPath),
    };
    await using ours = await connectedProbe(mutual.secureConnectString, {
      tls: { ...tls, passphrase: 'open' },
    });
    expect(ours.store.state).toBe('CONNECTED');
    const wrong = () => probe(mutual.secureConnectString, { tls: { ...tls, passphrase: 'shut' } });
    expect(wrong).toThrow(PetrelError);
    expect(wrong).toThrow('TLS options');
  });

  it('is refused without the certificate that a server asks for', async () => {
    const ca = await pem(serverFiles?.certificatePath);
    expect(await refusal(mutual, { ca })).toMatch(/alert.*certificate/);
    const [cert, key] = [await pem(strangerFiles?.certificatePath), await pem(strangerFiles?.keyPath)];
    expect(await refusal(mutual, { ca, cert, key })).toMatch(/alert.*certificate/);
  });

  it('refuses a server that it has no reason to trust, unless configured to', async () => {
    expect(await refusal(serverOnly, {})).toContain('self-signed certificate');
    expect(await refusal(serverOnly, { ca: await pem(strangerFiles?.certificatePath) })).toContain(
      'certificate',
    );
    await using ours = await connectedProbe(serverOnly.secureConnectString, {
      tls: { rejectUnauthorized: false },
    });
    expect(ours.store.state).toBe('CONNECTED');
  });

  it('refuses a server under another name', async () => {
    const ca = await pem(serverFiles?.certificatePath);
    expect(await refusal(serverOnly, { ca, servername: 'zk.example.org' })).toContain('zk.example.org');
  });

  it('says so when only one side talks TLS', async () => {
    await using plainServer = probe(serverOnly.connectString, { tls: {} });
    await using plainClient = probe(serverOnly.secureConnectString);
    const wait = { timeoutMs: 1000 };
    expect((await failureOf(plainServer.store.connected(wait))).message).toContain('may not support TLS');
    expect((await failureOf(plainClient.store.connected(wait))).message).toContain('may accept only TLS');
  });
});

describe('TLS options', () => {
  it.each([
    { ca: 'no certificate' },
    { cert: 'no certificate', key: 'no key' },
    { key: Buffer.from('no key') },
  ])('%o are refused at once', (tls) => {
    expect(() => probe('127.0.0.1:1', { tls })).toThrow(PetrelError);
  });
});

describe('digest authentication', () => {
  const auth = [{ scheme: 'digest', credentials: 'petrel:s3cret' }] as const;

  it('makes znodes that only the same credentials open', async () => {
    const target = await sharedZooKeeper();
    await using ours = await connectedProbe(target, { auth });
    const path = await ours.store.create(uniqueRoot(), Buffer.from('data'), 'persistent');
    await ours.store.multi([{ type: 'create', path: `${path}/a`, data: nothing, mode: 'persistent' }]);
    await using alike = await connectedProbe(target, { auth });
    expect((await alike.store.getData(path)).data.toString()).toBe('data');

    await using wrong = await connectedProbe(target, {
      auth: [{ scheme: 'digest', credentials: 'petrel:guessed' }],
    });
    await using none = await connectedProbe(target);
    for (const { store } of [wrong, none]) {
      const errors = [
        await failureOf(store.getData(path)),
        await failureOf(store.getData(`${path}/a`)),
        await failureOf(store.set(path, nothing, 'any')),
        await failureOf(store.multi([{ type: 'set', path, data: nothing, version: 'any' }])),
      ];
      expect(errors.map(({ code }) => code)).toEqual(Array(4).fill('NO_AUTH'));
      expect(errors[0]?.message).toContain("the znode's ACL does not allow it");
      expect(store.state).toBe('CONNECTED');
    }
  });

  it('makes znodes open to all when asked to', async () => {
    const target = await sharedZooKeeper();
    await using ours = await connectedProbe(target, { auth, acl: 'open' });
    const path = await ours.store.create(uniqueRoot(), nothing, 'persistent');
    await using none = await connectedProbe(target);
    expect((await none.store.set(path, nothing, 0)).version).toBe(1);
  });

  it('holds on every new connection', async () => {
    await using proxy = await startProxy({ target: await sharedZooKeeper() });
    await using ours = await connectedProbe(proxy.address, { auth });
    const path = await ours.store.create(uniqueRoot(), nothing, 'persistent');
    proxy.resetAll();
    await failureOf(ours.store.getData(path));
    await ours.store.connected();
    expect((await ours.store.getData(path)).stat.version).toBe(0);
  });

  it('that the server rejects ends the session, before it was ever connected', async () => {
    await using fake = await FakeServer.start({
      request: (talk, { xid, type }) => {
        if (type === op.AUTH) talk.reply(xid, { error: -115 });
        talk.end();
      },
    });
    await using ours = probe(fake.address, { auth });
    const error = await failureOf(ours.store.connected());
    expect(error.code).toBe('AUTH_FAILED');
    expect(error.message).toContain('the server rejected the credentials');
    expect(ours.states).toEqual(['LOST']);
    expect((await failureOf(ours.store.getData('/'))).code).toBe('AUTH_FAILED');
  });

  it('never shows the password in a log', async () => {
    await using ours = await connectedProbe(await sharedZooKeeper(), { auth });
    await ours.store.close();
    expect(ours.logged.length).toBeGreaterThan(0);
    expect(JSON.stringify(ours.logged)).not.toContain('s3cret');
  });

  it.each([
    [{ acl: 'creator' }, 'acl "creator" requires credentials'],
    [{ auth: [{ scheme: 'digest', credentials: 'petrel' }] }, 'user:password'],
    [{ auth: [{ scheme: 'digest', credentials: ':s3cret' }] }, 'user:password'],
  ] as const)('%o is refused', (options, problem) => {
    expect(() => probe('127.0.0.1:1', options)).toThrow(problem);
  });
});
