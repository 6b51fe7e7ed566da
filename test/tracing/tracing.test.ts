/** Spans of transitions, as a collector receives them from agents in separate processes. */
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { readExporter, tracingPackages } from '../../src/node/tracing.js';
import { startDevelopmentServer } from '../../src/testing.js';
import { spanIdOf, traceIdOf } from '../../src/tracing/ids.js';
import { type PetrelProcess, runProcess, startProcess } from '../support/agents.js';
import { Collector, type ReceivedSpan } from '../support/collector.js';
import { started } from '../support/known.js';
import { oncePerRun } from '../support/once-per-run.js';
import { canary } from '../support/secrets.js';
import { startStopwatch } from '../support/stopwatch.js';
import { uniqueRoot } from '../support/unique-root.js';
import { until } from '../support/until.js';

const project = fileURLToPath(new URL('../..', import.meta.url));
let server: Awaited<ReturnType<typeof startDevelopmentServer>> | undefined;
beforeAll(async () => {
  server = await startDevelopmentServer({ tickTimeMs: 250, maxSessionTimeoutMs: 10_000 });
});
afterAll(() => server?.close());

const access = (root: string) => {
  return { PETREL_ZOOKEEPER: started(server, 'the ZooKeeper').connectString, PETREL_ROOT: root };
};

async function agent(
  root: string,
  node: string,
  env: Readonly<Record<string, string>>,
): Promise<PetrelProcess> {
  const settings = { PETREL_NODE_ID: node, PETREL_SITE: 'here', PETREL_SESSION_TIMEOUT: '9s' };
  const hooks = { PETREL_ON_TAKEOVER: 'sleep 600 &', PETREL_ON_RELEASE: 'sleep 0.05' };
  const begun = await startProcess(['agent'], { ...access(root), ...settings, ...hooks, ...env });
  await begun.logged(/^joined/);
  return begun;
}

/**
 * Installs the package in `directory` with all dependencies except those of one scope. Returns the path of
 * its program.
 */
async function installedWithout(scope: string, directory: string): Promise<string> {
  const main = await oncePerRun('build');
  const present = (await readdir(join(project, 'node_modules'))).filter((name) => name !== scope);
  await mkdir(join(directory, 'node_modules'));
  await Promise.all([
    cp(join(project, 'dist'), join(directory, 'dist'), { recursive: true }),
    cp(join(project, 'package.json'), join(directory, 'package.json')),
    ...present.map((name) =>
      symlink(join(project, 'node_modules', name), join(directory, 'node_modules', name)),
    ),
  ]);
  return join(directory, relative(project, main));
}

const named = (spans: readonly ReceivedSpan[], name: string) => spans.find((span) => span.name === name);

describe('a planned handover', () => {
  it('is one trace, of the spans of all its nodes', async () => {
    await using collector = await Collector.start();
    const root = uniqueRoot('trace');
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_RESOURCE_ATTRIBUTES: 'deployment=test' };
    const a = await agent(root, 'a', env);
    await using b = await agent(root, 'b', env);
    await a.logged(/^recorded: term 1/);
    await runProcess(['switchover', '--to', 'b', '--yes', '--reason', 'kernel update'], access(root));
    await a.logged(/^recorded: term 2/);
    const ofTerm = () => collector.spans.filter(({ traceId }) => traceId === traceIdOf(root, { term: 2 }));
    await until(() => named(ofTerm(), 'transition') && named(ofTerm(), 'takeover') && ofTerm().length >= 6);
    const spans = ofTerm();
    const whole = spanIdOf(root, { term: 2 }, 'transition');
    const described = spans.map(
      ({ name, parentSpanId, attributes }) => `${attributes['petrel.node']}: ${name} in ${parentSpanId}`,
    );
    expect(described.toSorted()).toEqual([
      `a: decision in ${whole}`,
      `a: onRelease in ${spanIdOf(root, { term: 2 }, 'release', 'a')}`,
      `a: release in ${whole}`,
      `a: transition in undefined`,
      `b: onTakeover in ${spanIdOf(root, { term: 2 }, 'takeover', 'b')}`,
      `b: takeover in ${whole}`,
    ]);
    for (const { attributes, resource } of spans) {
      expect(attributes).toMatchObject({ 'petrel.root': root, 'petrel.term': 2 });
      expect(attributes['petrel.reason']).toContain('kernel update');
      expect(resource).toMatchObject({ 'service.name': 'petrel', deployment: 'test' });
    }
    // All nodes are on one machine here, so their clocks agree to within milliseconds. The release
    // hook ends before the takeover starts, and the takeover hook ends before the transition does.
    const find = (name: string) => started(named(spans, name), `the span ${name}`);
    const all = find('transition');
    const inaccuracyNs = 20_000_000n;
    expect(find('takeover').startTimeUnixNano).toBeGreaterThan(find('release').startTimeUnixNano);
    expect(find('takeover').startTimeUnixNano).toBeGreaterThan(
      find('onRelease').endTimeUnixNano - inaccuracyNs,
    );
    expect(find('onTakeover').endTimeUnixNano).toBeLessThan(all.endTimeUnixNano + inaccuracyNs);
    expect(all.status.code ?? 0).toBe(0);
    expect(collector.problems).toEqual([]);

    // An agent that leaves sends its last spans before its process ends.
    a.term();
    await a.exited;
    b.term();
    await b.exited;
    const last = collector.spans.filter(
      ({ name, traceId }) => name === 'release' && traceId !== traceIdOf(root, { term: 2 }),
    );
    expect(last.map(({ attributes }) => attributes['petrel.node'])).toContain('b');
  });
});

describe('a group of several leaders', () => {
  it('has a trace for each term of each slot, and says in every span which', async () => {
    await using collector = await Collector.start();
    const root = uniqueRoot('slots');
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url };
    await using a = await agent(root, 'a', env);
    await runProcess(['config', 'set', 'leaders', '2', '--yes'], access(root));
    await using b = await agent(root, 'b', env);
    await b.logged(/^READY/);
    const ofSecond = () =>
      collector.spans.filter(({ traceId }) => traceId === traceIdOf(root, { slot: 2, term: 1 }));
    await until(() => named(ofSecond(), 'transition') && named(ofSecond(), 'takeover'));
    const spans = ofSecond();
    expect(spans.map(({ name }) => name)).toEqual(expect.arrayContaining(['decision', 'onTakeover']));
    for (const { attributes } of spans) expect(attributes).toMatchObject({ 'petrel.slot': 2 });
    const first = await until(() =>
      named(
        collector.spans.filter(({ traceId }) => traceId === traceIdOf(root, { term: 1 })),
        'transition',
      ),
    );
    expect(first.attributes).not.toHaveProperty('petrel.slot');
    expect(a.log.filter(({ msg }) => msg.startsWith('electing b'))).toMatchObject([{ slot: 2, term: 1 }]);
    const lines = b.log.filter((line) => 'term' in line);
    expect(lines.length).toBeGreaterThan(3);
    expect(lines.filter((line) => line.slot !== 2)).toEqual([]);
  });
});

describe('an exporter that does not work', () => {
  it('costs nothing but the traces, and a line in the log', async () => {
    await using refusing = await Collector.start('refuses');
    await using mute = await Collector.start('mute');
    const root = uniqueRoot('mute');
    const a = await agent(root, 'a', {
      OTEL_EXPORTER_OTLP_ENDPOINT: refusing.url,
      OTEL_EXPORTER_OTLP_HEADERS: `authorization=Bearer ${canary}`,
    });
    const b = await agent(root, 'b', { OTEL_EXPORTER_OTLP_ENDPOINT: mute.url });
    await a.logged(/^READY/);
    await a.logged(/^cannot send traces/);
    a.term();
    await b.logged(/^READY/);
    expect(await a.exited).toMatchObject({ code: 0 });
    const sinceAsked = startStopwatch();
    b.term();
    expect(await b.exited).toMatchObject({ code: 0 });
    expect(sinceAsked.ms).toBeLessThan(10_000);
    expect(a.log.filter(({ msg }) => msg.startsWith('cannot send traces'))).toHaveLength(1);
    expect(JSON.stringify(a.log)).not.toContain(canary);
  });
});

const coverageSchema = z.object({ result: z.array(z.object({ url: z.string() })) });

function filesLoaded(coverage: string): string[] {
  return coverageSchema.parse(JSON.parse(coverage)).result.map(({ url }) => url);
}

describe('without the packages of OpenTelemetry', () => {
  it('an agent leads, and says in one line what to install', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'petrel-untraced-'));
    try {
      const main = await installedWithout('@opentelemetry', directory);
      const settings = { PETREL_NODE_ID: 'a', PETREL_SITE: 'here', PETREL_ON_TAKEOVER: 'true' };
      const env = { ...access(uniqueRoot('untraced')), ...settings, PETREL_ON_RELEASE: 'true' };
      const collector = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1' };
      const node = await startProcess(['agent'], { ...env, ...collector }, main);
      await node.logged(/^READY/);
      const lines = node.log.filter(({ msg }) => msg.includes('traces'));
      expect(lines).toEqual([
        expect.objectContaining({ level: 'warn', msg: expect.stringContaining(tracingPackages.join(' ')) }),
      ]);
      expect(lines[0]).not.toHaveProperty('error');
      node.term();
      await node.exited;
    } finally {
      await rm(directory, { recursive: true });
    }
  });

  it('the line names the versions that package.json allows', async () => {
    const text = await readFile(join(project, 'package.json'), 'utf8');
    const { peerDependencies } = z
      .object({ peerDependencies: z.record(z.string(), z.string()) })
      .parse(JSON.parse(text));
    expect(Object.entries(peerDependencies).map((entry) => entry.join('@'))).toEqual(tracingPackages);
  });
});

describe('without an exporter', () => {
  it('nothing of OpenTelemetry is loaded', async () => {
    const loaded = async (env: Readonly<Record<string, string>>) => {
      const directory = await mkdtemp(join(tmpdir(), 'petrel-loaded-'));
      const node = await agent(uniqueRoot('loaded'), 'a', { ...env, NODE_V8_COVERAGE: directory });
      node.term();
      await node.exited;
      const files = await readdir(directory);
      const texts = await Promise.all(files.map((name) => readFile(join(directory, name), 'utf8')));
      await rm(directory, { recursive: true });
      const loaded = texts.flatMap(filesLoaded);
      expect(loaded).toContainEqual(expect.stringContaining('/dist/src/cli/run.js'));
      return loaded.some((url) => /@opentelemetry|\/exporting-|\/transition-tracer-/.test(url));
    };
    expect(await loaded({})).toBe(false);
    expect(
      await loaded({ OTEL_TRACES_EXPORTER: 'none', OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1' }),
    ).toBe(false);
    expect(await loaded({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1' })).toBe(true);
  });

  it.each([
    [{}, false, null],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://x:4318' }, true, null],
    [{ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://x:4318/v1/traces' }, true, null],
    [{ OTEL_TRACES_EXPORTER: 'otlp' }, true, null],
    [{ OTEL_TRACES_EXPORTER: 'otlp', OTEL_SDK_DISABLED: 'true' }, false, null],
    [{ OTEL_TRACES_EXPORTER: 'none', OTEL_EXPORTER_OTLP_ENDPOINT: 'http://x:4318' }, false, null],
    [{ OTEL_TRACES_EXPORTER: 'zipkin' }, false, 'OTEL_TRACES_EXPORTER is zipkin'],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://x:4317', OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }, false, 'grpc'],
  ])('%j is read', (env, wanted, problem) => {
    const read = readExporter(env);
    expect(read.wanted).toBe(wanted);
    if (problem === null) expect(read.problem).toBeNull();
    else expect(read.problem).toContain(problem);
  });
});
