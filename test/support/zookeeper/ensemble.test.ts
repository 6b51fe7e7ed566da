import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { connect } from 'node:tls';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type CertificateFiles, makeCertificate } from '../certificates.js';
import {
  sharedZooKeeper,
  startEnsemble,
  startZooKeeper,
  supportsEnsemble,
  supportsServerConfig,
  type TestServer,
  uniqueRoot,
} from '../ensemble.js';
import { parseAddress } from '../proxy.js';
import { until } from '../until.js';
import { serverMode } from './four-letter-word.js';

describe('the ZooKeeper of the tests', () => {
  it('has one server that all tests share', async () => {
    const address = await sharedZooKeeper();
    expect(await sharedZooKeeper()).toBe(address);
    expect(await serverMode(address)).toBe('standalone');
    expect(uniqueRoot()).not.toBe(uniqueRoot());
  });

  it('starts a server of the test’s own, and stops it', async () => {
    const server = await startZooKeeper();
    expect(server.connectString).not.toBe(await sharedZooKeeper());
    await until(() => server.isLeader());
    expect(await server.fourLetterWord('ruok')).toBe('imok');
    await server.stop();
    expect(await server.isLeader()).toBe(false);
  });

  it('can be frozen: it takes connections and says nothing', async () => {
    await using server = await startZooKeeper();
    await server.pause();
    await expect(server.fourLetterWord('srvr')).rejects.toThrow('did not answer');
    await server.resume();
    await server.ready();
  });

  it('can be killed and started again at the same address', async () => {
    await using server = await startZooKeeper();
    const address = server.connectString;
    await server.kill9();
    await expect(server.fourLetterWord('srvr')).rejects.toThrow('ECONNREFUSED');
    await server.restart();
    expect(server.connectString).toBe(address);
    await until(() => server.isLeader());
  });
});

describe.skipIf(!supportsServerConfig)('a configured server', () => {
  it('takes its times, lines for zoo.cfg and flags for Java', async () => {
    await using server = await startZooKeeper({
      tickTimeMs: 400,
      maxSessionTimeoutMs: 77_000,
      extraConfig: ['minSessionTimeout=1234'],
      jvmFlags: ['-Duser.home=/elsewhere'],
    });
    const conf = await server.fourLetterWord('conf');
    expect(conf).toContain('tickTime=400');
    expect(conf).toContain('maxSessionTimeout=77000');
    expect(conf).toContain('minSessionTimeout=1234');
    expect(await server.fourLetterWord('envi')).toContain('user.home=/elsewhere');
  });

  it('serves over TLS those whose certificate it trusts, and only those', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'petrel-tls-'));
    onTestFinished(() => rm(dir, { recursive: true }));
    const own = await makeCertificate(dir, 'server');
    const client = await makeCertificate(dir, 'client');
    await using server = await startZooKeeper({
      tls: { keyStorePath: own.keyStorePath, trustStorePath: client.certificatePath },
    });
    expect(await askSecurely(server, own, client)).toContain('Mode: standalone');
    await expect(askSecurely(server, own, own)).rejects.toThrow();
    await until(() => server.isLeader());
  });
});

/** Sends `srvr` over TLS, as a client that trusts `server` and presents the certificate of `client`. */
async function askSecurely(
  { secureConnectString }: TestServer,
  server: CertificateFiles,
  client: CertificateFiles,
): Promise<string> {
  const socket = connect({
    ...parseAddress(secureConnectString),
    ca: await readFile(server.certificatePath),
    key: await readFile(client.keyPath),
    cert: await readFile(client.certificatePath),
  });
  socket.write('srvr');
  return text(socket);
}

describe.skipIf(!supportsEnsemble)('an ensemble', () => {
  it('elects a new leader when its leader is killed, and takes the old one back', async () => {
    await using ensemble = await startEnsemble(3);
    expect(ensemble.connectString.split(',')).toHaveLength(3);
    const first = await ensemble.leader();
    await first.kill9();
    expect(await ensemble.leader()).not.toBe(first);
    await first.restart();
  });

  it('cuts a server off from the others while clients still reach it, and heals', async () => {
    await using ensemble = await startEnsemble(3);
    const leader = await ensemble.leader();
    const index = ensemble.servers.findIndex((server) => server !== leader);
    const follower = at(ensemble.servers, index);
    await ensemble.isolate(index);
    await until(() => follower.fourLetterWord('srvr').then((answer) => !answer.includes('Mode:')), {
      describe: 'the server to find that it is alone',
    });
    expect(await ensemble.leader()).toBe(leader);
    await ensemble.heal();
    await ensemble.ready();
  });
});

function at(servers: readonly TestServer[], index: number): TestServer {
  const server = servers[index];
  if (server === undefined) throw new Error(`no server ${index}`);
  return server;
}
