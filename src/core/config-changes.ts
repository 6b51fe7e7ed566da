/** Finds configuration that has expired. The elector reports and removes it. */
import { formatDuration } from '../model/duration.js';
import {
  type GroupConfig,
  overrideInForce,
  type SiteChange,
  type SwitchoverRequest,
  siteConfig,
} from '../model/group-config.js';
import type { GroupSnapshot } from '../model/snapshot.js';
import type { Elected } from '../model/znodes.js';
import { endedOverrides } from './deadlines.js';
import { missedAtMs, mostLateMs, requestText, targetText } from './requests.js';

interface Explained {
  /** What the change does, as text for messages. */
  readonly what: string;
  readonly reason: string;
  readonly configVersion: number;
}

export interface ChangeSites extends Explained {
  readonly do: 'change-sites';
  readonly changes: readonly SiteChange[];
}

/**
 * Drops a requested switchover because the term that it replaces has ended, or because its scheduled time
 * passed too long ago.
 */
export interface DropRequest extends Explained {
  readonly do: 'drop-request';
}

interface ConfigInput {
  readonly snapshot: GroupSnapshot;
  readonly config: GroupConfig;
  readonly elected: Elected;
  /** Current time on the ensemble's clock, in milliseconds since the epoch. */
  readonly epochMs: number;
}

/**
 * Returns the change that removes expired overrides from the configuration. An expired override no longer has
 * an effect, but its removal notifies operators. An earlier override that lasts longer is kept.
 */
export function endOverrides({ snapshot, config, epochMs }: ConfigInput): ChangeSites | null {
  const sites = snapshot.config.value === null ? [] : endedOverrides(config, epochMs);
  if (sites.length === 0) return null;
  return {
    do: 'change-sites',
    changes: sites.map((site) => {
      return { site, settings: { override: overrideInForce(siteConfig(config, site), epochMs) } };
    }),
    what: `the priority override of site ${sites.join(', ')} ended`,
    reason: 'it had expired',
    configVersion: snapshot.config.version,
  };
}

/**
 * Drops a missed request instead of carrying it out late. A request is missed if the leader that it replaces
 * no longer leads, or if its scheduled time passed too long ago.
 */
export function dropMissedRequest(input: ConfigInput): DropRequest | null {
  const { snapshot } = input;
  const request = snapshot.config.value?.switchover ?? null;
  if (request === null) return null;
  const reason = whyMissed(request, input);
  if (reason === null) return null;
  const what = `${requestText(request)} was missed`;
  return { do: 'drop-request', what, reason, configVersion: snapshot.config.version };
}

function whyMissed(request: SwitchoverRequest, { elected, epochMs }: ConfigInput): string | null {
  const { replacesTerm } = request;
  if (elected.missedRequest === true && replacesTerm < elected.term) {
    return `term ${replacesTerm} ended before the request was carried out; term ${elected.term}: ${elected.reason}`;
  }
  const isOver =
    replacesTerm === elected.term && epochMs >= (missedAtMs(request) ?? Number.POSITIVE_INFINITY);
  const within = formatDuration(mostLateMs);
  return isOver
    ? `${targetText(request.to)} was ineligible at the requested time and for ${within} after it`
    : null;
}
