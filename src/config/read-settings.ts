/**
 * Computes the effective settings. A flag overrides the environment, the environment overrides the file, and
 * the file overrides the default. Every value that is set must be valid, even if another value overrides it.
 */
import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { Option } from 'commander';
import { distance } from 'fastest-levenshtein';
import * as z from 'zod';
import { errorMessage, PetrelError } from '../errors.js';
import { writeDuration } from '../model/duration.js';
import { brief } from '../model/names.js';
import { cut, firstOf, quoted } from '../model/outside.js';
import { plainMessage } from '../model/plain-message.js';
import { helpGroupOf } from './help-groups.js';
import { type SettingMeta, settingMeta } from './setting.js';
import { allSettings } from './settings.js';
import type { SettingsFile } from './settings-file.js';

export interface SettingSources {
  /** Flags in the form that commander's `opts()` returns. */
  readonly flags: Readonly<Record<string, unknown>>;
  readonly env: Readonly<Record<string, string | undefined>>;
}

export interface EffectiveSettings<Values> {
  readonly values: Values;
  readonly described: readonly DescribedSetting[];
  /** Likely mistakes that are not errors, one line each. */
  readonly warnings: readonly string[];
  /** Files that are named in settings but cannot be read. Empty if the caller treats such files as errors. */
  readonly unreadable: readonly UnreadableFile[];
}

export interface SettingName {
  /** Name of the setting in the effective settings. */
  readonly name: string;
  readonly key: string;
}

export interface DescribedSetting extends SettingName {
  /** The value in the form that is used in a settings file. A secret is not shown. */
  readonly value: string;
  /** Whether the value is a secret. Such a value is not shown. */
  readonly isSecret: boolean;
  /** Origin of the value: a flag, a variable, a place in the file, or `default`. */
  readonly source: string;
}

/** A file that is named in a setting but cannot be read. */
export interface UnreadableFile {
  /** Origin of the setting: a flag, a variable, or a place in the file. */
  readonly source: string;
  readonly key: string;
  readonly path: string;
  readonly why: string;
}

interface Given {
  readonly source: string;
  readonly value: unknown;
  /** Directory against which relative paths are resolved. */
  readonly directory: string;
}

interface Field {
  readonly name: string;
  readonly schema: z.core.$ZodType;
  readonly meta: SettingMeta;
}

/** Type of `commonSettings` and of schemas that extend it. */
export type SettingsSchema<Values> = z.ZodType<Values> & {
  readonly shape: Readonly<Record<string, z.core.$ZodType>>;
};

const config = { flags: '-c, --config <file>', env: 'PETREL_CONFIG' };
const shownSecret = '[secret]';

/** Returns the command-line options for these settings, including `--config`. */
export function settingOptions(settings: SettingsSchema<unknown>): Option[] {
  const file = new Option(config.flags, `settings file in YAML (env: ${config.env})`);
  return [file.helpGroup(helpGroupOf('config')), ...fieldsOf(settings).flatMap(settingOption)];
}

/**
 * Computes the effective settings. Throws PetrelError INVALID with all problems as reasons, each with its
 * place. If a file that is named in the settings cannot be read, `lack` determines whether this counts as a
 * problem, or the file is only listed in `unreadable`.
 */
export async function readSettings<Values extends object>(
  settings: SettingsSchema<Values>,
  sources: SettingSources,
  lack: 'refused' | 'reported' = 'refused',
): Promise<EffectiveSettings<Values>> {
  const fields = fieldsOf(settings);
  const { given, problems } = await gather(fields, sources);
  if (problems.length > 0) throw invalid(problems);

  const parsed = z.safeParse(
    settings,
    Object.fromEntries([...given].map(([name, { value }]) => [name, value])),
  );
  if (!parsed.success) throw invalid(defaultProblems(fields, parsed.error));

  const unreadable = await unreadableFiles(fields, given);
  const conflicts = [...pairProblems(given), ...(lack === 'reported' ? [] : unreadable.map(unreadableText))];
  if (conflicts.length > 0) throw invalid(conflicts);
  return {
    values: parsed.data,
    described: fields.map((field) => describe(field, parsed.data, given.get(field.name))),
    warnings: misspeltVariables(sources.env),
    unreadable,
  };
}

/**
 * Converts flags, including `--config`, to the corresponding environment variables, so that child processes
 * get the same settings.
 */
export function flagsAsVariables(
  settings: SettingsSchema<unknown>,
  flags: SettingSources['flags'],
): Record<string, string> {
  const metas = fieldsOf(settings).map(({ meta }) => meta);
  const variables = [{ ...config, isPath: true }, ...metas].flatMap(({ flags: spelling, env, isPath }) => {
    const text = spelling === undefined ? undefined : flagTexts(flags, spelling).at(-1);
    return text === undefined ? [] : [[env, isPath ? resolve(text) : text]];
  });
  return Object.fromEntries(variables);
}

/** Returns the settings whose values differ between two results. */
export function differingSettings<Values extends object>(
  settings: SettingsSchema<Values>,
  one: Values,
  other: Values,
): SettingName[] {
  return fieldsOf(settings)
    .filter(({ name }) => !isDeepStrictEqual(valueNamed(one, name), valueNamed(other, name)))
    .map(({ name, meta: { key } }) => ({ name, key }));
}

/** Returns the value with the highest precedence for each setting, and the problems with all values. */
async function gather(fields: readonly Field[], sources: SettingSources) {
  const path = flagTexts(sources.flags, config.flags).at(-1) ?? (sources.env[config.env] || undefined);
  const knownKeys = fieldsOf(allSettings).map(({ meta }) => meta.key);
  const file = path === undefined ? noFile : await readFrom(path, knownKeys);
  const problems = [...file.problems];
  const given = new Map<string, Given>();
  for (const field of fields) {
    const weakestFirst = [
      ...fromFile(field, file, dirname(path ?? '.')),
      ...fromText(field, field.meta.env, variableTexts(sources.env, field.meta), problems),
      ...fromFlag(field, sources.flags, problems),
    ];
    for (const entry of weakestFirst) {
      problems.push(...valueProblems(field, entry));
      given.set(field.name, entry);
    }
  }
  return { given, problems };
}

const noFile: SettingsFile = { entries: [], problems: [] };

/** Reads the settings file. The YAML parser is loaded only if there is a file. */
async function readFrom(path: string, knownKeys: readonly string[]): Promise<SettingsFile> {
  const { readSettingsFile } = await import('./settings-file.js');
  return readSettingsFile(path, knownKeys);
}

function fieldsOf(settings: SettingsSchema<unknown>): Field[] {
  return Object.entries(settings.shape).flatMap(([name, schema]) => {
    const meta = settingMeta.get(schema);
    return meta === undefined ? [] : [{ name, schema, meta }];
  });
}

function settingOption({ schema, meta, name }: Field): Option[] {
  if (meta.flags === undefined) return [];
  const fallback = z.safeParse(schema, undefined);
  const value = fallback.success ? valueText(name, fallback.data) : '';
  const shown = meta.defaultText ?? (value === '[]' ? 'none' : value);
  const text = `${meta.help} (${shown === '' ? '' : `default: ${shown}, `}env: ${meta.env})`;
  return [new Option(meta.flags, text).helpGroup(helpGroupOf(meta.key))];
}

function fromFile({ meta }: Field, file: SettingsFile, directory: string): Given[] {
  return file.entries
    .filter(({ key, value }) => key === meta.key && value !== null)
    .map(({ value, place }) => located(meta, { source: place, value, directory }));
}

function fromText({ meta }: Field, source: string, texts: readonly string[], problems: string[]): Given[] {
  if (texts.length === 0) return [];
  try {
    const value = meta.fromText === undefined ? texts.at(-1) : meta.fromText(texts);
    return [located(meta, { source, value, directory: '.' })];
  } catch (error) {
    problems.push(`${source}: ${meta.key}: ${errorMessage(error)}`);
    return [];
  }
}

function fromFlag(field: Field, given: SettingSources['flags'], problems: string[]): Given[] {
  const { flags } = field.meta;
  return flags === undefined ? [] : fromText(field, longFlag(flags), flagTexts(given, flags), problems);
}

function located(meta: SettingMeta, entry: Given): Given {
  if (!meta.isPath) return entry;
  const { value, directory } = entry;
  if (Array.isArray(value)) return { ...entry, value: value.map((one) => locatedModule(one, directory)) };
  return typeof value !== 'string' || value === '' ? entry : { ...entry, value: resolve(directory, value) };
}

/**
 * Resolves an entry in a list of modules if the entry starts like a path. Other entries may be names of
 * packages.
 */
function locatedModule(value: unknown, directory: string): unknown {
  return typeof value === 'string' && /^\.{1,2}\//.test(value) ? resolve(directory, value) : value;
}

/** Returns the values in an environment variable. A variable that is set but empty counts as not set. */
function variableTexts(env: SettingSources['env'], { env: variable, separator }: SettingMeta): string[] {
  const text = env[variable];
  if (text === undefined || text === '') return [];
  return separator === undefined ? [text] : text.split(separator);
}

function flagTexts(flags: SettingSources['flags'], spelling: string): string[] {
  const value = flags[new Option(spelling).attributeName()];
  if (value === undefined) return [];
  return Array.isArray(value) ? value.map(String) : [String(value)];
}

function longFlag(flags: string): string {
  return new Option(flags).long ?? flags;
}

function valueProblems({ schema, meta }: Field, { source, value }: Given): string[] {
  const parsed = z.safeParse(schema, value);
  if (parsed.success) return [];
  if (meta.secret !== true && isUnquoted(schema, value)) {
    return [
      `${source}: ${meta.key}: ${value} is a ${typeof value}, but a string is expected: write "${value}", with the quotes`,
    ];
  }
  return parsed.error.issues.map(({ path, message: raw }) => {
    const message = plainMessage(raw);
    const key = [meta.key, ...path.map(String)].join('.');
    const quotable = typeof value === 'string' && meta.secret !== true;
    const namesValue = quotable && (message.startsWith(cut(value)) || message.includes(quoted(value)));
    return `${source}: ${cut(key)}: ${quotable && !namesValue ? `${quoted(value)}: ` : ''}${message}`;
  });
}

/** Whether the value should have been quoted in the file. For example, YAML parses `site: 1` as a number. */
function isUnquoted(schema: Field['schema'], value: unknown): value is number | boolean {
  return (
    (typeof value === 'number' || typeof value === 'boolean') && z.safeParse(schema, String(value)).success
  );
}

function defaultProblems(fields: readonly Field[], error: z.ZodError): string[] {
  return error.issues.map((issue) => {
    const meta = fields.find(({ name }) => name === issue.path[0])?.meta;
    return `${meta?.key}: the default (${meta?.defaultText}) is not valid: ${plainMessage(issue.message)}; set ${longFlag(meta?.flags ?? meta?.env ?? '')}`;
  });
}

function pairProblems(given: ReadonlyMap<string, Given>): string[] {
  const lonely = (name: string, key: string, partner: string, partnerKey: string) => {
    const entry = given.get(name);
    if (entry === undefined || given.has(partner)) return [];
    return [`${entry.source}: ${key} also requires ${partnerKey}`];
  };
  const rivals = (name: string, key: string, other: string, otherKey: string) => {
    const [entry, rival] = [given.get(name), given.get(other)];
    if (entry === undefined || rival === undefined) return [];
    return [`${entry.source}: ${key}: set either ${key} or ${otherKey} (${rival.source}), not both`];
  };
  return [
    ...lonely('tlsCert', 'tls.cert', 'tlsKey', 'tls.key'),
    ...lonely('tlsKey', 'tls.key', 'tlsCert', 'tls.cert'),
    ...lonely('httpTlsCert', 'http.tls.cert', 'httpTlsKey', 'http.tls.key'),
    ...lonely('httpTlsKey', 'http.tls.key', 'httpTlsCert', 'http.tls.cert'),
    ...lonely('tlsPassphrase', 'tls.passphrase', 'tlsKey', 'tls.key'),
    ...lonely('tlsPassphraseFile', 'tls.passphraseFile', 'tlsKey', 'tls.key'),
    ...lonely('probeAddress', 'probe.address', 'probeListen', 'probe.listen'),
    ...rivals('auth', 'auth', 'authFile', 'authFile'),
    ...rivals('tlsPassphrase', 'tls.passphrase', 'tlsPassphraseFile', 'tls.passphraseFile'),
    ...rivals('httpToken', 'http.token', 'httpTokenFile', 'http.tokenFile'),
    ...rivals('probeSecret', 'probe.secret', 'probeSecretFile', 'probe.secretFile'),
  ];
}

async function unreadableFiles(
  fields: readonly Field[],
  given: ReadonlyMap<string, Given>,
): Promise<UnreadableFile[]> {
  const checks = fields.map(async ({ name, meta }) => {
    const entry = given.get(name);
    if (!meta.isFile || typeof entry?.value !== 'string') return [];
    try {
      await access(entry.value, constants.R_OK);
      return [];
    } catch (error) {
      return [{ source: entry.source, key: meta.key, path: entry.value, why: brief(errorMessage(error)) }];
    }
  });
  return (await Promise.all(checks)).flat();
}

function unreadableText({ source, key, why }: UnreadableFile): string {
  return `${source}: ${key}: cannot read the file: ${why}`;
}

function invalid(all: readonly string[]): PetrelError {
  const problems = firstOf(all);
  const [first, ...others] = problems;
  const message =
    others.length === 0 ? String(first) : [`${all.length} settings are invalid:`, ...problems].join('\n  ');
  return new PetrelError('INVALID', message, { reasons: problems });
}

function describe({ name, meta }: Field, values: object, given: Given | undefined): DescribedSetting {
  const value = valueNamed(values, name);
  const isSecret = meta.secret === true && value !== null;
  const shown = isSecret ? shownSecret : valueText(name, value);
  return { name, key: meta.key, value: shown, isSecret, source: given?.source ?? 'default' };
}

function valueNamed(values: object, name: string): unknown {
  return Object.entries(values).find(([key]) => key === name)?.[1];
}

function valueText(name: string, value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number' && name.endsWith('Ms')) return writeDuration(value);
  if (typeof value !== 'object') return String(value);
  const text = JSON.stringify(value);
  return text === '{}' ? '' : text;
}

/**
 * Whether the variable looks like one that Kubernetes sets in every pod for a Service named petrel, such as
 * PETREL_PORT=tcp://….
 */
function isOfKubernetes(name: string, value = ''): boolean {
  return /_PORT$/.test(name) ? /^[a-z]+:\/\//.test(value) : /_SERVICE_(HOST|PORT)|_PORT_\d+_/.test(name);
}

/**
 * Returns a warning for each unknown variable that resembles a known one. Other unknown variables are
 * ignored, because other programs also set variables with this prefix. Kubernetes does so for a Service named
 * petrel.
 */
function misspeltVariables(env: SettingSources['env']): string[] {
  const known = [config.env, ...fieldsOf(allSettings).map(({ meta }) => meta.env)];
  return Object.keys(env)
    .filter((name) => name.startsWith('PETREL_') && !known.includes(name) && !isOfKubernetes(name, env[name]))
    .flatMap((name) => {
      const nearest = known.find((candidate) => distance(candidate, name) <= 2);
      return nearest === undefined ? [] : [`unknown variable ${name}: did you mean ${nearest}?`];
    });
}
