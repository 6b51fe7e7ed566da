/**
 * Reloads settings on SIGHUP while a node runs. Applies the settings that a running node can change, and
 * reports those that require a restart. Invalid settings change nothing.
 *
 * Not reloaded: flags and environment variables, because they are fixed for a process. Files whose paths are
 * settings, such as certificates, are not read here, but by the code that uses them. Hooks are not reloaded:
 * if leadership was taken over with one set of hooks, it is released with the same set.
 */
import { isDeepStrictEqual } from 'node:util';
import {
  differingSettings,
  type EffectiveSettings,
  readSettings,
  type SettingName,
  type SettingSources,
  type SettingsSchema,
} from '../config/read-settings.js';
import type { AgentSettings } from '../config/settings.js';
import { errorMessage, PetrelError } from '../errors.js';
import { checkHooks } from '../hooks/check-hooks.js';
import type { Logger } from '../log.js';
import { scoreCommands } from '../scores/source.js';
import { heldSecrets, replacedSecrets } from './held-secrets.js';

type Hooks = 'onTakeover' | 'onRelease' | 'onPrepare' | 'onFence';
export type NodeSettings = Omit<AgentSettings, Hooks | 'groups' | 'groupsUnder'>;

const liveNames = [
  'priority',
  'tags',
  'logLevel',
  'scores',
  'healthCheck',
  'healthCheckIntervalMs',
  'healthCheckTimeoutMs',
  'healthCheckFailures',
] as const;
export type LiveSettings = Pick<NodeSettings, (typeof liveNames)[number]>;

export interface Reread<Values extends NodeSettings = NodeSettings>
  extends Omit<EffectiveSettings<Values>, 'values'> {
  readonly values: Values;
  /** Settings that differ from those with which the node started. */
  readonly differing: readonly SettingName[];
}

/** Reads the settings again. Throws PetrelError INVALID. */
export type Rereading<Values extends NodeSettings = NodeSettings> = () => Promise<Reread<Values>>;

/**
 * Returns a function that reads the settings again from the same sources. `first` contains the settings with
 * which the node started.
 */
export function rereading<Values extends NodeSettings>(
  schema: SettingsSchema<Values>,
  sources: SettingSources,
  first: Values,
): Rereading<Values> {
  const secrets = heldSecrets(first);
  return async () => {
    const effective = await readSettings(schema, sources);
    const { values } = effective;
    const replaced = replacedSecrets(secrets, first, values);
    return { ...effective, differing: [...differingSettings(schema, first, values), ...replaced] };
  };
}

export interface ReloadOptions<Values extends NodeSettings> {
  readonly first: LiveSettings;
  readonly reread: Rereading<Values>;
  readonly log: Logger;
  /** Applies the settings to the running node. */
  apply(settings: LiveSettings): void;
  /** Called with all values that were read, if the values are valid. */
  took?(values: Values): void;
  /** Names of settings that `took` applies in addition to the live settings. */
  readonly taken?: readonly string[];
  /** Called when the reload has ended, even if it failed. */
  done(): void;
}

export class Reload<Values extends NodeSettings> {
  readonly #options: ReloadOptions<Values>;
  #inForce: LiveSettings;
  #underWay: Promise<void> = Promise.resolve();

  constructor(options: ReloadOptions<Values>) {
    this.#options = options;
    this.#inForce = options.first;
  }

  /** Starts a reload. The reload waits for any earlier reload. Never throws. */
  begin(): void {
    this.#underWay = this.#underWay.then(() => this.#reload());
  }

  async #reload(): Promise<void> {
    const { log, reread, done } = this.#options;
    log.info('SIGHUP: reloading settings');
    try {
      this.#take(await checked(await reread()));
    } catch (error) {
      const reasons = error instanceof PetrelError ? error.reasons : [];
      log.error({ reasons }, `keeping the old settings: ${errorMessage(error)}`);
    }
    done();
  }

  #take({ values, described, warnings, differing }: Reread<Values>): void {
    const { log, apply, took, taken = [] } = this.#options;
    for (const warning of warnings) log.warn(warning);
    const { inForce, live, changed } = liveChange(this.#inForce, values);
    this.#inForce = inForce;
    if (changed.length > 0) apply(this.#inForce);
    const text = changed.map((name) => {
      const { key, value } = described.find((setting) => setting.name === name) ?? { key: name, value: '' };
      return `${key} is ${value === '' ? 'empty' : value}`;
    });
    log.info(`settings reloaded: ${text.join(', ') || 'no setting has changed'}`);
    const late = differing.filter(({ name }) => ![...live, ...taken].includes(name)).map(({ key }) => key);
    if (late.length > 0)
      log.warn({ settings: late }, `these settings take effect after a restart: ${late.join(', ')}`);
    took?.(values);
  }
}

export interface LiveChange {
  readonly inForce: LiveSettings;
  /** Names of the settings that a running node can change. */
  readonly live: readonly string[];
  readonly changed: readonly string[];
}

/** Returns how the new values change the settings of a running node. */
export function liveChange(before: LiveSettings, values: LiveSettings): LiveChange {
  // A node without a health check counts as healthy. With a new check, it would be unhealthy until that check
  // succeeds.
  const hasCheckAsBefore = (values.healthCheck === null) === (before.healthCheck === null);
  const live = liveNames.filter((name) => hasCheckAsBefore || name !== 'healthCheck');
  const changed = live.filter((name) => !isDeepStrictEqual(values[name], before[name]));
  const { healthCheck } = hasCheckAsBefore ? values : before;
  return { inForce: { ...values, healthCheck }, live, changed };
}

async function checked<Values extends NodeSettings>(reread: Reread<Values>): Promise<Reread<Values>> {
  const { healthCheck, scores } = reread.values;
  const problems = await checkHooks({ healthCheck, ...scoreCommands(scores) });
  if (problems.length > 0) throw new PetrelError('INVALID', problems.join('; '), { reasons: problems });
  return reread;
}
