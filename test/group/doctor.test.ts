/** The findings of `petrel doctor` on real servers, in groups of real agents. */
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { accessOptions } from '../../src/config/access-settings.js';
import { readSettings } from '../../src/config/read-settings.js';
import { agentSettings, clientSettings } from '../../src/config/settings.js';
import { examine } from '../../src/doctor/examine.js';
import { gatherFacts } from '../../src/doctor/gather.js';
import { permissions } from '../../src/model/acl.js';
import { type Clock, systemClock } from '../../src/ports/clock.js';
import { startDevelopmentServer } from '../../src/testing.js';
import { digestIdentity } from '../../src/zookeeper/digest.js';
import { Group } from '../support/agent-group.js';
import { makeCertificate } from '../support/certificates.js';
import { sharedZooKeeper, startEnsemble, supportsEnsemble, uniqueRoot } from '../support/ensemble.js';
import { openApi } from '../support/http.js';
import { freePorts } from '../support/ports.js';
import { secrets } from '../support/secrets.js';
import { until } from '../support/until.js';

const { agents } = secrets.zooKeeper;
const settings = agentSettings.extend(clientSettings.shape);

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'petrel-doctor-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

function file(name: string, text: string, mode = 0o600): string {
  const path = join(directory, name);
  writeFileSync(path, text);
  chmodSync(path, mode);
  return path;
}

async function findings(env: Record<string, string>, clock: Clock = systemClock): Promise<string[]> {
  const sources = { flags: {}, env: { PETREL_CONNECT_TIMEOUT: '2s', PETREL_LISTEN: 'off', ...env } };
  const { values, described, unreadable } = await readSettings(settings, sources, 'reported');
  const log = pino({ level: 'silent' });
  const found = examine(await gatherFacts({ settings: values, described, unreadable, clock, log }));
  return found.map(({ severity, check, what }) => `${severity} ${check}: ${what}`);
}

function notOk(lines: readonly string[]): string[] {
  return lines.filter((line) => !line.startsWith('ok '));
}

/** A clock that is ahead of the ensemble's clock. */
const ahead: Clock = { ...systemClock, wallMs: () => Date.now() + 60_000 };

describe('in a group with ACLs', () => {
  let group: Group;
  let env: Record<string, string>;
  beforeEach(async () => {
    const root = uniqueRoot('doctor');
    env = {
      PETREL_ZOOKEEPER: await sharedZooKeeper(),
      PETREL_ROOT: root,
      PETREL_AUTH_FILE: file('auth', `digest:${agents}\n`),
      PETREL_ACL_AGENTS: digestIdentity(agents).id,
      PETREL_ACL_OBSERVERS: digestIdentity(secrets.zooKeeper.observers).id,
      PETREL_ON_TAKEOVER: 'true',
    };
    const { values } = await readSettings(settings, { flags: {}, env });
    group = await Group.found(
      await sharedZooKeeper(),
      {},
      root,
      accessOptions(values, () => root),
    );
    await group.start('a1').joined();
    await group.ready('a1');
  });
  afterEach(() => group[Symbol.asyncDispose]());

  it('that is well, it finds one server, and that alone', async () => {
    const lines = await findings(env);
    // The agents of the tests report "test" as their version.
    expect(notOk(lines).filter((line) => !/versions|syncLimit/.test(line))).toEqual([
      expect.stringMatching(/^warning quorum: the ensemble has a single server/),
    ]);
    expect(lines).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^ok servers: all servers answer: .*\(standalone\)/),
        expect.stringMatching(/^ok session: ZooKeeper granted the requested session timeout, 6000 ms/),
        expect.stringMatching(/^ok timing: tickTime \d+ ms/),
        expect.stringMatching(/^ok group: a1 leads/),
        expect.stringMatching(/^ok acl: all \d+ znodes have the required ACL/),
        expect.stringMatching(/^ok clock: the clock of this machine and the ensemble’s clock agree/),
        expect.stringMatching(/^note versions: all agents run version test/),
      ]),
    );
  });

  it('it finds a znode that is open, a clock that is ahead, programs that are not there, and a secret for all', async () => {
    const anyone = { permissions: permissions.all, identity: { scheme: 'world', id: 'anyone' } };
    await group.store.setAcl(group.paths.config, [anyone], 'any');
    const config = file('petrel.yaml', 'probe:\n  secret: 0123456789abcdef\n', 0o644);
    const token = file('token', 'f'.repeat(32), 0o604);
    const lines = await findings(
      {
        ...env,
        PETREL_CONFIG: config,
        PETREL_HTTP_TOKEN_FILE: token,
        PETREL_LISTEN: '0.0.0.0:0',
        PETREL_ON_TAKEOVER: '["/nowhere/promote"]',
        PETREL_SESSION_TIMEOUT: '1h',
      },
      ahead,
    );
    expect(notOk(lines)).toEqual(
      expect.arrayContaining([
        expect.stringMatching(
          /^error acl: any client of ZooKeeper can change 1 of \d+ znodes, for example .*\/config \(world/,
        ),
        expect.stringMatching(/^warning clock: the clock of this machine is at least (59|60)\.\d s ahead of/),
        expect.stringMatching(/^error hooks: onTakeover: program "\/nowhere\/promote" not found/),
        expect.stringMatching(
          /^error files: .*petrel\.yaml \(probe\.secret\) contains a secret, .*mode 0644\)/,
        ),
        expect.stringMatching(/^error files: .*token \(http\.tokenFile\) contains a secret, .*mode 0604\)/),
        expect.stringMatching(/^warning transports: HTTP is open to other machines/),
        expect.stringMatching(/^error settings: http\.tokenFile: .*other users can access/),
        expect.stringMatching(/^warning session: ZooKeeper granted .* instead of 3600000 ms/),
      ]),
    );
  });

  it('it finds a certificate that soon ends, a password in the clear, and no HTTP in it', async () => {
    const { certificatePath, keyPath } = await makeCertificate(directory, 'server');
    const lines = await findings({
      ...env,
      PETREL_ZOOKEEPER: `${env.PETREL_ZOOKEEPER},${hostname()}:1`,
      PETREL_HTTP_TOKEN: secrets.httpToken,
      PETREL_LISTEN: '0.0.0.0:0',
      PETREL_HTTP_TLS_CERT: certificatePath,
      PETREL_HTTP_TLS_KEY: keyPath,
    });
    expect(notOk(lines)).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^error servers: .*:1 is unreachable/),
        expect.stringMatching(/^warning transports: the ZooKeeper password/),
        expect.stringMatching(/^warning certificates: .*server.*\(http\.tls\.cert\) expires in \d days/),
      ]),
    );
    expect(lines.filter((line) => line.includes('HTTP is open'))).toEqual([]);
  });

  it('it finds a peer that nobody reaches where it says that it answers', async () => {
    const { data } = await group.store.getData(group.paths.node('a1'));
    const [port = 0] = await freePorts(1);
    const probe = { host: '127.0.0.1', port, protocol: 'tcp' };
    const registration = JSON.stringify({ ...JSON.parse(data.toString()), node: 'b1', probe });
    await group.store.create(group.paths.node('b1'), Buffer.from(registration), 'persistent');
    expect(notOk(await findings(env))).toContainEqual(
      expect.stringMatching(/^warning peers: b1 is unreachable from this machine over TCP at .*ECONNREFUSED/),
    );
  });

  it('it says so where it may not look, or nobody leads', async () => {
    const { PETREL_AUTH_FILE: _, ...without } = env;
    expect(notOk(await findings(without))).toContainEqual(
      expect.stringMatching(/^error group: .*ACL does not allow it/),
    );
    const asObserver = { ...without, PETREL_AUTH: `digest:${secrets.zooKeeper.observers}` };
    const lines = await findings(asObserver);
    expect(lines.filter((line) => line.startsWith('error'))).toEqual([]);
    expect(lines).toContainEqual(expect.stringMatching(/^note clock: cannot compare clocks/));
    const own = { PETREL_ZOOKEEPER: String(env.PETREL_ZOOKEEPER), PETREL_ROOT: String(env.PETREL_ROOT) };
    const closed = await findings({ ...own, PETREL_AUTH: asObserver.PETREL_AUTH });
    expect(closed.filter((line) => line.startsWith('error'))).toEqual([]);
    expect(closed).toContainEqual(expect.stringMatching(/^note acl: the group is closed/));
    const drained = { by: 'root@vm', reason: 'x', at: '2026-01-01T00:00:00.000Z' };
    await group.configure({ drained: { a1: drained } });
    await until(async () => (await group.current()) === null && (await group.elected()).node === null);
    const [worst] = notOk(await findings(env));
    expect(worst).toMatch(
      /^error group: .* has no leader: no node is eligible: a1: .* drained by root@vm: x$/,
    );
    await group.members[0]?.abandon();
    expect(notOk(await findings(env))).toContainEqual(
      expect.stringMatching(/^warning group: .* has no leader: no node is registered/),
    );
  });
});

describe('of this machine', () => {
  it('it goes on where files are not there, and says which', async () => {
    const gone = ['token', 'auth', 'probes', 'key'].map((name) => join(directory, name));
    const lines = await findings({
      PETREL_ZOOKEEPER: await sharedZooKeeper(),
      PETREL_HTTP_TOKEN_FILE: String(gone[0]),
      PETREL_AUTH_FILE: String(gone[1]),
      PETREL_PROBE_SECRET_FILE: String(gone[2]),
      PETREL_HTTP_TLS_CERT: String(gone[3]),
      PETREL_HTTP_TLS_KEY: String(gone[3]),
    });
    const files = lines.filter((line) => line.startsWith('error files'));
    for (const path of gone) expect(files).toContainEqual(expect.stringContaining(`${path} (`));
    expect(lines).toContainEqual(expect.stringMatching(/^(ok|note) servers/));
    expect(lines).toContainEqual(expect.stringMatching(/^error session: authFile/));
    expect(lines).toContainEqual(expect.stringMatching(/^ok system/));
  });

  it('it finds who has the address of HTTP', async () => {
    await using group = await Group.found(await sharedZooKeeper());
    await using api = await openApi(group, group.start('a1'));
    const { port } = new URL(api.server.url);
    const env = { PETREL_ZOOKEEPER: await sharedZooKeeper(), PETREL_LISTEN: `127.0.0.1:${port}` };
    const own = await findings({ ...env, PETREL_NODE_ID: 'a1' });
    expect(own).toContainEqual(
      expect.stringMatching(/^ok http: .* is in use by this node: the agent of a1 in /),
    );
    const other = await findings({ ...env, PETREL_NODE_ID: 'b1' });
    expect(other).toContainEqual(expect.stringMatching(/^error http: .* is in use by the agent of a1 in /));
    const elsewhere = await findings({ ...env, PETREL_LISTEN: '192.0.2.1:8008' });
    expect(elsewhere).toContainEqual(expect.stringMatching(/^error http: cannot listen .*EADDRNOTAVAIL/));
    await using zookeeper = await startDevelopmentServer();
    const stranger = await findings({ ...env, PETREL_LISTEN: zookeeper.connectString });
    expect(stranger).toContainEqual(
      expect.stringMatching(/^error http: .* is in use by a process that is not a Petrel agent/),
    );
    const [free] = await freePorts(1);
    const well = await findings({ ...env, PETREL_LISTEN: `127.0.0.1:${free}` });
    expect(well).toContainEqual(`ok http: 127.0.0.1:${free} is available for HTTP`);
  });
});

describe('where there is nothing', () => {
  it('it finds no server, and no group', async () => {
    const [port] = await freePorts(1);
    const nobody = await findings({ PETREL_ZOOKEEPER: `127.0.0.1:${port}` });
    expect(nobody).toContainEqual(expect.stringMatching(/^error servers: .*is unreachable: .*ECONNREFUSED/));
    expect(nobody).toContainEqual(expect.stringMatching(/^error session: .*no connection within 2000 ms/));
    const noGroup = await findings({
      PETREL_ZOOKEEPER: await sharedZooKeeper(),
      PETREL_ROOT: uniqueRoot('none'),
    });
    expect(noGroup).toContainEqual(expect.stringMatching(/^error group: there is no group at/));
  });
});

describe.skipIf(!supportsEnsemble)('of real servers', () => {
  it('it finds the leader of an ensemble, one that is away, and a session timeout that the lease cannot stand on', async () => {
    await using ensemble = await startEnsemble(3, {
      tickTimeMs: 2000,
      minSessionTimeoutMs: 500,
      syncLimitTicks: 5,
    });
    const env = { PETREL_ZOOKEEPER: ensemble.connectString, PETREL_SESSION_TIMEOUT: '3s' };
    const all = await findings(env);
    expect(all).toContainEqual(expect.stringMatching(/^ok quorum: .* leads the ensemble with 2 followers/));
    expect(all).toContainEqual(expect.stringMatching(/^error timing: .*shorter than two ticks of 2000 ms/));
    const slow = await findings({ ...env, PETREL_SESSION_TIMEOUT: '6s' });
    expect(slow).toContainEqual(expect.stringMatching(/^note timing: syncLimit × tickTime \(10000 ms\)/));
    const leader = await ensemble.leader();
    const [follower] = ensemble.servers.filter((server) => server !== leader);
    await follower?.kill9();
    expect(await findings(env)).toContainEqual(
      expect.stringMatching(new RegExp(`^error servers: ${follower?.connectString} is unreachable`)),
    );
  });
});
