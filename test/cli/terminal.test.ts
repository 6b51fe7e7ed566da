/** Commands at a terminal: what they ask, and how their output fits. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { groupConfigSchema } from '../../src/model/group-config.js';
import { runCommand } from '../support/command.js';
import { newGroup, type TestGroup, transition } from '../support/group.js';
import { type CommandOptions, runAtTerminal } from '../support/terminal.js';

let group: TestGroup;
beforeAll(async () => {
  group = await newGroup();
  await group.node('a1');
  await group.node('b1');
  await group.configure({ sites: { a: { priority: 200 }, x: {} }, failbackHold: '0s' });
  await group.lead('a1', 3);
  await group.record(
    transition({ term: 3, reason: 'site a has priority 200, which is higher than that of site b' }),
  );
  await group.record({
    kind: 'change',
    by: 'eve@operations.example',
    what: 'configuration: sites.a.priority: 100 → 200, failbackHold: 5s → 0s',
    reason: 'the connection of site a is better',
    at: '2026-01-01T00:00:00.000Z',
  });
});
afterAll(() => group[Symbol.asyncDispose]());

function env(more: Readonly<Record<string, string>> = {}) {
  return { PETREL_ZOOKEEPER: group.zookeeper, PETREL_ROOT: group.root, ...more };
}

function run(args: readonly string[], options?: CommandOptions) {
  return runAtTerminal(args, env({ NO_COLOR: '1' }), options);
}

async function stored() {
  const { data } = await group.store.getData(group.paths.config);
  return groupConfigSchema.parse(JSON.parse(data.toString()));
}

describe('a command that ends a leadership', () => {
  it.each([
    'site drain a',
    'site mark-failed a',
    'site priority a 0',
    'site priority b 300 --for 1m',
    'node drain a1',
    'config set sites.b.priority 300',
    'switchover',
    'failover --to b1',
  ])('asks first: petrel %s', async (line) => {
    const before = await stored();
    const { code, shown } = await run(line.split(' '), { input: 'n\n' });
    expect(shown).toContain('b1 will be elected: ');
    expect(shown).toContain('? [y/N] ');
    expect(shown).toContain('not confirmed: nothing was changed');
    expect(code).toBe(5);
    expect(await stored()).toEqual(before);
  });

  it.each(['site priority b 50', 'flag set sale', 'config set historySize 50', 'site forget x'])(
    'is the only one that asks: petrel %s',
    async (line) => {
      const { code, shown } = await run(line.split(' '));
      expect(shown).toMatch(/^Done: /);
      expect(shown).not.toContain('[y/N]');
      expect(code).toBe(0);
    },
  );

  it('does not ask with --yes', async () => {
    const { code, shown } = await run(['switchover', '--yes', '--no-wait']);
    expect(shown).toContain('To follow the transition: petrel wait --term 4');
    expect(shown).not.toContain('[y/N]');
    expect(code).toBe(0);
    expect((await runCommand(['switchover', '--cancel'], env())).code).toBe(0);
  });
});

describe('output', () => {
  it.each([
    'list',
    'history',
    'site list',
    'explain',
    'config show',
    'acl show',
    'doctor',
    'history --term 3',
  ])('fits 80 columns: petrel %s', async (line) => {
    const { shown } = await run(line.split(' '));
    expect(shown.split('\n').filter((one) => one.length > 80)).toEqual([]);
    expect(shown).not.toContain('\u001b');
  });

  it('has one row for each node where there is room, and paragraphs where there is none', async () => {
    expect((await run(['list'])).shown).toMatch(/^a1 +a +elector,leader +READY +200 +100$/m);
    const { shown } = await run(['list'], { columns: 30 });
    expect(shown).toMatch(/^NODE a1\n {2}SITE +a\n/m);
    expect(shown).toMatch(/^ {2}STATE +READY$/m);
  });

  it('is coloured, unless NO_COLOR is set', async () => {
    const { shown } = await runAtTerminal(['list'], env());
    expect(shown).toContain('\u001b[32mLeader: a1');
  });

  it('has relative times, and in the wide format exact ones and all columns', async () => {
    const usual = await run(['history'], { columns: 200 });
    expect(usual.shown).toMatch(/^\d+d ago +3 +READY \(first\)/m);
    expect(usual.shown).not.toContain('TAKEOVER');
    const wide = await run(['history', '-f', 'wide'], { columns: 300 });
    expect(wide.shown).toMatch(/^WHEN +TERM +WHAT +FROM +TO +RELEASE +CLAIM +TAKEOVER +GAP +WHY$/m);
    expect(wide.shown).toMatch(/^2026-01-01T00:00:00\.000Z +3 /m);
  });
});

describe('petrel config edit', () => {
  it('refuses to start an editor that needs a terminal where there is none', async () => {
    for (const more of [{}, { VISUAL: 'vi' }]) {
      const { code, stderr } = await runCommand(['config', 'edit'], env(more));
      expect(stderr).toContain('petrel: no terminal for an editor; use petrel config set');
      expect(code).toBe(5);
    }
  });
});
