/** A group's configuration as text for editing. The text is YAML, so JSON is accepted too. */
import type { Rules } from '../../strategies/registry.js';
import { readYaml } from '../config/yaml.js';
import { ensembleNowMs } from '../core/ensemble-clock.js';
import { errorMessage, PetrelError } from '../errors.js';
import { type GroupConfig, groupConfigSchema } from '../model/group-config.js';
import { toInstant } from '../model/names.js';
import { configProblems } from '../model/read-config.js';
import type { Author, Request } from './change.js';
import { configDifferences, differenceText } from './config-keys.js';
import { type GroupAccess, type WriteResult, wasWritten, writeConfig } from './config-write.js';
import { readEnsembleClock } from './time.js';
import { readGroup } from './view.js';
import { visibleYaml } from './visible-yaml.js';

/**
 * Parses a configuration. Throws PetrelError INVALID with one reason for each problem. Each reason starts
 * with the key that it concerns. Also throws Unanswered.
 */
export function parseConfigText(text: string, rules: Rules): GroupConfig {
  const value = yamlOf(text) ?? {};
  const problems = configProblems(value, rules);
  if (problems.length > 0) throw invalid(problems);
  return groupConfigSchema.parse(value);
}

function yamlOf(text: string): unknown {
  try {
    return readYaml(text);
  } catch (error) {
    throw invalid([`not YAML: ${errorMessage(error)}`]);
  }
}

function invalid(reasons: readonly string[]): PetrelError {
  const message =
    reasons.length === 1 ? String(reasons[0]) : [`${reasons.length} problems:`, ...reasons].join('\n  ');
  return new PetrelError('INVALID', `not a valid configuration: ${message}`, { reasons });
}

/**
 * Returns a request that replaces the whole configuration. The request applies only if the configuration is
 * still at the version that was edited.
 */
export function replaceBy(config: GroupConfig, version: number): Request {
  return ({ view, config: present }) => {
    if (view.config.version !== version) throw changedMeanwhile(view.paths.config, version);
    const changes = configDifferences(present, config);
    if (changes.length === 0) return { config: null, what: 'the configuration is unchanged' };
    return { config, what: `configuration: ${changes.map(differenceText).join(', ')}` };
  };
}

export interface ConfigText {
  readonly readable: boolean;
  /**
   * The configuration as YAML. If the znode's content is not a valid configuration, this is the unchanged
   * text of the znode.
   */
  readonly text: string;
  readonly version: number;
}

/**
 * Reads the configuration as text. Throws PetrelError INVALID if there is no group, and StoreError if reading
 * fails.
 */
export async function readConfigText(access: GroupAccess): Promise<ConfigText> {
  const { store, paths } = access;
  const { config } = await readGroup(access);
  if (config.value !== null)
    return { readable: true, text: visibleYaml(config.value), version: config.version };
  const { data, stat } = await store.getData(paths.config);
  return { readable: false, text: data.toString('utf8'), version: stat.version };
}

export interface Repaired {
  /** Version of the configuration that was written. */
  readonly version: number;
  readonly unrecorded: string | null;
}

/**
 * Replaces an unreadable configuration if it is still at `version`. Throws PetrelError CONFLICT if another
 * client has changed the configuration. Also throws StoreError.
 */
export async function repairConfig(
  access: GroupAccess,
  { by, reason }: Author,
  config: GroupConfig,
  version: number,
): Promise<Repaired> {
  const reading = await readEnsembleClock(access.store, access.paths, access.clock);
  const at = toInstant(ensembleNowMs(reading, access.clock.monotonicMs()));
  const record = { kind: 'change', by, what: 'configuration: repaired', reason, at } as const;
  const write = { text: JSON.stringify(config), version, record };
  for (let attempt = 0; attempt < 2; attempt++) {
    const result: WriteResult = await writeConfig(access, write);
    if (result.state === 'written') return { version: version + 1, unrecorded: result.unrecorded };
    if (result.state === 'unknown' && (await wasWritten(access, write, result)))
      return { version: version + 1, unrecorded: result.isRecorded ? null : 'quota reached' };
  }
  throw changedMeanwhile(access.paths.config, version);
}

function changedMeanwhile(path: string, version: number): PetrelError {
  return new PetrelError(
    'CONFLICT',
    `nothing was written: another client changed ${path} since it was read at version ${version}`,
  );
}
