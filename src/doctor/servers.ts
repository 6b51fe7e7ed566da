/** Checks the servers of the ensemble, and the session that they grant. */
import { type Facts, isProblem, type ServerFacts, type ServerSummary, type ServerTiming } from './facts.js';
import { type Finding, finding, ok, orOk } from './finding.js';

/** Parses the response to `srvr`. */
export function readSummary(answer: string): ServerSummary {
  const isServing = !/not currently serving requests/.test(answer);
  const version = /^Zookeeper version: ([^,\n]+?)(?:-[0-9a-f]{12,})?(?:,.*)?$/m.exec(answer)?.[1] ?? null;
  const mode = /^Mode: (\S+)/m.exec(answer)?.[1] ?? null;
  return { version, mode, isServing };
}

/** Parses the response to `conf`. Returns null if the command is disabled. */
export function readTiming(answer: string): ServerTiming | null {
  const value = (key: string) => {
    const text = new RegExp(`^${key}=(\\d+)$`, 'm').exec(answer)?.[1];
    return text === undefined ? null : Number(text);
  };
  const tickTimeMs = value('tickTime');
  const minSessionTimeoutMs = value('minSessionTimeout');
  const maxSessionTimeoutMs = value('maxSessionTimeout');
  if (tickTimeMs === null || minSessionTimeoutMs === null || maxSessionTimeoutMs === null) return null;
  return { tickTimeMs, minSessionTimeoutMs, maxSessionTimeoutMs, syncLimitTicks: value('syncLimit') };
}

export function checkServers({ servers }: Facts): Finding[] {
  const each = servers.flatMap(checkServer);
  return [
    ...orOk(each, 'servers', `all servers answer: ${servers.map(described).join(', ')}`),
    ...checkQuorum(servers),
    ...checkVersions(servers),
    ...checkTimings(servers),
  ];
}

function described({ server, summary }: ServerFacts): string {
  const mode = isProblem(summary) ? null : summary.mode;
  return mode === null ? server : `${server} (${mode})`;
}

function checkServer({ server, summary }: ServerFacts): Finding[] {
  if (isProblem(summary)) {
    const todo = 'start the server, allow traffic to it in firewalls, or remove it from --zookeeper';
    return [finding('servers', 'error', `${server} is unreachable: ${summary.problem}`, todo)];
  }
  if (!summary.isServing) {
    const todo =
      'check the log of the server: it has just started, or it cannot reach a majority of its ensemble';
    return [finding('servers', 'error', `${server} is running but not serving clients`, todo)];
  }
  if (summary.mode !== null) return [];
  const todo = 'set 4lw.commands.whitelist=srvr,conf in the server’s zoo.cfg';
  return [finding('servers', 'note', `${server} answers, but does not report its mode and version`, todo)];
}

function checkQuorum(servers: readonly ServerFacts[]): Finding[] {
  const modes = servers.flatMap(({ server, summary }) =>
    isProblem(summary) || summary.mode === null ? [] : [{ server, mode: summary.mode }],
  );
  const named = (wanted: string) => modes.filter(({ mode }) => mode === wanted).map(({ server }) => server);
  const alone = named('standalone');
  if (alone.length > 0 && servers.length > 1) {
    const what =
      alone.length === 1
        ? `${alone[0]} runs standalone, not in the ensemble of the other servers in --zookeeper: it does not have their data`
        : `${alone.join(', ')} all run standalone: they do not share data`;
    return [
      finding(
        'quorum',
        'error',
        what,
        'give all servers the same server.N lines in zoo.cfg, or name only one server in --zookeeper',
      ),
    ];
  }
  if (alone.length === 1) {
    const what =
      'the ensemble has a single server: while it is down, leaders release leadership and no node can be elected';
    return [finding('quorum', 'warning', what, 'run three servers: three tolerate the loss of one')];
  }
  return modes.length < servers.length ? [] : checkLeaders(named('leader'), named('follower'));
}

function checkLeaders(leaders: readonly string[], followers: readonly string[]): Finding[] {
  const voters = leaders.length + followers.length;
  if (leaders.length > 1) {
    const what = `${leaders.join(' and ')} both report that they lead the ensemble: one of them is cut off and has not detected it yet`;
    return [
      finding(
        'quorum',
        'warning',
        what,
        'run doctor again; if the finding remains, the servers belong to two ensembles',
      ),
    ];
  }
  if (leaders.length === 0) {
    const what =
      'none of the named servers leads the ensemble: the ensemble has no leader, or its leader is missing from --zookeeper';
    return [finding('quorum', 'warning', what, 'name all servers of the ensemble in --zookeeper')];
  }
  if (voters === 2) {
    const what = 'the ensemble has two servers: the loss of either one stops it';
    return [finding('quorum', 'warning', what, 'run three servers: three tolerate the loss of one')];
  }
  return [ok('quorum', `${leaders[0]} leads the ensemble with ${followers.length} followers`)];
}

function checkVersions(servers: readonly ServerFacts[]): Finding[] {
  const versions = distinct(
    servers.map(({ summary }) => (isProblem(summary) ? null : summary.version)).filter((one) => one !== null),
  );
  if (versions.length <= 1) return [];
  const what = `the servers run different versions: ${versions.join(', ')}`;
  return [finding('servers', 'note', what, 'complete the upgrade of the servers')];
}

function checkTimings(servers: readonly ServerFacts[]): Finding[] {
  const timings = distinct(
    servers.flatMap(({ timing }) => (timing === null ? [] : [JSON.stringify(timing)])),
  );
  if (timings.length <= 1) return [];
  const what = `the servers differ in tickTime, syncLimit or session timeouts: ${timings.join(' and ')}`;
  return [finding('timing', 'warning', what, 'set the same values in zoo.cfg on all servers')];
}

/**
 * Checks the session and its timeout. The lease requires a quarter of the session timeout to be at least half
 * a tick (docs/reference/protocol.md, The lease). Above that minimum, a shorter timeout detects a dead
 * machine faster, and a longer timeout tolerates longer stalls.
 */
export function checkSession({ session, servers }: Facts): Finding[] {
  if (isProblem(session)) {
    return [
      finding(
        'session',
        'error',
        session.problem,
        'fix the findings about servers, credentials and TLS first',
      ),
    ];
  }
  const timing = servers.find((server) => server.timing !== null)?.timing ?? null;
  const findings = [
    ...checkGranted(session, timing),
    ...(timing === null ? [] : checkTicks(session.grantedMs, timing)),
  ];
  const known =
    timing === null
      ? []
      : [ok('timing', `tickTime ${timing.tickTimeMs} ms, session timeout ${session.grantedMs} ms`)];
  return [
    ...orOk(findings, 'session', `ZooKeeper granted the requested session timeout, ${session.grantedMs} ms`),
    ...known,
  ];
}

function checkGranted(
  { requestedMs, grantedMs }: { readonly requestedMs: number; readonly grantedMs: number },
  timing: ServerTiming | null,
): Finding[] {
  if (grantedMs === requestedMs) return [];
  const limits =
    timing === null ? '' : ` (allowed: ${timing.minSessionTimeoutMs} to ${timing.maxSessionTimeoutMs} ms)`;
  const cost =
    grantedMs > requestedMs ? 'failures are detected later' : 'even a shorter stall ends leadership';
  const what = `ZooKeeper granted a session timeout of ${grantedMs} ms instead of ${requestedMs} ms${limits}: ${cost}`;
  return [
    finding(
      'session',
      'warning',
      what,
      'change sessionTimeout, or minSessionTimeout and maxSessionTimeout of the servers',
    ),
  ];
}

function checkTicks(grantedMs: number, { tickTimeMs, syncLimitTicks }: ServerTiming): Finding[] {
  if (grantedMs < 2 * tickTimeMs) {
    const what = `the session timeout (${grantedMs} ms) is shorter than two ticks of ${tickTimeMs} ms: the lease is not safe`;
    const todo = `set sessionTimeout to at least ${2 * tickTimeMs} ms, and keep minSessionTimeout at its default of two ticks`;
    return [finding('timing', 'error', what, todo)];
  }
  const syncMs = (syncLimitTicks ?? 0) * tickTimeMs;
  if (syncMs <= grantedMs) return [];
  const what = `syncLimit × tickTime (${syncMs} ms) is longer than the session timeout (${grantedMs} ms): on a server that is cut off, a standby’s session may expire before the standby detects it. Leaders leave such a server in time`;
  const least = Math.max(1, Math.floor(grantedMs / tickTimeMs));
  return [
    finding(
      'timing',
      'note',
      what,
      `set syncLimit=${least} on the servers, or sessionTimeout to ${syncMs} ms`,
    ),
  ];
}

function distinct(texts: readonly string[]): string[] {
  return [...new Set(texts)];
}
