/**
 * All log lines about one transition have the same log context: in the logs of all nodes and in `petrel
 * history --term`.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { termSchema } from '../../src/group/term.js';
import { startDevelopmentServer } from '../../src/testing.js';
import { agentDeath } from '../support/agent-death.js';
import { type LogLine, type PetrelProcess, startProcess } from '../support/agents.js';
import { runCommand } from '../support/command.js';
import { ofNode, started } from '../support/known.js';
import { uniqueRoot } from '../support/unique-root.js';

const root = uniqueRoot('logContext');
const nodes = new Map<string, PetrelProcess>();
let zookeeper: Awaited<ReturnType<typeof startDevelopmentServer>> | undefined;

beforeAll(async () => {
  zookeeper = await startDevelopmentServer({ tickTimeMs: 500 });
  for (const name of ['a', 'b', 'c']) {
    const agent = await startProcess(['agent'], {
      ...(await access()),
      PETREL_NODE_ID: name,
      PETREL_SITE: 'here',
      // The timeout is so long that a starved machine loses no lease.
      PETREL_SESSION_TIMEOUT: '9s',
      PETREL_ON_PREPARE: 'echo warms up',
      PETREL_ON_TAKEOVER: 'echo serves; sleep 600 &',
      PETREL_ON_RELEASE: 'echo stops',
    });
    await agent.logged(/^joined/);
    nodes.set(name, agent);
  }
  await ofNode(nodes, 'a').logged(/^recorded: term 1/);
});
afterAll(() => zookeeper?.close());

async function access(): Promise<Record<string, string>> {
  return { PETREL_ZOOKEEPER: started(zookeeper, 'the ZooKeeper').connectString, PETREL_ROOT: root };
}

type Line = LogLine & { readonly term?: unknown; readonly reason?: unknown; readonly node?: unknown };

/** Returns the log lines of all nodes, in the order of their times. */
function lines(): Line[] {
  const all = [...nodes.values()].flatMap(({ log }) => log);
  return all.toSorted((one, other) => (one.time < other.time ? -1 : one.time > other.time ? 1 : 0));
}

/** Returns the log lines from the decision of a term to its READY. */
function between(term: number): Line[] {
  const ofTerm = (line: Line, what: RegExp) => line.term === term && what.test(line.msg);
  const from = lines().find((line) => ofTerm(line, /^electing/))?.time ?? '';
  const to = lines().find((line) => ofTerm(line, /^READY/))?.time ?? '';
  expect(from < to, `${from} < ${to}`).toBe(true);
  return lines().filter(
    ({ time, msg }) => time >= from && time <= to && !/^(joined|ZooKeeper session)/.test(msg),
  );
}

function nodesThatLog(term: number, reason: string): unknown[] {
  const matching = lines().filter((line) => line.term === term && String(line.reason).includes(reason));
  return [...new Set(matching.map(({ node }) => node))].toSorted();
}

const logContext = async (term: number) => {
  const { stdout } = await runCommand(['history', '--term', String(term), '-f', 'json'], await access());
  return termSchema.parse(JSON.parse(stdout));
};

describe('a planned handover', () => {
  it('is logged by all nodes under one term, with its reason', async () => {
    const args = ['switchover', '--to', 'b', '--yes', '--reason', 'kernel update'];
    expect(await runCommand(args, await access())).toMatchObject({ code: 0 });
    await ofNode(nodes, 'a').logged(/^recorded: term 2/);
    await ofNode(nodes, 'b').logged((line) => line.msg.startsWith('READY') && line.term === 2);
    expect(between(2).filter(({ term }) => term !== 2)).toEqual([]);
    const logged = between(2).map(({ node, msg }) => `${node}: ${msg}`);
    for (const line of [
      'a: onRelease started',
      'a: stops',
      'a: released',
      'a: leadership released',
      'b: serves',
    ]) {
      expect(logged).toContain(line);
    }
    expect(nodesThatLog(2, 'kernel update')).toEqual(['a', 'b']);
  });

  it('is in the history, step by step', async () => {
    const { steps, hooks, lengths, changes, ...report } = await logContext(2);
    expect(report).toMatchObject({
      term: 2,
      outcome: 'READY',
      node: 'b',
      by: 'a',
      cause: 'planned',
      failed: [],
    });
    expect(report.reason).toContain('kernel update');
    expect(steps.map(({ node, step }) => `${node} ${step}`)).toEqual([
      'null changed',
      'a decided',
      'a release-began',
      'a release-ended',
      'b takeover-began',
      'b takeover-ended',
      'b ready',
    ]);
    const instants = steps.map(({ at }) => at ?? '');
    expect(instants).toEqual(instants.toSorted());
    expect(hooks).toMatchObject([
      { node: 'a', phase: 'release', result: 'ok' },
      { node: 'b', phase: 'takeover', result: 'ok' },
    ]);
    expect(changes).toMatchObject([{ reason: 'kernel update' }]);
    const { releaseMs, takeoverMs, totalMs, leaderlessMs } = lengths;
    expect(releaseMs).toBeGreaterThan(0);
    expect(leaderlessMs).toBeGreaterThanOrEqual((releaseMs ?? 0) + (takeoverMs ?? 0));
    expect(totalMs).toBeGreaterThanOrEqual(leaderlessMs ?? 0);
  });

  it('is printed for people', async () => {
    const { stdout } = await runCommand(['history', '--term', '2'], await access());
    expect(stdout).toContain(`Term 2 of ${root}, b: READY`);
    expect(stdout).toMatch(/\+\d+\.\d{3}s +a +release-ended +a has completed its release: ok/);
    const unheard = await runCommand(['history', '--term', '7'], await access());
    expect(unheard).toMatchObject({ code: 1, stderr: expect.stringContaining('term 7 does not exist yet') });
  });
});

describe('a failover', () => {
  it('is logged by the dead agent’s guardian too, under the term that it ends', async () => {
    ofNode(nodes, 'b').signal('SIGKILL');
    await ofNode(nodes, 'a').logged(/^recorded: term 3/);
    await ofNode(nodes, 'a').logged((line) => line.msg.startsWith('READY') && line.term === 3);
    await ofNode(nodes, 'b').logged(/^the workload is proven dead/);
    // The guardian of b logs the term that the crash ended, possibly after the successor was elected. So
    // lines of b may have an earlier term.
    expect(between(3).filter(({ term, node }) => term !== 3 && node !== 'b')).toEqual([]);
    expect(nodesThatLog(3, 'instead of b (no longer registered)')).toEqual(['a']);
    const guardian = ofNode(nodes, 'b').log.filter(
      ({ reason }) => reason === 'the agent was killed by SIGKILL',
    );
    expect(guardian.map(({ term }) => term)).toEqual(guardian.map(() => 2));
    // The chaos run counts deaths by this line.
    expect(guardian[0]?.msg).toMatch(agentDeath);
    expect(guardian.map(({ msg }) => msg)).toEqual([
      'the agent was killed by SIGKILL: stopping its workload, then ending its session',
      'the guardian ran the release hook and stopped the workload',
      'restarting the agent in 1 s',
      "the workload is proven dead, and the dead agent's session was ended",
    ]);
    expect(await logContext(3)).toMatchObject({
      outcome: 'READY',
      node: 'a',
      previous: { node: 'b' },
      cause: 'failure',
    });
  });
});
