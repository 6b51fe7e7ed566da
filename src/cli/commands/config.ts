/** Defines the commands `petrel config …`, which show and change the group's configuration in ZooKeeper. */

import { type Command, InvalidArgumentError } from 'commander';
import * as z from 'zod';
import type { Rules } from '../../../strategies/registry.js';
import { errorMessage, present } from '../../errors.js';
import { exitCodes } from '../../exit-code.js';
import {
  type Assignment,
  assign,
  type ConfigKey,
  commandOf,
  configKeys,
  valueText,
} from '../../group/config-keys.js';
import {
  type ConfigText,
  parseConfigText,
  readConfigText,
  repairConfig,
  replaceBy,
} from '../../group/config-text.js';
import { readableConfig } from '../../group/judge.js';
import type { GroupConfig } from '../../model/group-config.js';
import { oneLine } from '../../model/outside.js';
import { answered } from '../../own-strategies/asker.js';
import { loadRules } from '../../own-strategies/load.js';
import { recordedText } from '../../tree/history-room.js';
import { isPersonThere, makeSure } from '../ask.js';
import { changeOptions, runChange } from '../change.js';
import { chosenEditor, type Draft, discard, edit, newDraft } from '../editor.js';
import { helpText } from '../help-text.js';
import { type Layout, table } from '../layout.js';
import { type Printable, print } from '../output.js';
import { readText } from '../read-text.js';
import { checkAccess, withSession } from '../session.js';
import { readClientSettings } from '../settings.js';
import { styled } from '../style.js';
import { show, watchOption } from '../watch.js';

export function addConfig(program: Command): void {
  const config = program
    .command('config')
    .summary('show and change the group’s configuration')
    .description('show and change the group’s configuration, which all its agents share');
  config
    .command('show')
    .description(
      'show all settings with their values and defaults, and the state that commands have set; with -f json or yaml, the stored configuration',
    )
    .addOption(watchOption())
    .action(async (_options, command: Command) => {
      await show(command, async (view) => printable(readableConfig(view)));
    });
  changeOptions(
    config
      .command('set')
      .description('set one or more keys in one step; values are YAML')
      .argument('<key>', 'dotted key, such as timeouts.takeover')
      .argument('<value>', 'YAML value, such as 90s, manual or "[a1, b1]"')
      .argument('[more...]', 'more keys and values'),
  )
    .addHelpText(
      'after',
      helpText(`
Examples:
  petrel config set failback manual
  petrel config set strategy preference-list strategyOptions.order "[a1, b1]"`),
    )
    .action(async (key: string, value: string, more: string[], _options, command: Command) => {
      await runChange(command, { request: assign(pairs([key, value, ...more])), until: 'settled' });
    });
  changeOptions(
    config.command('reset').description('reset keys to their defaults').argument('<key...>', 'dotted keys'),
  ).action(async (keys: string[], _options, command: Command) => {
    await runChange(command, { request: assign(keys.map((key) => ({ key, text: null }))), until: 'settled' });
  });
  changeOptions(config.command('edit').description('edit the whole configuration in $EDITOR')).action(
    async (_options, command: Command) => {
      await runEdit(command);
    },
  );
  config
    .command('validate')
    .description('check a configuration file without connecting to ZooKeeper')
    .argument('<file>', 'YAML or JSON file; - reads stdin')
    .action(async (file: string, _options, command: Command) => {
      await validate(command, file);
    });
}

function pairs(words: readonly string[]): Assignment[] {
  if (words.length % 2 !== 0) {
    throw new InvalidArgumentError(`Keys and values come in pairs: ${words.at(-1)} has no value.`);
  }
  return words.flatMap((key, at) =>
    at % 2 === 0 ? [{ key, text: present(words[at + 1], `the value of ${key}`) }] : [],
  );
}

function printable(config: GroupConfig): Printable {
  const keys = configKeys(config);
  return {
    json: config,
    rows: [
      ['key', 'value', 'default', 'set'],
      ...keys.map(({ key, value, default: fallback, set }) => {
        return [key, valueText(value), valueText(fallback), set ? 'yes' : 'no'];
      }),
    ],
    pretty: (layout) => pretty(keys, layout),
  };
}

/** Puts the values in the last column, because only that column is wrapped. */
function pretty(keys: readonly ConfigKey[], layout: Layout): string {
  const settings = keys.filter(({ key }) => commandOf(key) === null);
  const state = keys.filter(({ key, set }) => commandOf(key) !== null && (set || layout.isWide));
  const settingRows = settings.map(({ key, value, default: fallback, set }) => {
    const shown = oneLine(valueText(value));
    return [
      oneLine(key),
      set ? 'yes' : 'no',
      oneLine(valueText(fallback)),
      set ? styled('bold', shown) : shown,
    ];
  });
  const stateRows = state.map(({ key, value }) => [
    oneLine(key),
    commandOf(key) ?? '',
    oneLine(actText(value)),
  ]);
  return [
    table(['key', 'set', 'default', 'value'], settingRows, layout),
    ...(stateRows.length === 0
      ? []
      : ['', 'State:', '', table(['key', 'changed by', 'value'], stateRows, layout)]),
  ].join('\n');
}

const actSchema = z.looseObject({ by: z.string(), reason: z.string(), at: z.string() });

/** Describes the record of an operator's action. Returns any other value as it is stored. */
function actText(value: unknown): string {
  const { data } = actSchema.safeParse(value);
  if (data === undefined) return valueText(value);
  const { by, reason, at: _, ...what } = data;
  const parts = Object.entries(what).flatMap(([key, part]) =>
    part === null || part === false ? [] : [`${key} ${valueText(part)}`],
  );
  return [...parts, `by ${by}: ${reason}`].join(', ');
}

/** Runs `petrel config edit`. No session stays open while the operator is editing. */
async function runEdit(command: Command): Promise<void> {
  const editor = chosenEditor();
  const { before, rules } = await withSession(command, async ({ access }) => {
    return { before: await readConfigText(access), rules: access.rules };
  });
  const draft = await newDraft(before.text);
  try {
    await writeEdited(command, before, await editUntilValid(draft, editor, rules));
  } catch (error) {
    process.stderr.write(`petrel: your edited text is saved in ${draft.path}\n`);
    throw error;
  }
  await discard(draft);
}

/**
 * Lets the operator edit the text until it is valid. Throws PetrelError REFUSED if the operator stops trying,
 * INVALID if the text is invalid and there is no terminal, and FAILED if the editor fails.
 */
async function editUntilValid(draft: Draft, editor: string, known: Rules): Promise<GroupConfig> {
  for (;;) {
    const edited = await edit(draft, editor);
    try {
      return await answered(known, (rules) => parseConfigText(edited.text, rules));
    } catch (error) {
      if (!isPersonThere()) throw error;
      process.stderr.write(`petrel: ${errorMessage(error)}\n`);
      await makeSure({ question: 'Edit again?', dangers: [] }, false);
    }
  }
}

const repairOptionsSchema = z.object({
  dryRun: z.boolean().default(false),
  yes: z.boolean().default(false),
  reason: z.string().optional(),
});

/**
 * Output of `config edit` if it repairs an unreadable configuration. `configVersion` is null if nothing was
 * written.
 */
export const repairSchema = z.object({ configVersion: z.int().nullable() });

async function writeEdited(command: Command, before: ConfigText, config: GroupConfig): Promise<void> {
  if (before.readable) {
    return runChange(command, { request: replaceBy(config, before.version), until: 'settled' });
  }
  const { dryRun, yes, reason } = repairOptionsSchema.parse(command.opts());
  await withSession(command, async (session) => {
    const { access, settings, author } = session;
    await checkAccess(session);
    const question =
      'The configuration will be repaired. The leader may change; the effect cannot be previewed';
    if (!dryRun) await makeSure({ question: `${question}. Proceed?`, dangers: [] }, yes);
    const done = dryRun ? null : await repairConfig(access, author(reason), config, before.version);
    const version = done?.version ?? null;
    if (!dryRun) process.exitCode = exitCodes.done;
    const result: z.infer<typeof repairSchema> = { configVersion: version };
    print(settings.format, {
      json: result,
      rows: [['config version'], [String(version ?? '-')]],
      pretty: () =>
        version === null
          ? 'Dry run: repair the configuration'
          : `Done: repaired the configuration (version ${version})${recordedText(done?.unrecorded ?? null)}`,
    });
  });
}

export const validationSchema = z.object({ file: z.string(), valid: z.literal(true) });

async function validate(command: Command, file: string): Promise<void> {
  const { settings } = await readClientSettings(command);
  const text = await readText(file);
  const known = await loadRules(settings);
  await answered(known, (rules) => parseConfigText(text, rules));
  process.exitCode = exitCodes.done;
  const result: z.infer<typeof validationSchema> = { file, valid: true };
  print(settings.format, {
    json: result,
    rows: [
      ['file', 'valid'],
      [file, 'true'],
    ],
    pretty: () => `${file} is a valid configuration`,
  });
}
