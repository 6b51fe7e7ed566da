/**
 * Computes the maximum time from the end of all faults until a node leads. The maximum is the sum of all
 * waits that may be needed. A wait counts only if the run has the fault that requires it.
 */
import { durationMs } from '../../src/model/duration.js';
import { defaultGroupConfig } from '../../src/model/group-config.js';
import { syncLimitTicks } from './ensemble.js';
import { type Fault, type PlannedFault, wholeOf } from './faults.js';
import { undyingMs } from './machine.js';
import { hookMs } from './pace.js';
import type { Setup } from './setup.js';

/** Factor that allows for clocks of different rates. */
const slack = 1.1;
/**
 * Maximum difference between clock readings. If a backoff starts further in the future, the clock was set
 * back, and the backoff has not begun.
 */
const unevennessMs = 10_000;
/** Interval at which the next elector reads the whole group. */
const electorWatchdogMs = 10_000;
/**
 * Maximum time until a node without a notification finds out that it is the next elector, or that its
 * registration is gone.
 */
export const resyncMs = 30_000;

interface Part {
  readonly what: string;
  readonly ms: number;
}

export function leaderBound(setup: Setup, plan: readonly PlannedFault[]): Part[] {
  const faults = plan.flatMap(({ fault }) => wholeOf(fault));
  const has = (...kinds: Fault['kind'][]) => faults.some(({ kind }) => kinds.includes(kind));
  const does = (...acts: string[]) =>
    faults.some((fault) => 'act' in fault && fault.act !== undefined && acts.includes(fault.act.do));
  const { timeouts, backoff } = losesConfiguration(plan) ? defaultGroupConfig : setup.config;
  const ms = (name: keyof typeof timeouts) => durationMs(timeouts[name]);
  const { sessionTimeoutMs, tickMs, servers, nodes } = setup;
  const graceMs = 2 * ms('grace');
  const releaseMs = ms('release') + graceMs;
  const hooks = faults.filter((fault) => fault.kind === 'hook');
  const hangs = hooks.some(({ mood }) => ['slow', 'hangs', 'stubborn', 'headless', 'fatal'].includes(mood));
  const isHooked = hooks.length > 0;
  const losesServers = has(
    'kill server',
    'freeze server',
    'cut server off',
    'partition',
    'strand',
    'restore',
  );
  const losesAgents = faults.some(mayEndSession);
  const isMute = has('mute');
  const hasMinNodes = Object.values(setup.config.sites).some(({ minNodes }) => minNodes > 0);
  const parts: [boolean, string, number][] = [
    // Handovers may have to wait for each other, because a slot's new leader may first have to leave another
    // slot.
    [true, 'a handover', setup.slots * handoverMs(setup)],
    [true, 'a release that is under way', setup.slots * (hangs ? releaseMs : hookMs)],
    [losesServers && servers > 1, 'servers find a leader', (syncLimitTicks + 2) * tickMs],
    [
      losesServers || losesAgents,
      'sessions end, and clients find it out',
      (5 / 3) * sessionTimeoutMs + tickMs,
    ],
    [has('second machine'), 'who was refused is started again', 2 * sessionTimeoutMs],
    [
      has('leave', 'new credentials'),
      'who leaves waits for a successor, and comes back',
      ms('claim') + releaseMs,
    ],
    [isHooked, 'a hook before the takeover', hangs ? ms('claim') + ms('prepare') + graceMs : hookMs],
    [isHooked, 'a takeover and its end', hangs ? ms('takeover') + graceMs : hookMs],
    [isHooked || losesAgents || isMute, 'everybody is in backoff', durationMs(backoff.base)],
    [isHooked || losesAgents || isMute, 'who is elected does not claim', ms('claim')],
    [hooks.some(({ mood }) => mood === 'undying'), 'a workload that outlives its kill', 2 * undyingMs],
    [losesServers && servers > 1, 'the clock is set back', Math.min(2 * setup.wallSkewMs, unevennessMs)],
    [isRegistrationDeleted(plan), 'registrations are looked for', resyncMs],
    [isMute, 'the next elector looks, three times', 3 * electorWatchdogMs],
    [isMute, 'the next elector learns that it is that', resyncMs],
    [hasMinNodes, 'a site that failed is whole again', durationMs(setup.config.siteRules.failed.recovery)],
    [does('misconfigure'), 'each elector gives up', nodes.length * 1_000],
  ];
  return parts.filter(([isDue]) => isDue).map(([, what, atLeastMs]) => ({ what, ms: atLeastMs * slack }));
}

/**
 * Returns the maximum time until a client has a session again and has the name that its previous session
 * held. The time includes servers that notice late that they no longer lead.
 */
export function reconnectingMs(setup: Setup): number {
  const { sessionTimeoutMs, tickMs } = setup;
  return slack * ((5 / 3) * sessionTimeoutMs + (syncLimitTicks + 3) * tickMs) + handoverMs(setup);
}

/** Returns the time in which all participants can read, decide, claim, take over and become READY. */
function handoverMs({ delays }: Setup): number {
  return 50 * delays.mostMs + 2 * hookMs;
}

/** Whether the configuration may be lost. The default timeouts apply if it is. */
function losesConfiguration(plan: readonly PlannedFault[]): boolean {
  return plan.some(
    ({ fault }) =>
      ['delete tree', 'delete configuration', 'delete chroot'].includes(fault.kind) ||
      (fault.kind === 'restore' && fault.from === 'nothing'),
  );
}

/**
 * Whether a registration may be deleted while its node's session continues. The node does not watch its
 * registration, but checks it periodically. An eviction may also delete the registration of a node that has
 * no seat yet.
 */
export function isRegistrationDeleted(plan: readonly PlannedFault[]): boolean {
  return plan
    .flatMap(({ fault }) => wholeOf(fault))
    .some(
      (fault) =>
        fault.kind === 'delete registration' ||
        fault.kind === 'delete tree' ||
        fault.kind === 'delete chroot' ||
        (fault.kind === 'people' && ['evict', 'evict dead'].includes(fault.act.do)),
    );
}

/** Faults that end no session. */
const harmless: ReadonlySet<Fault['kind']> = new Set([
  'reset',
  'lose answer',
  'unhealthy',
  'people',
  'upon',
  'delete seat',
  'delete registration',
  'delete claim',
  'delete decision',
  'spoil decision',
  'delete tree',
  'delete configuration',
  'delete chroot',
  'back up',
  'quota',
]);

function mayEndSession(fault: Fault): boolean {
  return fault.kind === 'hook' ? fault.mood === 'fatal' : !harmless.has(fault.kind);
}

/**
 * Returns how long it takes until nothing can move leadership any more: failures are forgotten, and every
 * node has read the tree again.
 */
export function settlingMs(setup: Setup, plan: readonly PlannedFault[]): number {
  const isDeleted = losesConfiguration(plan);
  const { backoff } = isDeleted ? defaultGroupConfig : setup.config;
  // The default times are long, so few failures happen in one run.
  const longestMs = isDeleted ? 4 * durationMs(backoff.base) : 2 * durationMs(backoff.max);
  return slack * (longestMs + resyncMs) + handoverMs(setup);
}
