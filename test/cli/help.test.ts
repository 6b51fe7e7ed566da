/** Helps show what their readers look for, and fit a terminal of 80 columns. */
import type { Command } from 'commander';
import { beforeAll, describe, expect, it } from 'vitest';
import { createProgram } from '../../src/cli/program.js';
import { topics } from '../../src/cli/topics.js';
import { settingOptions } from '../../src/config/read-settings.js';
import { settingMeta } from '../../src/config/setting.js';
import { allSettings, clientSettings } from '../../src/config/settings.js';
import { exitCodes } from '../../src/exit-code.js';

const width = 80;
const program = await createProgram();
const common = settingOptions(clientSettings).map(({ long }) => long ?? '');

function withSubcommands(command: Command): Command[] {
  return [command, ...command.commands.flatMap(withSubcommands)];
}

function nameOf(command: Command): string {
  return command.parent === null ? command.name() : `${nameOf(command.parent)} ${command.name()}`;
}

const commands = new Map(withSubcommands(program).map((command) => [nameOf(command), command]));

function helpOf(name: string): string {
  const command = commands.get(name);
  if (command === undefined) throw new Error(`no command ${name}`);
  let text = '';
  command.configureOutput({
    ...command.configureOutput(),
    writeOut: (part) => {
      text += part;
    },
    getOutHelpWidth: () => width,
  });
  command.outputHelp();
  return text;
}

describe('petrel --help', () => {
  let help: string;
  beforeAll(() => {
    help = helpOf('petrel');
  });

  it('groups the commands, with one line for each', () => {
    const headings = help.split('\n').filter((line) => /^\w.*:$/.test(line));
    expect(headings).toEqual(['Options:', 'Observe:', 'Change:', 'Run:', 'Help:']);
    for (const command of program.commands.filter((one) => one.name() !== 'complete')) {
      expect(help.split('\n').filter((line) => line.startsWith(`  ${command.name()}`))).toHaveLength(1);
    }
  });

  it('names the topics', () => {
    expect(help).toContain(`petrel help TOPIC explains: ${[...topics.keys()].join(', ')}.`);
  });

  it('says where the options of all commands are', () => {
    expect(help).toContain('petrel options lists the options of all commands');
  });
});

describe('petrel options', () => {
  it('lists every option of all commands, in groups', () => {
    const help = helpOf('petrel options');
    expect(common.filter((long) => !help.includes(`${long} `))).toEqual([]);
    expect(help).toMatch(/^Group and servers:$/m);
    expect(help).toMatch(/^Credentials and TLS:$/m);
  });
});

describe.each([...commands.keys()].filter((name) => name !== 'petrel options'))('%s --help', (name) => {
  it('hides the options of all commands', () => {
    const options = helpOf(name)
      .split('\n')
      .filter((line) => /^ {2}-/.test(line));
    expect(options.filter((line) => common.some((long) => line.includes(`${long} `)))).toEqual([]);
  });

  it(`fits ${width} columns`, () => {
    // Words that are too long for a line, and examples that can be copied, are the exceptions.
    const long = helpOf(name)
      .split('\n')
      .filter((line) => line.length > width && !/^ +(petrel|--|[a-z]+:)/.test(line));
    expect(long).toEqual([]);
  });
});

describe('petrel help TOPIC', () => {
  it('explains every exit code', () => {
    const text = topics.get('exit-codes')?.() ?? '';
    expect(Object.values(exitCodes).filter((code) => !text.includes(`\n  ${code} `))).toEqual([]);
  });

  it('lists every environment variable', () => {
    const text = topics.get('environment')?.() ?? '';
    const variables = Object.values(allSettings.shape).flatMap(
      (schema) => settingMeta.get(schema)?.env ?? [],
    );
    expect(variables.filter((variable) => !text.includes(`  ${variable} `))).toEqual([]);
  });
});
