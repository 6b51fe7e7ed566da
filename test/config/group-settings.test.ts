import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { checkGroups, hasGroups, settingsByRoot } from '../../src/config/group-settings.js';
import { readSettings } from '../../src/config/read-settings.js';
import { agentSettings } from '../../src/config/settings.js';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'petrel-groups-'));
});
afterEach(() => rm(directory, { recursive: true }));

async function read(text: string, env: Record<string, string> = {}) {
  const config = join(directory, 'petrel.yaml');
  await writeFile(config, text);
  return (await readSettings(agentSettings, { flags: { config }, env })).values;
}

const reasons = (reading: Promise<unknown>) =>
  reading.then(
    () => [],
    (error: { reasons: readonly string[] }) => error.reasons,
  );

describe('groups', () => {
  it('T7 refuse the name __proto__ in the variable as in the file', async () => {
    const groups = '[{"root": "/a", "tags": {"__proto__": "x"}}]';
    await expect(read('', { PETREL_GROUPS: groups })).rejects.toThrow('__proto__ is not allowed as a name');
    await expect(read(`groups: ${groups}`)).rejects.toThrow('__proto__ is not allowed as a name');
  });

  it('have what they say, and the rest from the top level', async () => {
    const settings = await read(`
priority: 5
tags: { rack: r1 }
hooks: { onTakeover: begin, healthCheck: look }
groups:
  - root: /services/db
  - root: /services/web
    priority: 7
    hooks: { onTakeover: [begin, web], healthCheck: null, healthCheckInterval: 2s }
`);
    expect(hasGroups(settings)).toBe(true);
    const byRoot = settingsByRoot(settings, ['/found/a', '/services/db']);
    expect([...byRoot.keys()]).toEqual(['/found/a', '/services/db', '/services/web']);
    expect(byRoot.get('/found/a')).toMatchObject({ root: '/found/a', priority: 5, onTakeover: 'begin' });
    expect(byRoot.get('/services/db')).toMatchObject({
      root: '/services/db',
      healthCheck: 'look',
      groups: [],
    });
    expect(byRoot.get('/services/web')).toMatchObject({
      priority: 7,
      tags: { rack: 'r1' },
      onTakeover: ['begin', 'web'],
      healthCheck: null,
      healthCheckIntervalMs: 2_000,
      healthCheckTimeoutMs: 3_000,
    });
    expect(hasGroups(await read('root: /alone\n'))).toBe(false);
  });

  it('come from a variable as JSON, or from below a path', async () => {
    const { groups } = await read('', { PETREL_GROUPS: '[{"root": "/a"}]' });
    expect(groups.map(({ root }) => root)).toEqual(['/a']);
    expect(hasGroups(await read('groupsUnder: /services\n'))).toBe(true);
  });

  it.each([
    ['groups: [{root: /a}, {root: /a}]', '"/a" is listed twice'],
    ['groups: [{root: /a/b}, {root: /a}]', '"/a/b" is below "/a", which is a group itself'],
    ['groups: [{root: a}]', 'expected an absolute path'],
    ['groups: [{root: /a, site: b}]', 'unknown `site`; expected one of root, priority, tags, scores, hooks'],
    ['groups: [{root: /a, hooks: {onTakover: x}}]', 'unknown `onTakover`'],
    ['groups: /a', 'a list of groups, each with its root'],
  ])('are refused where they are wrong: %s', async (text, why) => {
    expect((await reasons(read(`${text}\n`))).join()).toContain(why);
  });

  it('do not go with probes, and none is where others are looked for', async () => {
    const probing = await read('groups: [{root: /a}]\nprobe: {listen: "0.0.0.0:7946"}\n');
    expect(() => checkGroups(probing)).toThrow('cannot probe its peers');
    expect(() => checkGroups({ ...probing, probeListen: null })).not.toThrow();
    const within = await read('groups: [{root: /a}]\ngroupsUnder: /a\n');
    expect(() => checkGroups(within)).toThrow('no groups can be below it');
    const below = await read('groups: [{root: /a/b/c}]\ngroupsUnder: /a\n');
    expect(() => checkGroups(below)).toThrow('/a/b/c is below a child of groupsUnder (/a)');
    const separate = await read('groups: [{root: /a/b}]\ngroupsUnder: /a\n');
    expect(() => checkGroups(separate)).not.toThrow();
  });
});
