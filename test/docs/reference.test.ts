/**
 * The reference agrees with the code. `npm run docs` generates some tables, which are separate files. This
 * test compares the handwritten tables with the code.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import type * as z from 'zod';
import { createProgram } from '../../src/cli/program.js';
import { settingMeta } from '../../src/config/setting.js';
import { agentSettings, clientSettings, runSettings } from '../../src/config/settings.js';
import { exitCodes } from '../../src/exit-code.js';
import { writeDuration } from '../../src/model/duration.js';
import { groupConfigSchema } from '../../src/model/group-config.js';
import { registrationSchema } from '../../src/model/registration.js';
import { causeSchema, claimSchema, electedSchema } from '../../src/model/znodes.js';
import { builtInKinds } from '../../strategies/constraints/index.js';
import { strategies } from '../../strategies/index.js';
import { alignedTable, project, readPage, tableRows } from './pages.js';

const tables = join(project, 'docs/reference/tables');

describe('docs/reference/tables', () => {
  it('has every command with its help', async () => {
    const program = await createProgram();
    const all = [program, ...visibleCommands(program).flatMap(withSubcommands)];
    const sections = all.map((command) => `## ${nameOf(command)}\n\n\`\`\`\n${helpOf(command)}\n\`\`\``);
    const intro =
      'This page is generated from the program by `npm run docs`. [Commands](../commands.md) says which command is for what.';
    await expect(page('Commands: every option', intro, sections.join('\n\n'))).toMatchFileSnapshot(
      join(tables, 'commands.md'),
    );
  });

  it('has every node setting', async () => {
    const shape = { ...runSettings.shape, ...agentSettings.shape, ...clientSettings.shape };
    const rows = Object.entries(shape).flatMap(([name, schema]) => {
      const meta = settingMeta.get(schema);
      if (meta === undefined) return [];
      const { key, flags, env, help } = meta;
      return [[code(key), flags === undefined ? '' : code(flags), code(env), defaultOf(name, schema), help]];
    });
    const intro =
      'This page is generated from the code by `npm run docs`. [Configuration](../configuration.md) says how settings are read.';
    const table = alignedTable(['Key', 'Flag', 'Variable', 'Default', 'Meaning'], rows);
    await expect(page('Node settings', intro, table)).toMatchFileSnapshot(join(tables, 'settings.md'));
  });
});

describe('docs/reference/configuration.md', () => {
  it('has every key of the group configuration with its default, and no other', () => {
    const rows = tableRows(readPage('docs/reference/configuration.md'));
    const written = rows.flatMap(([key = '', value = '']) =>
      /^`[a-zA-Z.]+`$/.test(key) && /^`.*`$/.test(value) ? [`${key} ${value}`] : [],
    );
    const site = groupConfigSchema.parse({ sites: { NAME: {} } }).sites.NAME;
    const { sites: _, ...defaults } = groupConfigSchema.parse({});
    const expected = leaves({ ...defaults, sites: { NAME: site } });
    expect(written.toSorted()).toEqual(expected.toSorted());
  });
});

describe('docs/reference/strategies.md', () => {
  const names = tableRows(readPage('docs/reference/strategies.md')).map(([first = '']) => first);
  const rules = [...strategies.keys(), ...builtInKinds];

  it.each(rules)('has %s', (name) => {
    expect(names.some((cell) => cell.includes(code(name)))).toBe(true);
  });
});

describe('docs/reference/znodes.md', () => {
  const text = readPage('docs/reference/znodes.md');

  it.each([
    ['leader/elected', electedSchema.shape],
    ['leader/current', claimSchema.shape],
    ['nodes/<nodeId>', registrationSchema.shape],
  ])('has every field of %s, and no other', (path, shape) => {
    const section = text.split(/^## /m).find((part) => part.startsWith(`\`${path}\``)) ?? '';
    const [fields = ''] = section.split('| `cause`      |');
    const named = tableRows(fields).flatMap(([first = '']) => [...first.matchAll(/`(\w+)`/g)]);
    expect(named.map(([, name]) => name).toSorted()).toEqual(Object.keys(shape).toSorted());
  });

  it('has every cause', () => {
    const named = new Set(tableRows(text).map(([first = '']) => first));
    expect(causeSchema.options.filter((cause) => !named.has(code(cause)))).toEqual([]);
  });
});

describe('docs/reference/doctor.md', () => {
  it('has every check, and no other', () => {
    const folder = join(project, 'src/doctor');
    const source = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8'));
    const named = /(?:\b(?:ok|finding)\(\s*|\borOk\([\w.()]+,\s*|\bcheck = )'([a-z]+)'/g;
    const checks = source.flatMap((text) => [...text.matchAll(named)].map(([, check = '']) => code(check)));
    const described = tableRows(readPage('docs/reference/doctor.md')).map(([first = '']) => first);
    expect(described.filter((cell) => /^`[a-z]+`$/.test(cell)).toSorted()).toEqual(
      [...new Set(checks)].toSorted(),
    );
  });
});

describe('docs/reference/commands.md', () => {
  const text = readPage('docs/reference/commands.md');

  it('has every exit code', () => {
    const described = new Set(tableRows(text).map(([first = '']) => first));
    expect(Object.values(exitCodes).filter((exitCode) => !described.has(String(exitCode)))).toEqual([]);
  });

  it('has every command', async () => {
    const program = await createProgram();
    const missing = visibleCommands(program)
      .map((command) => command.name())
      .filter((name) => !text.includes(`\`petrel ${name}`));
    expect(missing).toEqual([]);
  });
});

function page(title: string, intro: string, body: string): string {
  return `# ${title}\n\n${intro}\n\n${body}\n`;
}

function code(text: string): string {
  return `\`${text}\``;
}

/** Returns the commands without `petrel complete`, which only shells call. */
function visibleCommands(program: Command): readonly Command[] {
  return program.commands.filter((command) => command.name() !== 'complete');
}

/** Returns the command and its subcommands, without commander's `help`. */
function withSubcommands(command: Command): Command[] {
  return [command, ...command.commands.flatMap(withSubcommands)];
}

function nameOf(command: Command): string {
  const above = command.parent === null ? '' : `${nameOf(command.parent)} `;
  return `${above}${command.name()}`;
}

/** Returns the help of a command. Lines are as wide as those of docs/. */
function helpOf(command: Command): string {
  let text = '';
  command.configureHelp({ ...command.configureHelp(), helpWidth: 120 });
  command.configureOutput({
    writeOut: (part) => {
      text += part;
    },
    getOutHelpWidth: () => 120,
  });
  command.outputHelp();
  return text.trimEnd().replaceAll(/ +$/gm, '');
}

function defaultOf(name: string, schema: z.ZodType): string {
  const shown = settingMeta.get(schema)?.defaultText ?? schema.safeParse(undefined).data;
  if (typeof shown === 'number' && name.endsWith('Ms')) return writeDuration(shown);
  return shown === null || shown === undefined || JSON.stringify(shown) === '{}' ? '' : String(shown);
}

/** Returns `key` and default for each key that `petrel config set` accepts. */
function leaves(value: Readonly<Record<string, unknown>>, above = ''): string[] {
  return Object.entries(value).flatMap(([name, inner]) => {
    const key = `${above}${name}`;
    return isBranch(inner) ? leaves(inner, `${key}.`) : [`\`${key}\` \`${written(inner)}\``];
  });
}

function isBranch(value: unknown): value is Readonly<Record<string, unknown>> {
  return (
    typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length > 0
  );
}

function written(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
