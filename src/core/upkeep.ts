/**
 * Upkeep: what the elector writes while a decision remains in force. It updates the notes in the decision,
 * removes expired configuration, and declares sites failed or healthy.
 */
import { formatDuration } from '../model/duration.js';
import {
  overrideInForce,
  type SiteChange,
  type SwitchoverRequest,
  siteConfig,
} from '../model/group-config.js';
import { toInstant } from '../model/names.js';
import type { Elected, FailureRecord } from '../model/znodes.js';
import { failureOf, recovered } from './backoff.js';
import type { Choice } from './choice-input.js';
import { endedOverrides } from './deadlines.js';
import type { Election, JudgedElection } from './election-input.js';
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

/**
 * Returns the decision with a failure noted in it, or without the notes that no longer apply. Returns null if
 * nothing changes.
 */
export function upkeep(election: JudgedElection, choice: Choice): Elected | null {
  const { snapshot, members, elected, failed, elsewhere } = election;
  const leader = recovered(elected, snapshot.current, members);
  const isRecovered = failureOf(elected.failures, leader) !== null;
  // Do not remove notes during a takeover. The elector can recognize a vanished claim only while the claim's
  // decision is unchanged.
  const mayRemove = election.memory.progress === null;
  const isOver = mayRemove && [...elsewhere.ready].some((node) => failureOf(elected.failures, node) !== null);
  const requested = mayRemove ? election.stillOverridden : elected.requested;
  if (failed === null && !isRecovered && !isOver && requested === elected.requested) return null;
  return { ...elected, requested, failures: ownFailures(election, choice) };
}

/** Returns the failures, except for those that other slots record. */
export function ownFailures({ elsewhere }: Election, { failures }: Choice): FailureRecord[] {
  return failures.filter((record) => !elsewhere.failures.includes(record));
}

type ConfigInput = Pick<Election, 'snapshot' | 'config' | 'elected' | 'epochMs'>;

/** Returns the change to the configuration that is due first. Returns null if none is due. */
export function configChange(
  election: ConfigInput & Pick<Election, 'self' | 'sites'>,
): ChangeSites | DropRequest | null {
  return dropMissedRequest(election) ?? endOverrides(election) ?? declareSites(election);
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

/** Declares one site failed or healthy per call, so that each change is reported with its own reason. */
function declareSites(
  election: Pick<Election, 'snapshot' | 'epochMs' | 'self' | 'sites'>,
): ChangeSites | null {
  const { snapshot, epochMs, self, sites } = election;
  const [verdict] = snapshot.config.value === null ? [] : sites.verdicts;
  if (verdict === undefined) return null;
  const { site, isFailed, reason } = verdict;
  const failed = { byRule: true, by: self, reason, at: toInstant(epochMs) };
  return {
    do: 'change-sites',
    changes: [{ site, settings: { failed: isFailed ? failed : null } }],
    what: isFailed ? `site ${site}: marked failed` : `site ${site}: marked healthy`,
    reason,
    configVersion: snapshot.config.version,
  };
}
