/** The HTTP interface of running agents: its address, its secrets, and the files that a reload re-reads. */
import { chmodSync, copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect as connectSecurely } from 'node:tls';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { usualListen } from '../../src/config/listen.js';
import { type PetrelProcess, runProcess, startProcess } from '../support/agents.js';
import { makeCertificate } from '../support/certificates.js';
import { sharedZooKeeper, uniqueRoot } from '../support/ensemble.js';
import { codeOf } from '../support/http.js';
import { secrets } from '../support/secrets.js';
import { until } from '../support/until.js';

const token = secrets.httpToken;

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'petrel-http-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

function write(name: string, text: string, mode = 0o600): string {
  const path = join(directory, name);
  writeFileSync(path, text);
  chmodSync(path, mode);
  return path;
}

async function environment(env: Readonly<Record<string, string>>) {
  return {
    PETREL_ZOOKEEPER: await sharedZooKeeper(),
    PETREL_ROOT: uniqueRoot('http'),
    PETREL_NODE_ID: 'a1',
    ...env,
  };
}

async function agent(env: Readonly<Record<string, string>>, args: readonly string[] = ['agent']) {
  return await startProcess(args, await environment(env));
}

async function urlOf(started: PetrelProcess): Promise<string> {
  return String((await started.logged(/^HTTP server listening on/)).url);
}

async function changes(url: string, given: string): Promise<number> {
  const headers = { authorization: `Bearer ${given}` };
  return (await fetch(`${url}/resume`, { method: 'POST', headers })).status;
}

/** Occupies a port of this machine, unless another process already occupies it. */
async function hold(port: number): Promise<Disposable & { readonly port: number }> {
  const server = createServer();
  server.on('error', () => {});
  await new Promise<void>((resolve) => {
    server.once('error', () => resolve());
    server.listen(port, usualListen.host, () => resolve());
  });
  const address = server.address();
  const held = typeof address === 'object' && address !== null ? address.port : port;
  return { port: held, [Symbol.dispose]: () => server.close() };
}

describe('an agent', () => {
  it('whose usual port is taken says so, and goes on without HTTP', async () => {
    using _ = await hold(usualListen.port);
    await using started = await agent({ PETREL_LISTEN: 'auto' });
    await started.logged(/^running without HTTP: 127\.0\.0\.1:8008 is in use; choose /);
    await started.logged(/^joined/);
  });

  it('with a port that it cannot have ends, and names it', async () => {
    using held = await hold(0);
    const { code, stderr } = await runProcess(
      ['agent'],
      await environment({ PETREL_LISTEN: `127.0.0.1:${held.port}` }),
    );
    expect(stderr).toContain(`cannot listen for HTTP on 127.0.0.1:${held.port}`);
    expect(code).toBe(1);
  });

  it('whose command is one that is run answers where its settings say', async () => {
    await using started = await agent({}, ['run', '--listen', '127.0.0.1:0', '--', 'sleep', '60']);
    const url = await urlOf(started);
    await until(async () => (await codeOf(`${url}/leader`)) === 200, { timeoutMs: 20_000 });
    // These files are part of the build. An agent that runs from its sources would have to build them first.
    for (const part of ['', 'page/page.js', 'page/page.css', 'page/icon.svg']) {
      expect(await codeOf(`${url}/${part}`), part).toBe(200);
    }
  });

  it.each([
    ['other users can access', `${token}\n`, 0o644],
    ['contains no token', 'short', 0o600],
  ])('whose token file %s ends, and says so without repeating it', async (what, text, mode) => {
    const path = write('token', text, mode);
    const { code, stderr } = await runProcess(
      ['agent'],
      await environment({ PETREL_LISTEN: '127.0.0.1:0', PETREL_HTTP_TOKEN_FILE: path }),
    );
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(what) });
    expect(stderr).not.toContain(text.trim());
  });

  it('reads its token again on SIGHUP, and keeps the old one if the new one is invalid', async () => {
    const path = write('token', token);
    await using started = await agent({ PETREL_LISTEN: '127.0.0.1:0', PETREL_HTTP_TOKEN_FILE: path });
    const url = await urlOf(started);
    await started.logged(/^joined/);
    expect(await changes(url, token)).toBe(200);
    const other = `${token}-newer`;
    write('token', other);
    started.signal('SIGHUP');
    await until(async () => (await changes(url, other)) === 200);
    expect(await changes(url, token)).toBe(401);
    await started.logged(/^HTTP: loaded the new token and certificate/);
    write('token', 'short');
    started.signal('SIGHUP');
    await started.logged(/^HTTP: keeping the old token and certificate/);
    expect(await changes(url, other)).toBe(200);
    expect(started.stderr).not.toContain(token);
  });

  it('that others can reach says that they may read, and that changes are refused', async () => {
    await using started = await agent({ PETREL_LISTEN: '0.0.0.0:0', PETREL_HTTP_TOKEN: '' });
    const url = (await urlOf(started)).replace('0.0.0.0', '127.0.0.1');
    const { level } = await started.logged(
      /no token is set, so changes are refused; any client that reaches 0\.0\.0\.0/,
    );
    expect(level).toBe('warn');
    expect(await changes(url, token)).toBe(403);
  });

  it('speaks TLS 1.2 or later, and takes a new certificate on SIGHUP', async () => {
    const [first, second] = [
      await makeCertificate(directory, 'first'),
      await makeCertificate(directory, 'second'),
    ];
    const [cert, key] = [join(directory, 'cert.pem'), join(directory, 'key.pem')];
    copyFileSync(first.certificatePath, cert);
    copyFileSync(first.keyPath, key);
    await using started = await agent({
      PETREL_LISTEN: '127.0.0.1:0',
      PETREL_HTTP_TLS_CERT: cert,
      PETREL_HTTP_TLS_KEY: key,
    });
    const url = await urlOf(started);
    expect(url).toMatch(/^https:/);
    expect(await subjectAt(url)).toBe('first');
    expect(await secureCode(`${url}/health`)).toBe(200);
    await expect(subjectAt(url, 'TLSv1.1')).rejects.toThrow();
    copyFileSync(second.certificatePath, cert);
    copyFileSync(second.keyPath, key);
    started.signal('SIGHUP');
    await until(async () => (await subjectAt(url)) === 'second');
  });

  it('whose certificate will not do ends', async () => {
    const malformed = write('garbage.pem', 'no certificate');
    const { code, stderr } = await runProcess(
      ['agent'],
      await environment({
        PETREL_LISTEN: '127.0.0.1:0',
        PETREL_HTTP_TLS_CERT: malformed,
        PETREL_HTTP_TLS_KEY: malformed,
      }),
    );
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('http.tls') });
  });
});

/** Returns the subject of the server's certificate. */
function subjectAt(url: string, maxVersion: 'TLSv1.1' | 'TLSv1.3' = 'TLSv1.3'): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const options = { host: hostname, port: Number(port), rejectUnauthorized: false, maxVersion };
    const old =
      maxVersion === 'TLSv1.1' ? { minVersion: 'TLSv1' as const, ciphers: 'DEFAULT@SECLEVEL=0' } : {};
    const socket = connectSecurely({ ...options, ...old }, () => {
      resolve(String(socket.getPeerCertificate().subject.CN));
      socket.destroy();
    });
    socket.on('error', reject);
  });
}

function secureCode(url: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { rejectUnauthorized: false, agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    sent.on('error', reject);
    sent.end();
  });
}
