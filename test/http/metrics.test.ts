/** /metrics: its content in each state of a node, and its conformance with the conventions of Prometheus. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Metrics } from '../../src/http/metrics.js';
import { systemClock } from '../../src/ports/clock.js';
import { type DevelopmentServer, startDevelopmentServer } from '../../src/testing.js';
import { byHand, Group, type Member } from '../support/agent-group.js';
import { type Api, openApi } from '../support/http.js';
import { descriptionSchema, expectDescribed } from '../support/openapi.js';
import { hasPrometheus, notHere, Page, promtool, scrape } from '../support/prometheus.js';
import { RecordingWorkload } from '../support/recording-workload.js';
import { until } from '../support/until.js';

let zookeeper: DevelopmentServer;
beforeAll(async () => {
  zookeeper = await startDevelopmentServer({ maxSessionTimeoutMs: 60_000 });
});
afterAll(() => zookeeper.close());

/** A session timeout with which no lease ends on a busy machine, except in tests about the end of a lease. */
const patientMs = 60_000;

interface Pair extends AsyncDisposable {
  readonly a: Member;
  readonly ofA: Api;
  readonly ofB: Api;
}

/** Starts a and then b, so that a is the elector. Both serve HTTP from their start. */
async function pair(
  group: Group,
  workloadOfA = new RecordingWorkload(),
  sessionTimeoutMs = patientMs,
): Promise<Pair> {
  const a = group.start('a', { sessionTimeoutMs, workload: workloadOfA });
  const ofA = await openApi(group, a);
  await a.joined();
  const b = group.start('b', { sessionTimeoutMs });
  const ofB = await openApi(group, b);
  await b.joined();
  await group.ready('a');
  return {
    a,
    ofA,
    ofB,
    async [Symbol.asyncDispose]() {
      await ofA.server.close();
      await ofB.server.close();
    },
  };
}

const page = (api: Api): Promise<Page> => scrape(api.server.url);

async function shows(api: Api, name: string, value: number, ...labels: string[]): Promise<Page> {
  return await until(
    async () => {
      const shown = await page(api);
      return shown.value(name, ...labels) === value ? shown : null;
    },
    { timeoutMs: 20_000, describe: `${name} {${labels}} to be ${value}` },
  );
}

describe('/metrics', () => {
  it('shows which node leads, which elects, and how each is connected to ZooKeeper', async () => {
    await using group = await Group.found(zookeeper.connectString);
    await using nodes = await pair(group);
    const [a, b] = [await page(nodes.ofA), await page(nodes.ofB)];
    const labels = [`root="${group.root}"`, 'node="a"'];
    expect(a.value('petrel_leader', ...labels)).toBe(1);
    expect(b.value('petrel_leader', 'node="b"')).toBe(0);
    expect([a, b].map((one) => one.value('petrel_elector'))).toEqual([1, 0]);
    for (const one of [a, b]) {
      expect(one.value('petrel_joined')).toBe(1);
      expect(one.value('petrel_term')).toBe(1);
      expect(one.value('petrel_paused')).toBe(0);
      expect(one.value('petrel_backoff')).toBe(0);
      expect(one.value('petrel_session_state', 'state="connected"')).toBe(1);
      expect(one.value('petrel_session_state', 'state="suspended"')).toBe(0);
      expect(one.value('petrel_info', 'version="', 'site="here"')).toBe(1);
      expect(one.value('process_resident_memory_bytes')).toBeGreaterThan(0);
    }
    const leaseSeconds = a.value('petrel_lease_remaining_seconds') ?? 0;
    expect(leaseSeconds).toBeGreaterThan(0);
    expect(leaseSeconds).toBeLessThan((patientMs / 1000) * 0.7);
    expect(b.value('petrel_lease_remaining_seconds')).toBe(0);
    expect(a.value('petrel_store_last_commit_seconds')).toBeLessThan(patientMs / 1000);
  });

  it('counts a transition once in the group, with its phases and its hooks, and how long deciding took', async () => {
    await using group = await Group.found(zookeeper.connectString);
    const released = new RecordingWorkload({
      release: () => new Promise((resolve) => setTimeout(resolve, 60)),
    });
    await using nodes = await pair(group, released);
    await shows(nodes.ofA, 'petrel_transitions_total', 1, 'reason="first"', 'outcome="ready"');
    await group.switchover('b');
    const a = await shows(nodes.ofA, 'petrel_transitions_total', 1, 'reason="planned"', 'outcome="ready"');
    const b = await page(nodes.ofB);
    expect(b.value('petrel_transitions_total', 'reason="planned"', 'outcome="ready"')).toBe(0);
    expect(a.value('petrel_transition_phase_seconds_count', 'phase="takeover"')).toBe(2);
    expect(a.value('petrel_transition_phase_seconds_count', 'phase="release"')).toBe(1);
    expect(a.value('petrel_transition_phase_seconds_sum', 'phase="release"')).toBeGreaterThan(0.055);
    expect(a.value('petrel_election_seconds_count')).toBe(2);
    expect(b.value('petrel_election_seconds_count')).toBe(0);
    expect(a.value('petrel_hook_seconds_count', 'phase="release"', 'outcome="ok"')).toBe(1);
    expect(b.value('petrel_hook_seconds_count', 'phase="takeover"', 'outcome="ok"')).toBe(1);
  });

  it('A7 counts a switchover that was missed, which the log and the history name', async () => {
    await using group = await Group.found(zookeeper.connectString);
    await using nodes = await pair(group);
    const { term: replacesTerm } = await group.elected();
    const notBefore = new Date(Date.now() + 3_600_000).toISOString();
    const switchover = { to: { node: 'b' }, replacesTerm, notBefore, ...byHand('maintenance') };
    await group.configure({ switchover });
    nodes.a.agent.setHealth(false, 'disk full');
    await group.ready('b');
    await shows(nodes.ofA, 'petrel_switchovers_missed_total', 1);
    const what = `switchover to b not before ${notBefore}, requested by a test at ${switchover.at}, was missed`;
    const records = await group.history();
    expect(records.filter((one) => one.kind === 'change')).toMatchObject([{ by: 'petrel', what }]);
    expect(nodes.a.log.filter((line) => line.startsWith(what))).toHaveLength(1);
    expect((await group.config()).switchover).toBeNull();
  });

  it('shows a pause and a backoff', async () => {
    await using group = await Group.found(zookeeper.connectString, {
      backoff: { base: '1m', max: '1m' },
    });
    const fails = new RecordingWorkload({ takeover: () => Promise.reject(new Error('no disk')) });
    const a = group.start('a', { sessionTimeoutMs: patientMs, workload: fails });
    await using ofA = await openApi(group, a);
    await a.joined();
    const b = group.start('b', { sessionTimeoutMs: patientMs });
    await using ofB = await openApi(group, b);
    const shown = await shows(ofA, 'petrel_backoff', 1);
    expect(shown.value('petrel_hook_seconds_count', 'phase="takeover"', 'outcome="failed"')).toBe(1);
    await group.ready('b');
    expect((await page(ofB)).value('petrel_backoff')).toBe(0);
    await group.configure({ paused: { by: 'a test', reason: 'none', at: new Date().toISOString() } });
    await shows(ofA, 'petrel_paused', 1);
  });

  it('P69 counts the time without a leader though every agent is well', async () => {
    await using group = await Group.found(zookeeper.connectString);
    await using nodes = await pair(group);
    const before = (await page(nodes.ofA)).value('petrel_leaderless_seconds_total') ?? Number.NaN;
    await group.configure({
      sites: { here: { drained: { by: 'ops', reason: 'work', at: '2026-01-01T00:00:00.000Z' } } },
    });
    const beganAtMs = systemClock.monotonicMs();
    await shows(nodes.ofA, 'petrel_leader', 0);
    const after = await until(async () => {
      const value = (await page(nodes.ofA)).value('petrel_leaderless_seconds_total') ?? 0;
      return value > before + 0.5 ? value : null;
    });
    expect(after - before).toBeLessThanOrEqual((systemClock.monotonicMs() - beganAtMs) / 1000 + 0.001);
    expect((await page(nodes.ofA)).value('petrel_joined')).toBe(1);
    expect((await page(nodes.ofB)).value('petrel_leaderless_seconds_total')).toBe(0);
    await group.configure({ sites: { here: { drained: null } } });
    await group.ready('a');
    // The elector observes the new leader slightly later, so wait until the counter stops.
    const stands = async () => (await page(nodes.ofA)).value('petrel_leaderless_seconds_total');
    let led = await stands();
    await until(async () => {
      const before = led;
      led = await stands();
      return led === before;
    });
    expect(await stands()).toBe(led);
  });

  it('shows each slot of several: how many there are, which node has which, and for how long no node has it', async () => {
    await using group = await Group.found(zookeeper.connectString, { leaders: 2 });
    const a = group.start('a', { sessionTimeoutMs: patientMs });
    await using ofA = await openApi(group, a);
    const alone = await until(async () => {
      const shown = await page(ofA);
      const inSecond = shown.value('petrel_leaderless_seconds_total', 'slot="2"') ?? 0;
      return shown.value('petrel_leader') === 1 && inSecond > 0.3 ? shown : null;
    });
    expect(alone.value('petrel_leaders')).toBe(2);
    expect(alone.value('petrel_slot')).toBe(1);
    const b = group.start('b', { sessionTimeoutMs: patientMs });
    await using ofB = await openApi(group, b);
    const both = await shows(ofB, 'petrel_leader', 1);
    expect(both.value('petrel_slot')).toBe(2);
    expect(both.value('petrel_leaders')).toBe(2);
    const leaderless = async () => {
      const shown = await page(ofA);
      return ['1', '2'].map((slot) => shown.value('petrel_leaderless_seconds_total', `slot="${slot}"`) ?? 0);
    };
    let led = await leaderless();
    // The elector observes the new leader slightly later, so wait until the counters stop.
    await until(async () => {
      const before = led;
      led = await leaderless();
      return before.every((value, index) => value === led[index]);
    });
    expect(led[0]).toBeLessThan(led[1] ?? 0);
    await group.configure({ leaders: 1 });
    await shows(ofA, 'petrel_leaders', 1);
    // A slot that was removed does not count as leaderless.
    expect(await leaderless()).toEqual(led);
  });

  it('says 0 by the end of the lease when the node is cut off, and what was left when it had released', async () => {
    await using own = await startDevelopmentServer({ tickTimeMs: 250, maxSessionTimeoutMs: 10_000 });
    await using group = await Group.found(own.connectString);
    const sessionTimeoutMs = 8_000;
    await using nodes = await pair(group, new RecordingWorkload(), sessionTimeoutMs);
    await shows(nodes.ofA, 'petrel_leader', 1);
    const fencedBefore = (await page(nodes.ofA)).value('petrel_self_fence_margin_seconds_count') ?? 0;
    const marginBefore = (await page(nodes.ofA)).value('petrel_self_fence_margin_seconds_sum') ?? 0;
    own.freeze();
    let [lastLedMs, releaseAtMs] = [0, 0];
    await until(
      async () => {
        const { lease } = nodes.a.status;
        const sentAtMs = systemClock.monotonicMs();
        if ((await page(nodes.ofA)).value('petrel_leader') === 0) return true;
        [lastLedMs, releaseAtMs] = [sentAtMs, lease?.releaseAtMs ?? 0];
        return false;
      },
      { intervalMs: 1 },
    );
    expect(lastLedMs).toBeLessThan(releaseAtMs);
    const shown = await shows(nodes.ofA, 'petrel_self_fence_margin_seconds_count', fencedBefore + 1);
    const margin = (shown.value('petrel_self_fence_margin_seconds_sum') ?? 0) - marginBefore;
    expect(margin).toBeGreaterThan(0);
    // A timer may fire slightly early.
    expect(margin).toBeLessThanOrEqual((sessionTimeoutMs / 1000) * 0.2 + 0.005);
    await shows(nodes.ofA, 'petrel_joined', 0);
    // No node can lead while the ensemble does not answer, whatever the state of the other nodes is.
    const beganWith = shown.value('petrel_leaderless_seconds_total') ?? 0;
    await until(
      async () => ((await page(nodes.ofA)).value('petrel_leaderless_seconds_total') ?? 0) > beganWith + 0.3,
      { timeoutMs: 20_000 },
    );
    own.resume();
    await until(() => nodes.a.status.joined, { timeoutMs: 20_000 });
  });

  it('P33 says 0 until the takeover has ended well', async () => {
    await using group = await Group.found(zookeeper.connectString);
    let go = () => {};
    const wait = new Promise<void>((resolve) => {
      go = resolve;
    });
    const takesTime = new RecordingWorkload({ takeover: () => wait });
    const member = group.start('a', { sessionTimeoutMs: patientMs, workload: takesTime });
    await using api = await openApi(group, member);
    await until(() => member.status.stage === 'taking-over');
    expect((await page(api)).value('petrel_leader')).toBe(0);
    go();
    await shows(api, 'petrel_leader', 1);
  });

  it('is described as what it is', async () => {
    await using group = await Group.found(zookeeper.connectString);
    await using api = await openApi(group, group.start('a'));
    const described = await fetch(`${api.server.url}/openapi.json`);
    const answer = await fetch(`${api.server.url}/metrics`);
    const type = answer.headers.get('content-type');
    expect(type).toBe('text/plain; version=0.0.4; charset=utf-8');
    const shown = { method: 'GET', path: '/metrics', status: answer.status, type, body: await answer.text() };
    expectDescribed(descriptionSchema.parse(await described.json()), shown);
  });

  it('P10 says 0 with the first breath after standing still for longer than the lease', async () => {
    await using group = await Group.found(zookeeper.connectString);
    const { agent } = group.start('a', { sessionTimeoutMs: 2_000 });
    const metrics = new Metrics({ agent, root: group.root, site: 'here', clock: systemClock });
    const leads = async () => new Page(await metrics.text()).value('petrel_leader');
    await group.ready('a');
    await until(async () => (await leads()) === 1);
    const untilDueMs = (agent.status.lease?.releaseAtMs ?? 0) - systemClock.monotonicMs();
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, untilDueMs + 1);
    // No other callback has run since the wait, so the agent does not know how much time has passed.
    expect(agent.status.stage).toBe('leading');
    expect(await leads()).toBe(0);
    metrics.close();
  });

  it('asks nothing of ZooKeeper', async () => {
    await using group = await Group.found(zookeeper.connectString);
    await using nodes = await pair(group);
    const requests = () => {
      const {
        ping: _,
        multi: __,
        ...others
      } = zookeeper.requestCounts().get(nodes.a.store.sessionId)?.requests ?? {};
      return others;
    };
    await until(async () => (await group.history()).length === 1);
    await page(nodes.ofA);
    // The agent occasionally sends its own requests, so the test retries until there are none.
    await until(async () => {
      const before = JSON.stringify(requests());
      for (let scraped = 0; scraped < 20; scraped += 1) await page(nodes.ofA);
      return JSON.stringify(requests()) === before;
    });
    expect([...nodes.ofA.stores, ...nodes.ofB.stores]).toEqual([]);
  });

  it('says nothing of what it does not know yet', async () => {
    await using group = await Group.found(zookeeper.connectString);
    const member = group.start('a', { connect: '127.0.0.1:1' });
    await using api = await openApi(group, member);
    const shown = await page(api);
    for (const name of [
      'petrel_term',
      'petrel_paused',
      'petrel_backoff',
      'petrel_store_last_commit_seconds',
    ]) {
      expect(shown.value(name)).toBeUndefined();
    }
    expect(shown.value('petrel_leader')).toBe(0);
    expect(shown.value('petrel_joined')).toBe(0);
    expect(shown.value('petrel_session_state', 'state="connecting"')).toBe(1);
  });

  it.skipIf(!hasPrometheus)(`is what promtool wants${notHere}`, async () => {
    await using group = await Group.found(zookeeper.connectString);
    await using nodes = await pair(group);
    await shows(nodes.ofA, 'petrel_transitions_total', 1, 'reason="first"', 'outcome="ready"');
    const shown = await page(nodes.ofA);
    expect(promtool(['check', 'metrics'], shown.text)).toEqual({ ok: true, text: '' });
    process.stdout.write(`/metrics: ${shown.samples.size} samples, ${shown.text.length} bytes\n`);
    // The number of series is bounded by the kinds of events, whatever happens.
    expect(shown.samples.size).toBeLessThan(400);
  });
});
