/**
 * The alerts and the dashboard query existing metrics, in syntax that Prometheus accepts. Their links lead to
 * existing text.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { z } from 'zod';
import { startDevelopmentServer } from '../../src/testing.js';
import { Group } from '../support/agent-group.js';
import { openApi } from '../support/http.js';
import { hasPrometheus, notHere, promtool, scrape } from '../support/prometheus.js';

const project = fileURLToPath(new URL('../../', import.meta.url));
const read = (path: string) => readFileSync(`${project}${path}`, 'utf8');

const ruleSchema = z.object({
  alert: z.string(),
  expr: z.string(),
  for: z.string().optional(),
  labels: z.object({ severity: z.enum(['warning', 'critical']) }),
  annotations: z.object({ summary: z.string(), description: z.string(), runbook_url: z.url() }),
});
const rulesSchema = z.object({ groups: z.array(z.object({ name: z.string(), rules: z.array(ruleSchema) })) });
const alerts = rulesSchema
  .parse(parse(read('deploy/prometheus/alerts.yml')))
  .groups.flatMap(({ rules }) => rules);

const targetSchema = z.looseObject({ expr: z.string(), refId: z.string() });
const panelSchema = z.looseObject({ id: z.int(), title: z.string(), targets: z.array(targetSchema) });
const dashboardSchema = z.looseObject({
  title: z.string(),
  panels: z.array(panelSchema),
  templating: z.object({ list: z.array(z.looseObject({ name: z.string(), query: z.string() })) }),
});
const dashboard = dashboardSchema.parse(JSON.parse(read('deploy/grafana/petrel.json')));
const queries = dashboard.panels.flatMap(({ title, targets }) =>
  targets.map(({ expr }) => ({
    title,
    expr: expr.replaceAll('$__rate_interval', '1m').replaceAll('$root', '/c').replaceAll('$job', 'petrel'),
  })),
);

let names: ReadonlySet<string>;
beforeAll(async () => {
  await using zookeeper = await startDevelopmentServer();
  await using group = await Group.found(zookeeper.connectString);
  await using api = await openApi(group, group.start('a'));
  const page = await scrape(api.server.url);
  names = new Set(page.names);
});

/** Returns the names of metrics in a text. Removes the suffixes of histograms. */
function named(text: string): string[] {
  return [...text.matchAll(/\b(?:petrel|nodejs|process)_\w+/g)].map(([name]) => {
    const histogram = name.replace(/_(bucket|sum|count)$/, '');
    return names.has(histogram) ? histogram : name;
  });
}

describe('the alerts', () => {
  it('ask for metrics that there are', () => {
    const unknown = alerts.flatMap(({ expr }) => named(expr)).filter((name) => !names.has(name));
    expect(unknown).toEqual([]);
  });

  it('each say what to do, at a place of the runbook that there is', () => {
    const headings = [...read('docs/guides/runbook.md').matchAll(/^## (.*)$/gm)].map(([, heading = '']) =>
      heading
        .toLowerCase()
        .replaceAll(/[^a-z0-9 -]/g, '')
        .replaceAll(' ', '-'),
    );
    const places = headings.map((heading) => `/docs/guides/runbook.md#${heading}`);
    for (const { annotations } of alerts) {
      const { host, pathname, hash } = new URL(annotations.runbook_url);
      // One host in all of them, which users replace.
      expect(host).toBe('petrel.example:8008');
      expect(places).toContain(`${pathname}${hash}`);
    }
  });

  it('are all named in the documentation', () => {
    const page = read('docs/reference/metrics.md');
    for (const { alert } of alerts) expect(page).toContain(`\`${alert}\``);
  });

  it.skipIf(!hasPrometheus)(`are what promtool wants, and fire when they should${notHere}`, () => {
    expect(promtool(['check', 'rules', `${project}deploy/prometheus/alerts.yml`])).toMatchObject({
      ok: true,
    });
    const tested = promtool(['test', 'rules', `${project}test/deploy/alerts.yml`]);
    expect(tested.ok, tested.text).toBe(true);
    const expected = read('test/deploy/alerts.yml');
    for (const { alert } of alerts)
      expect(expected).toMatch(new RegExp(`alertname: ${alert}\\n +exp_alerts:`));
  });
});

describe('the dashboard', () => {
  it('asks for metrics that there are', () => {
    const variables = dashboard.templating.list.map(({ query }) => query);
    const queried = [...queries.map(({ expr }) => expr), ...variables].flatMap(named);
    expect(queried.length).toBeGreaterThan(20);
    expect(queried.filter((name) => !names.has(name))).toEqual([]);
  });

  it('has panels of different numbers', () => {
    const ids = dashboard.panels.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it.skipIf(!hasPrometheus)(`asks in words that Prometheus takes${notHere}`, () => {
    expect(checkQueries(queries)).toEqual({ ok: true, text: expect.stringContaining('SUCCESS') });
    expect(checkQueries([{ title: 'broken', expr: 'sum(petrel_leader' }])).toMatchObject({ ok: false });
  });
});

/** Checks the queries as if they were recording rules. */
function checkQueries(queried: typeof queries): ReturnType<typeof promtool> {
  const rules = queried.map(({ title, expr }, index) => ({
    record: `query:${index}`,
    expr,
    labels: { title },
  }));
  const directory = mkdtempSync(join(tmpdir(), 'petrel-queries-'));
  const path = join(directory, 'rules.yml');
  writeFileSync(path, stringify({ groups: [{ name: 'dashboard', rules }] }));
  const checked = promtool(['check', 'rules', path]);
  rmSync(directory, { recursive: true });
  return checked;
}

describe('the documentation', () => {
  it('names every metric, and no other', () => {
    const page = read('docs/reference/metrics.md');
    const own = [...names].filter((name) => name.startsWith('petrel_'));
    for (const name of own) expect(page).toContain(`\`${name}`);
    const used = named(page).filter((name) => name.startsWith('petrel_'));
    expect(used.filter((name) => !names.has(name))).toEqual([]);
  });
});
