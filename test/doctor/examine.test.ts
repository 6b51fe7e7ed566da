/**
 * Each finding of the doctor, from the facts that cause it. test/group/doctor.test.ts shows that real groups
 * yield these facts.
 */
import { describe, expect, it } from 'vitest';
import { examine } from '../../src/doctor/examine.js';
import type { Facts, GroupFacts, MemberFacts, NodeFacts, ServerFacts } from '../../src/doctor/facts.js';
import { readSummary, readTiming } from '../../src/doctor/servers.js';
import { permissions } from '../../src/model/acl.js';

const timing = {
  tickTimeMs: 1000,
  minSessionTimeoutMs: 2000,
  maxSessionTimeoutMs: 20_000,
  syncLimitTicks: 5,
};

function server(name: string, mode: string | null, more: Partial<ServerFacts> = {}): ServerFacts {
  return { server: name, summary: { version: '3.8.4', mode, isServing: true }, timing, ...more };
}

function member(node: string, more: Partial<MemberFacts> = {}): MemberFacts {
  const probe = { host: node, port: 7946, protocol: 'udp' as const };
  const peers = ['a1', 'b1'].filter((peer) => peer !== node);
  return {
    node,
    version: '0.1.0',
    startedAtMs: 1000,
    registeredAtMs: 1500,
    probe,
    reaches: peers,
    unreachable: null,
    ...more,
  };
}

const agents = [{ scheme: 'digest', id: 'petrel:hash' }];
const closed = agents.map((identity) => ({ permissions: permissions.all, identity }));
const open = [{ permissions: permissions.all, identity: { scheme: 'world', id: 'anyone' } }];
const znode = { path: '/cluster/config', acl: closed, wanted: closed, isRight: true, version: 0 };

const group: GroupFacts = {
  root: '/cluster',
  access: { agents, operators: [], observers: [], world: 'none' },
  hasAclSettings: true,
  znodes: [znode],
  members: [member('a1'), member('b1')],
  slots: [{ leader: 'a1', reason: 'the first', isChanging: false }],
  late: [],
  problems: [],
  clock: { aheadMs: 20, withinMs: 5 },
  tokens: [{ epoch: 0, slot: 1, token: 48n }],
};
const node: NodeFacts = {
  version: '0.1.0',
  settings: null,
  hooks: [],
  hasHooks: true,
  secretFiles: [{ path: '/etc/petrel/auth', key: 'authFile', mode: 0o100600 }],
  unreadable: [],
  listen: { address: '127.0.0.1:8008', isConfigured: false, state: 'free', owner: null },
  system: { seesProcesses: true, hasShell: true },
  transports: { isPasswordInClear: false, isTokenInClear: false },
  certificates: [{ path: '/etc/petrel/cert.pem', key: 'http.tls.cert', endsAtMs: 40 * 86_400_000 }],
  seenTokens: null,
  nowMs: 0,
};
const well: Facts = {
  servers: [server('zk1:2181', 'follower'), server('zk2:2181', 'leader'), server('zk3:2181', 'follower')],
  session: { requestedMs: 6000, grantedMs: 6000 },
  group,
  node,
};

function found(facts: Partial<Facts>) {
  const findings = examine({ ...well, ...facts }).filter(({ severity }) => severity !== 'ok');
  // Every problem must come with a remedy.
  for (const { what, todo } of findings) expect(todo, what).toMatch(/\w/);
  return findings.map(({ severity, check, what, todo }) => `${severity} ${check}: ${what} → ${todo}`);
}

it('a group that is well gives no finding, and says what is well', () => {
  expect(found({})).toEqual([]);
  const checks = examine(well).map(({ check }) => check);
  expect(new Set(checks)).toEqual(
    new Set([
      'servers',
      'quorum',
      'session',
      'timing',
      'group',
      'acl',
      'clock',
      'versions',
      'peers',
      'hooks',
      'files',
      'http',
      'system',
      'transports',
      'certificates',
    ]),
  );
});

describe('servers', () => {
  const [one, two, three] = [
    server('zk1:2181', 'follower'),
    server('zk2:2181', 'leader'),
    server('zk3:2181', 'follower'),
  ];
  const down = { problem: 'connect ECONNREFUSED' };
  const silent = { version: null, mode: null, isServing: true };
  const other = { version: '3.7.1', mode: 'follower', isServing: true };
  it.each<[string, ServerFacts[], RegExp[]]>([
    [
      'away',
      [one, two, { ...three, summary: down }],
      [/^error servers: zk3:2181 is unreachable: connect ECONNREFUSED → start the server/],
    ],
    [
      'without a majority',
      [{ ...one, summary: { ...silent, isServing: false } }],
      [/^error servers: zk1:2181 is running but not serving clients/],
    ],
    [
      'that report nothing',
      [one, two, { ...three, summary: silent }],
      [/^note servers: zk3.* → set 4lw.commands.whitelist/],
    ],
    ['alone', [server('zk1:2181', 'standalone')], [/^warning quorum: the ensemble has a single server/]],
    [
      'that are standalone next to each other',
      [server('zk1:2181', 'standalone'), server('zk2:2181', 'standalone')],
      [/^error quorum: zk1:2181, zk2:2181 all run standalone/],
    ],
    [
      'of which one is alone',
      [server('zk1:2181', 'standalone'), { ...two, summary: silent }],
      [/^error quorum: zk1:2181 runs standalone, not in the ensemble/, /^note servers/],
    ],
    ['two', [one, two], [/^warning quorum: the ensemble has two servers/]],
    ['without a leader', [one, three], [/^warning quorum: none of the named servers leads/]],
    [
      'with two leaders',
      [two, server('zk4:2181', 'leader'), one],
      [/^warning quorum: zk2:2181 and zk4:2181 both report/],
    ],
    ['of two versions', [one, two, { ...three, summary: other }], [/^note servers: .*3\.8\.4, 3\.7\.1/]],
    [
      'of two settings',
      [one, two, { ...three, timing: { ...timing, syncLimitTicks: 9 } }],
      [/^warning timing: the servers differ in/],
    ],
  ])('%s', (_, servers, wanted) => {
    const lines = found({ servers });
    expect(lines).toHaveLength(wanted.length);
    for (const [at, pattern] of wanted.entries()) expect(lines[at]).toMatch(pattern);
  });

  it('are read from what they answer', () => {
    const srvr =
      'Zookeeper version: 3.8.4-9316c2a7a97e1666d8f4593f34dd6fc36ecc436c, built on 2024-02-12 22:16 UTC\nMode: follower\n';
    expect(readSummary(srvr)).toEqual({ version: '3.8.4', mode: 'follower', isServing: true });
    expect(readSummary('srvr is not executed because it is not in the whitelist.\n')).toEqual({
      version: null,
      mode: null,
      isServing: true,
    });
    expect(readSummary('This ZooKeeper instance is not currently serving requests\n')).toMatchObject({
      isServing: false,
    });
    const conf =
      'clientPort=2181\ntickTime=2000\nminSessionTimeout=4000\nmaxSessionTimeout=40000\nsyncLimit=5\n';
    expect(readTiming(conf)).toEqual({
      tickTimeMs: 2000,
      minSessionTimeoutMs: 4000,
      maxSessionTimeoutMs: 40_000,
      syncLimitTicks: 5,
    });
    expect(readTiming('conf is not executed because it is not in the whitelist.\n')).toBeNull();
  });
});

describe('the session', () => {
  const with2sTicks = well.servers.map((one) => ({ ...one, timing: { ...timing, tickTimeMs: 2000 } }));
  it.each<[string, Partial<Facts>, RegExp]>([
    ['there is none', { session: { problem: 'AUTH_FAILED' } }, /^error session: AUTH_FAILED/],
    [
      'shorter than requested',
      { session: { requestedMs: 60_000, grantedMs: 20_000 } },
      /^warning session: .*granted .* 20000 ms instead of 60000 ms .*2000 to 20000 ms\): even a shorter stall/,
    ],
    [
      'longer than requested',
      { session: { requestedMs: 1000, grantedMs: 6000 } },
      /^warning session: .*failures are detected later/,
    ],
    [
      'of less than two ticks',
      { session: { requestedMs: 3000, grantedMs: 3000 }, servers: with2sTicks },
      /^error timing: .*shorter than two ticks of 2000 ms/,
    ],
    [
      'shorter than the sync limit',
      { servers: with2sTicks },
      /^note timing: syncLimit × tickTime \(10000 ms\).* → set syncLimit=3 .* sessionTimeout to 10000 ms/,
    ],
  ])('%s', (_, facts, pattern) => {
    expect(found(facts)).toEqual([expect.stringMatching(pattern)]);
  });
});

describe('the group', () => {
  const wrong = { ...znode, acl: open, isRight: false };
  const stuck: GroupFacts['late'][number] = {
    ...{ term: 4, node: 'b1', to: 'a1', elapsedMs: 40_000, limitMs: 30_000 },
    ...{ phase: 'releasing', since: '2026-01-01T00:00:00.000Z' },
  };
  const readable = { ...znode, acl: closed.slice(1), isRight: false };
  it.each<[string, Partial<GroupFacts>, RegExp]>([
    [
      'nobody leads',
      { slots: [{ leader: null, reason: 'site a was drained by root@vm: x', isChanging: false }] },
      /^error group: \/cluster has no leader: site a was drained by root@vm: x → run petrel explain/,
    ],
    [
      'one slot without a leader',
      {
        slots: [
          { leader: 'a1', reason: 'the first', isChanging: false },
          { leader: null, reason: 'no node is eligible', isChanging: false },
        ],
      },
      /^error group: slot 2 of \/cluster has no leader: no node is eligible → /,
    ],
    [
      'a transition within its deadline',
      { slots: [{ leader: null, reason: 'b1 is taking over (3 s of 60 s)', isChanging: true }] },
      /^warning group: \/cluster has no leader: b1 is taking over \(3 s of 60 s\) → wait/,
    ],
    [
      'no nodes',
      { members: [], slots: [{ leader: null, reason: 'a1 leads', isChanging: false }] },
      /^warning group: \/cluster has no leader: no node is registered → start an agent/,
    ],
    [
      'A8 a leader that does not release, fenced in vain',
      { late: [stuck] },
      /^error group: the transition of term 4 is overdue: b1 is releasing leadership \(40 s of 30 s\); a1 is waiting → stop the service on b1\. .*onFence/,
    ],
    [
      'garbage',
      { problems: ['/cluster/config: invalid JSON'] },
      /^warning group: \/cluster\/config: invalid JSON/,
    ],
    [
      'open',
      { access: null, znodes: [wrong] },
      /^warning acl: the group has no ACLs: any client of ZooKeeper can change/,
    ],
    [
      'closed to who looks',
      { access: null, znodes: [{ ...znode, isRight: false }] },
      /^warning acl: the group has ACLs, but doctor runs without/,
    ],
    [
      'open in one place',
      { znodes: [znode, wrong] },
      /^error acl: any client of ZooKeeper can change 1 of 2 znodes, for example \/cluster\/config \(world:anyone:cdrwa\) → .*petrel acl apply/,
    ],
    ['other ACLs', { znodes: [znode, readable] }, /^error acl: 1 of 2 znodes do not have the required ACL/],
    [
      'closed to strangers, seen by an observer who has only credentials',
      { hasAclSettings: false, znodes: [readable, readable] },
      /^note acl: the group is closed to other clients; .* → .*run doctor with the agents’ acl\.\* settings/,
    ],
    [
      'on its way',
      { access: { agents, operators: [], observers: [], world: 'all' } },
      /^warning acl: acl.world is all/,
    ],
    [
      'a clock of one’s own that is ahead',
      { clock: { aheadMs: 5000, withinMs: 100 } },
      /^warning clock: the clock of this machine is at least 4\.9 s ahead of/,
    ],
    ['a clock that cannot be read', { clock: null }, /^note clock/],
    [
      'a peer’s clock that is ahead',
      { members: [member('a1', { startedAtMs: 9000 }), member('b1')] },
      /^warning clock: the clock of a1 is at least 7\.5 s ahead of/,
    ],
    [
      'two versions',
      { members: [member('a1'), member('b1', { version: '0.2.0' })] },
      /^warning versions: .*0\.1\.0 on a1; 0\.2\.0 on b1/,
    ],
    [
      'another version than this',
      { members: [member('a1', { version: '0.2.0', reaches: null })] },
      /^note versions: all agents run version 0\.2\.0, but this command is version 0\.1\.0/,
    ],
    [
      'a peer that cannot be reached',
      { members: [member('a1'), member('b1', { unreachable: 'connect ECONNREFUSED' })] },
      /^warning peers: b1 is unreachable from this machine over TCP at b1:7946: connect ECONNREFUSED → allow/,
    ],
    [
      'a peer that does not answer',
      { members: [member('a1', { reaches: [] }), member('b1')] },
      /^warning peers: b1 does not answer the probes of a1 at b1:7946 → allow UDP/,
    ],
  ])('%s', (_, facts, pattern) => {
    expect(found({ group: { ...group, ...facts } })).toEqual([expect.stringMatching(pattern)]);
  });

  it('that is not there', () => {
    expect(found({ group: { problem: 'there is no group at /x' } })).toEqual([
      'error group: there is no group at /x → fix the findings about servers and session first',
    ]);
  });
});

describe('this machine', () => {
  const file = { path: '/etc/petrel/auth', key: 'authFile' };
  const listen = { address: '127.0.0.1:8008', isConfigured: true, state: 'free', owner: null } as const;
  const peer = { isOwn: false, text: 'the agent of b1 in /db', peer: 'b1' };
  it.each<[string, Partial<NodeFacts>, RegExp]>([
    ['settings that make no agent', { settings: 'acl.agents: …' }, /^error settings: acl.agents/],
    [
      'a hook that is not there',
      { hooks: ['onTakeover: program "promote" not found'] },
      /^error hooks: onTakeover: program "promote" not found/,
    ],
    ['no hooks', { hasHooks: false }, /^note hooks/],
    [
      'a secret for everybody',
      { secretFiles: [{ ...file, mode: 0o100644 }] },
      /^error files: .*auth \(authFile\) contains a secret, .*mode 0644\) → chmod 600/,
    ],
    [
      'a secret that is not there',
      { secretFiles: [], unreadable: [{ ...file, why: 'ENOENT' }] },
      /^error files: \/etc\/petrel\/auth \(authFile\) cannot be read: ENOENT → create the file/,
    ],
    [
      'an address that something else has',
      { listen: { ...listen, state: 'taken' } },
      /^error http: 127\.0\.0\.1:8008 is in use by a process that is not a Petrel agent.*cannot start → .*ss -ltnp 'sport = :8008'/,
    ],
    [
      'the default address that a peer’s agent has',
      { listen: { ...listen, isConfigured: false, state: 'taken', owner: peer } },
      /^note http: 127\.0\.0\.1:8008 serves b1’s agent; another agent on this machine would run without HTTP → to check b1, run doctor --node-id b1 or with its --config$/,
    ],
    [
      'the default address that an agent of another group has',
      { listen: { ...listen, isConfigured: false, state: 'taken', owner: { ...peer, peer: null } } },
      /^warning http: 127\.0\.0\.1:8008 is in use by the agent of b1 in \/db: the agent runs without HTTP → choose another address for --listen$/,
    ],
    [
      'a configured address that a peer’s agent has',
      { listen: { ...listen, state: 'taken', owner: peer } },
      /^error http: 127\.0\.0\.1:8008 is in use by the agent of b1 in \/db: .* cannot start → choose another address for --listen$/,
    ],
    [
      'an address that it may not have',
      { listen: { ...listen, state: { problem: 'EACCES' } } },
      /^error http: cannot listen on 127\.0\.0\.1:8008 \(EACCES\): an agent with these settings cannot start/,
    ],
    [
      'no processes to be seen',
      { system: { seesProcesses: false, hasShell: true } },
      /^warning system: \/proc shows no processes/,
    ],
    [
      'a password in the clear',
      { transports: { isPasswordInClear: true, isTokenInClear: false } },
      /^warning transports: the ZooKeeper password is sent over the network in clear text → set tls\.ca/,
    ],
    [
      'a token in the clear',
      { transports: { isPasswordInClear: false, isTokenInClear: true } },
      /^warning transports: HTTP is open to other machines/,
    ],
    [
      'a certificate that has ended',
      { nowMs: 41 * 86_400_000 },
      /^error certificates: .*cert\.pem \(http\.tls\.cert\) expired at 1970-02-10/,
    ],
    [
      'a certificate that soon will',
      { nowMs: 30 * 86_400_000 },
      /^warning certificates: .*expires in 10 days/,
    ],
    [
      'a certificate that is none',
      { certificates: [{ path: '/x', key: 'tls.ca', endsAtMs: null }] },
      /^error certificates: \/x \(tls\.ca\) contains no readable certificate/,
    ],
    [
      'no shell',
      { system: { seesProcesses: true, hasShell: false } },
      /^warning system: \/bin\/sh is missing/,
    ],
  ])('%s', (_, facts, pattern) => {
    expect(found({ node: { ...node, ...facts } })).toEqual([expect.stringMatching(pattern)]);
  });
});

it('the worst comes first', () => {
  const severities = examine({ ...well, session: { problem: 'x' }, node: { ...node, hasHooks: false } }).map(
    ({ severity }) => severity,
  );
  expect(severities.slice(0, 2)).toEqual(['error', 'note']);
});

describe('V4 fencing tokens that the agent has seen', () => {
  const remembers = (seenTokens: NodeFacts['seenTokens']) => found({ node: { ...node, seenTokens } });
  const greatest = (token: bigint, epoch = 0) => ({ epoch, bySlot: new Map([[1, token]]) });

  it('no greater than the one in force are well', () => {
    expect(remembers(greatest(48n))).toEqual([]);
    const findings = examine({ ...well, node: { ...node, seenTokens: greatest(48n) } });
    expect(findings.filter(({ check }) => check === 'tokens')).toMatchObject([{ severity: 'ok' }]);
  });

  it('greater, or of a later epoch, are an error', () => {
    expect(remembers(greatest(49n))).toEqual([
      expect.stringMatching(
        /^error tokens: fencing token 48 is not greater than 49.*config set tokenEpoch 1$/,
      ),
    ]);
    expect(remembers(greatest(1n, 2))).toEqual([
      expect.stringMatching(/^error tokens: tokenEpoch .* is 0, but it was 2 .*config set tokenEpoch 3$/),
    ]);
  });

  it('that cannot be read are an error', () => {
    expect(remembers({ problem: 'a.tokens.json is malformed: garbage' })).toEqual([
      expect.stringMatching(/^error tokens: a.tokens.json is malformed: garbage/),
    ]);
  });
});
