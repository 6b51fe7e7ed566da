/** The servers of the ensemble, and the session that they grant. */
import { type Facts, isProblem, type ServerFacts, type ServerSummary, type ServerTiming } from './facts.js';
import { type Finding, finding, ok, orOk } from './finding.js';

/** Of the answer to `srvr`. */
export function readSummary(answer: string): ServerSummary {
  const isServing = !/not currently serving requests/.test(answer);
  const version = /^Zookeeper version: ([^,\n]+?)(?:-[0-9a-f]{12,})?(?:,.*)?$/m.exec(answer)?.[1] ?? null;
  const mode = /^Mode: (\S+)/m.exec(answer)?.[1] ?? null;
  return { version, mode, isServing };
}

/** Of the answer to `conf`; null where it is not to tell. */
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
    ...orOk(each, 'servers', `all answer: ${servers.map(described).join(', ')}`),
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
    const todo = 'start it, open the way to it, or take it out of --zookeeper';
    return [finding('servers', 'error', `${server} cannot be reached: ${summary.problem}`, todo)];
  }
  if (!summary.isServing) {
    const todo = 'look into its log: it finds no majority of its ensemble, or has just started';
    return [finding('servers', 'error', `${server} is there, but serves nobody`, todo)];
  }
  if (summary.mode !== null) return [];
  const todo = 'set 4lw.commands.whitelist=srvr,conf in its zoo.cfg';
  return [finding('servers', 'note', `${server} answers, but does not tell its mode and version`, todo)];
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
        ? `${alone[0]} stands alone, and knows nothing of the others named: what is written to them is not on it`
        : `${alone.join(', ')} know nothing of each other: what is written to one is not on the others`;
    return [finding('quorum', 'error', what, 'give each the same server.N lines, or name one server alone')];
  }
  if (alone.length === 1) {
    const what = 'a single server: while it is away nobody can be elected, and leaders let go';
    return [finding('quorum', 'warning', what, 'three servers outlive the loss of one')];
  }
  return modes.length < servers.length ? [] : checkLeaders(named('leader'), named('follower'));
}

function checkLeaders(leaders: readonly string[], followers: readonly string[]): Finding[] {
  const voters = leaders.length + followers.length;
  if (leaders.length > 1) {
    const what = `${leaders.join(' and ')} both say that they lead: one of them does not know yet that it is cut off`;
    return [
      finding('quorum', 'warning', what, 'look again; if it stays so, the servers belong to two ensembles'),
    ];
  }
  if (leaders.length === 0) {
    const what = 'no server named leads: the leader is not among those named, or there is none';
    return [finding('quorum', 'warning', what, 'name all servers of the ensemble in --zookeeper')];
  }
  if (voters === 2) {
    const what = 'two servers: both must be there, so the loss of either stops everything';
    return [finding('quorum', 'warning', what, 'three servers outlive the loss of one')];
  }
  return [ok('quorum', `${leaders[0]} leads ${followers.length} followers`)];
}

function checkVersions(servers: readonly ServerFacts[]): Finding[] {
  const versions = distinct(
    servers.map(({ summary }) => (isProblem(summary) ? null : summary.version)).filter((one) => one !== null),
  );
  if (versions.length <= 1) return [];
  const what = `servers of different versions: ${versions.join(', ')}`;
  return [finding('servers', 'note', what, 'end the upgrade')];
}

function checkTimings(servers: readonly ServerFacts[]): Finding[] {
  const timings = distinct(
    servers.flatMap(({ timing }) => (timing === null ? [] : [JSON.stringify(timing)])),
  );
  if (timings.length <= 1) return [];
  const what = `servers that do not agree on tickTime, syncLimit or session timeouts: ${timings.join(' and ')}`;
  return [finding('timing', 'warning', what, 'give all the same zoo.cfg, but for what is their own')];
}

/**
 * The lease counts on a quarter of the session timeout being half a tick at least (docs/reference/protocol.md, The lease).
 * Beyond that the timeout is how fast a dead machine is noticed, against how long a stall may be.
 */
export function checkSession({ session, servers }: Facts): Finding[] {
  if (isProblem(session)) {
    return [
      finding('session', 'error', session.problem, 'mend what is found of the servers, credentials and TLS'),
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
    ...orOk(findings, 'session', `a session of ${session.grantedMs} ms is granted, as asked`),
    ...known,
  ];
}

function checkGranted(
  { askedMs, grantedMs }: { readonly askedMs: number; readonly grantedMs: number },
  timing: ServerTiming | null,
): Finding[] {
  if (grantedMs === askedMs) return [];
  const limits =
    timing === null ? '' : `, which lets ${timing.minSessionTimeoutMs} to ${timing.maxSessionTimeoutMs} ms`;
  const cost =
    grantedMs > askedMs ? 'a dead machine is noticed later' : 'a shorter stall costs the leadership';
  const what = `the session timeout asked for is ${askedMs} ms, granted are ${grantedMs} by the ensemble${limits}: ${cost}`;
  return [
    finding(
      'session',
      'warning',
      what,
      'change sessionTimeout, or min- and maxSessionTimeout of the servers',
    ),
  ];
}

function checkTicks(grantedMs: number, { tickTimeMs, syncLimitTicks }: ServerTiming): Finding[] {
  if (grantedMs < 2 * tickTimeMs) {
    const what = `the session timeout, ${grantedMs} ms, is less than two ticks of ${tickTimeMs} ms: the lease does not hold`;
    const todo = `ask for ${2 * tickTimeMs} ms at least, and leave minSessionTimeout at its default of two ticks`;
    return [finding('timing', 'error', what, todo)];
  }
  const syncMs = (syncLimitTicks ?? 0) * tickTimeMs;
  if (syncMs <= grantedMs) return [];
  const what = `syncLimit times tickTime, ${syncMs} ms, is longer than the session timeout, ${grantedMs} ms: a standby on a server that is cut off may lose its session before it is told. Leaders leave such a server in time`;
  const least = Math.max(1, Math.floor(grantedMs / tickTimeMs));
  return [finding('timing', 'note', what, `syncLimit=${least}, or a session timeout of ${syncMs} ms`)];
}

function distinct(texts: readonly string[]): string[] {
  return [...new Set(texts)];
}
