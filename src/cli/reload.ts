/**
 * Settings read anew while a node runs, on SIGHUP: what a running node can change it changes at once; what takes a
 * restart is named, and left as it is. Settings that are wrong change nothing.
 *
 * Not read anew: flags and environment, which a process is given once, and files that settings only name, as
 * certificates. Hooks are left alone, so that what releases a leadership is what belongs to its takeover.
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

export type NodeSettings = Omit<AgentSettings, 'onTakeover' | 'onRelease' | 'onPrepare' | 'onFence'>;

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

export interface Reread extends Omit<EffectiveSettings<NodeSettings>, 'values'> {
  readonly values: NodeSettings;
  /** Those that are not what they were when the node started. */
  readonly differing: readonly SettingName[];
}

/** Throws PetrelError INVALID. */
export type Rereading = () => Promise<Reread>;

/** Reads settings as they were read before, when they were `first`. */
export function rereading<Values extends NodeSettings>(
  schema: SettingsSchema<Values>,
  sources: SettingSources,
  first: Values,
): Rereading {
  return async () => {
    const effective = await readSettings(schema, sources);
    return { ...effective, differing: differingSettings(schema, first, effective.values) };
  };
}

export interface ReloadOptions {
  readonly first: LiveSettings;
  readonly reread: Rereading;
  readonly log: Logger;
  /** Changes them in the running node. */
  apply(settings: LiveSettings): void;
  /** It is done, or could not be. */
  done(): void;
}

export class Reload {
  readonly #options: ReloadOptions;
  #inForce: LiveSettings;
  #underWay: Promise<void> = Promise.resolve();

  constructor(options: ReloadOptions) {
    this.#options = options;
    this.#inForce = options.first;
  }

  /** One after the other. Never throws. */
  begin(): void {
    this.#underWay = this.#underWay.then(() => this.#reload());
  }

  async #reload(): Promise<void> {
    const { log, reread, done } = this.#options;
    log.info('SIGHUP: reading settings anew');
    try {
      this.#take(await checked(await reread()));
    } catch (error) {
      const reasons = error instanceof PetrelError ? error.reasons : [];
      log.error({ reasons }, `settings stay as they were: ${errorMessage(error)}`);
    }
    done();
  }

  #take({ values, described, warnings, differing }: Reread): void {
    const { log, apply } = this.#options;
    for (const warning of warnings) log.warn(warning);
    const before = this.#inForce;
    // A node that had no health check was healthy without one: with a new one it is not, until the first has succeeded.
    const hasCheckAsBefore = (values.healthCheck === null) === (before.healthCheck === null);
    const live = liveNames.filter((name) => hasCheckAsBefore || name !== 'healthCheck');
    const changed = live.filter((name) => !isDeepStrictEqual(values[name], before[name]));
    const { healthCheck } = hasCheckAsBefore ? values : before;
    this.#inForce = { ...values, healthCheck };
    if (changed.length > 0) apply(this.#inForce);
    const text = changed.map((name) => {
      const { key, value } = described.find((setting) => setting.name === name) ?? { key: name, value: '' };
      return `${key} is ${value === '' ? 'empty' : value}`;
    });
    log.info(`settings read anew: ${text.join(', ') || 'nothing changes'}`);
    const late = differing.filter(({ name }) => !live.some((one) => one === name)).map(({ key }) => key);
    if (late.length > 0) log.warn({ settings: late }, `changes only with a restart: ${late.join(', ')}`);
  }
}

async function checked(reread: Reread): Promise<Reread> {
  const { healthCheck, scores } = reread.values;
  const problems = await checkHooks({ healthCheck, ...scoreCommands(scores) });
  if (problems.length > 0) throw new PetrelError('INVALID', problems.join('; '), { reasons: problems });
  return reread;
}
