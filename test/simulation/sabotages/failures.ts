/** Sabotages of what is made of failures: blame, exclusion, fencing, and the limits that are set in time. */
import type { Sabotage } from './sabotage.js';

const candidate = 'src/core/failed-candidate.ts';
const failures = 'src/core/failures.ts';
const elect = 'src/core/elect.ts';
const fencing = 'src/core/fencing.ts';
const elector = 'src/agent/elector.ts';
const lapse = 'src/core/lapse.ts';

export const failureSabotages: readonly Sabotage[] = [
  {
    name: 'a failure counts under any version',
    rule: 'A failure record counts only under the elected version that it names',
    file: candidate,
    find: '  if (own?.electedVersion === version && slotOf(own) === slotOf(snapshot))',
    replace: '  if (own !== null && own !== undefined && own.electedVersion <= version)',
    also: [
      {
        file: 'src/agent/slot-decision.ts',
        find: 'return { claimedUnder: version, claimedSlot, lastFailure: null };',
        replace: 'return { claimedUnder: version, claimedSlot };',
      },
    ],
  },
  {
    name: "a candidate's own word does not count",
    rule: 'The elector sees at once that a candidate says it failed; it does not wait for the watchdog',
    file: candidate,
    find: '  if (own?.electedVersion === version && slotOf(own) === slotOf(snapshot))',
    replace: '  if (own?.electedVersion === version && own.detail.phase.length === 0)',
  },
  {
    name: 'a vanished claim is no failure',
    rule: 'A claim that vanishes in PROGRESS is a failure of its node',
    file: candidate,
    find: 'if (progress !== null && !lives && !reachedReady && snapshot.current',
    replace: 'if (progress !== null && lives && reachedReady && snapshot.current',
  },
  {
    name: "the candidate blamed for the old leader's hang",
    rule: 'While the old leader owns current the candidate is never punished',
    file: candidate,
    find: "if (watched === null || watched.condition.kind === 'holding' || overdueMs(watched, nowMs) < 0) return null;",
    replace: 'if (watched === null || overdueMs(watched, nowMs) < 0) return null;',
  },
  {
    name: 'the watchdog runs from before',
    rule: "Each condition's time runs from when it began, never from before the elector saw it",
    file: 'src/core/watchdog.ts',
    find: '  const known = before?.key === key ? before : null;',
    replace: '  const known = before;',
  },
  {
    name: 'no watchdog over who does not claim',
    rule: 'An elected node that does not claim in time is excluded, and another is elected',
    file: 'src/core/watchdog.ts',
    find: '    const waits = candidate !== null && config.paused === null;',
    replace: '    const waits = candidate === undefined && config.paused === null;',
  },
  {
    name: 'exclusions do not back off',
    rule: 'Exclusions double with each failure',
    file: failures,
    find: '  return Math.min(base * 2 ** Math.min(count - 1, 40), durationMs(config.exclusion.max));',
    replace: '  return Math.min(base * 2 ** Math.min(0 * count, 40), durationMs(config.exclusion.max));',
  },
  {
    name: 'exclusions without a cap',
    rule: 'Exclusions double up to a cap',
    file: failures,
    find: '  return Math.min(base * 2 ** Math.min(count - 1, 40), durationMs(config.exclusion.max));',
    replace: '  return base * 2 ** Math.min(count - 1, 40) + 0 * durationMs(config.exclusion.max);',
  },
  {
    name: 'failures not counted',
    rule: 'Failures are counted until the node is READY',
    file: failures,
    find: '  const count = Math.min((before?.count ?? 0) + 1, Number.MAX_SAFE_INTEGER);',
    replace: '  const count = 1;',
  },
  {
    name: 'no restart ends an exclusion',
    rule: 'An exclusion ends, once, when its node starts anew',
    file: failures,
    find: '  if (record.until === null || record.restarted || life === undefined || life === record.incarnation) {',
    replace: '  if (record.until === null || record.restarted || life === undefined || life.length > 0) {',
  },
  {
    name: 'every restart ends an exclusion',
    rule: 'A new life ends an exclusion once: what its own takeover crashes must not come back at full speed',
    file: failures,
    find: '  if (record.until === null || record.restarted || life === undefined || life === record.incarnation) {',
    replace: '  if (record.until === null || life === undefined || life === record.incarnation) {',
  },
  {
    name: 'READY forgives nothing',
    rule: "READY ends the node's exclusion and resets its back-off",
    file: failures,
    find: '.filter((record) => record.node !== ready && !isReadmitted(record, config))',
    replace:
      '.filter((record) => record.node.length > 0 && !isReadmitted(record, config) && ready !== undefined)',
    also: [
      {
        file: 'src/core/electing.ts',
        find: 'const isForgiven = leader !== null && failureOf(elected.failures, leader) !== null;',
        replace: 'const isForgiven = leader === undefined;',
      },
    ],
  },
  {
    name: 'the READY of who is on the way out forgives',
    rule: 'READY ends the failures of the node that is elected, not of one that has failed since it was READY',
    file: failures,
    find: '  return current?.value?.term === term && readyNode(current, members) === node ? node : null;',
    replace: "  return node === '' ? node : readyNode(current, members);",
  },
  {
    name: 'a lease lost again counts for nothing',
    rule: 'A leader that loses its lease twice within the longest exclusion has failed: another is elected',
    file: lapse,
    find: '  if (times === 1) return null;',
    replace: '  if (times > 0) return null;',
  },
  {
    name: 'a lease lost once is a failure',
    rule: 'A leader that comes back from its first lapse is elected still',
    file: lapse,
    find: '  if (times === 1) return null;',
    replace: '  if (times < 1) return null;',
  },
  {
    name: 'a lapse counts without a witness',
    rule: 'An elector that was out of touch itself holds no lapse against anybody: the ensemble may have been away',
    file: lapse,
    find: '  if (witnessSinceMs > nowMs - Math.max(0, claimedAgoMs) - resumes.agoMs) return null;',
    replace: '  if (Number.isNaN(witnessSinceMs + nowMs)) return null;',
  },
  {
    name: 'an elector keeps the judging of its own lapses',
    rule: 'An elector that lost its own lease again leaves it to the next in line to judge',
    file: 'src/core/electing.ts',
    find: '  const isOwn = elected.node === self;',
    replace: "  const isOwn = elected.node === self && self === '';",
  },
  {
    name: 'a failed node is tried again at once',
    rule: 'When everyone is excluded the next try comes no sooner than the base time',
    file: elect,
    find: '  const waitMs = fromInstant(record.failedAt) + durationMs(config.exclusion.base) - nowMs;',
    replace:
      '  const waitMs = Math.min(0, fromInstant(record.failedAt) + durationMs(config.exclusion.base) - nowMs);',
  },
  {
    name: 'the node that failed last is tried first',
    rule: 'When everyone is excluded the one whose last failure is longest ago is tried',
    file: elect,
    find: '    .toSorted((a, b) => fromInstant(a.failedAt) - fromInstant(b.failedAt));',
    replace: '    .toSorted((a, b) => fromInstant(b.failedAt) - fromInstant(a.failedAt));',
  },
  {
    name: "a retry overrides a person's exclusion",
    rule: "That everyone has failed overrides no person's exclusion, bad health or draining",
    file: elect,
    find: ".filter(({ obstacles: found }) => found.every(({ kind }) => kind === 'excluded'))",
    replace: ".filter(({ obstacles: found }) => found.some(({ kind }) => kind === 'excluded'))",
  },
  {
    name: 'a claim removed unfenced',
    rule: 'Only when the fence hook reports success is the old claim removed',
    file: elector,
    find: "      if (outcome.result === 'ok') {\n        log.warn(`${fence.node} is fenced",
    replace: "      if (outcome.result !== 'aborted') {\n        log.warn(`${fence.node} is fenced",
  },
  {
    name: 'fenced without patience',
    rule: 'The old leader has its time to release before it is fenced',
    file: fencing,
    find: "  if (current === null || watched?.condition.kind !== 'holding' || overdueMs(watched, nowMs) < 0) return [];",
    replace:
      "  if (current === null || watched?.condition.kind !== 'holding' || overdueMs(watched, nowMs) < -1e9) return [];",
  },
  {
    name: 'never fenced',
    rule: 'A claim that is held for too long is fenced where there is a fence hook',
    file: fencing,
    find: "  return canFence && fence !== null ? [...alarm, { do: 'fence', fence }] : alarm;",
    replace: "  return canFence && fence === undefined ? [...alarm, { do: 'fence', fence }] : alarm;",
  },
  {
    name: 'an elector judges itself that keeps the claim',
    rule: 'An elector that does not release in time hands its role over, so that another fences it',
    file: fencing,
    find: '  if (node === self) return leftToOthers(standoff, current, watched.limitMs);\n',
    replace: '  if (node === self) return leftToOthers(standoff, current, watched.limitMs).slice(0, 1);\n',
  },
  {
    name: 'the heir fenced',
    rule: 'The fence never hits the node that is elected',
    file: fencing,
    find: '  if (node === elected.node) return null;\n',
    replace: '',
  },
  {
    name: 'a removal that does not look at the heir',
    rule: "Removing a fenced claim checks the heir's registration, which its claim has moved",
    file: elector,
    find: '      ...(heir === null\n        ? []\n',
    replace: '      ...(heir !== undefined\n        ? []\n',
  },
  {
    name: 'a removal that checks nothing',
    rule: "Removing a fenced claim checks the own seat, elected and the heir's registration",
    file: elector,
    find: "      checkSeat(this.#options.paths, turn.seat),\n      { type: 'check', path: paths.elected, version: fence.electedVersion },\n      ...(heir === null\n        ? []\n        : [{ type: 'check', path: paths.node(heir.node), version: heir.version } as const]),",
    replace: '      ...(heir === undefined ? [] : []),',
    also: [
      {
        file: fencing,
        find: 'if (heir !== null && (heir.value === null || hasClaimed(heir.value, snapshot)))',
        replace: 'if (heir !== null && heir.value === null)',
      },
      {
        file: elector,
        find: "      { type: 'delete', path: paths.current, version: fence.claimVersion },",
        replace: "      { type: 'delete', path: paths.current, version: 'any' },",
      },
    ],
  },
  {
    name: 'a fenced owner keeps its seat',
    rule: "With a fenced claim its owner's seat goes, so that a returning owner can delete nothing",
    file: elector,
    find: "      ...seats.map((seat) => ({ type: 'delete', path: paths.seat(seat), version: 'any' }) as const),\n",
    replace: '      ...(seats.length < 0 ? [checkSeat(this.#options.paths, turn.seat)] : []),\n',
  },
  {
    name: "limits on the elector's own wall clock",
    rule: "Limits are measured on the ensemble's clock",
    file: elector,
    find: 'this.#clock = { epochMs: stat.mtimeMs, atMs',
    replace: 'this.#clock = { epochMs: this.#options.clock.wallMs() + 0 * stat.mtimeMs, atMs',
  },
  {
    name: "limits on an operator's own wall clock",
    rule: "Who sets a limit reads the ensemble's clock first",
    file: 'src/group/time.ts',
    find: '      return { epochMs: mtimeMs, atMs: clock.monotonicMs() };\n    } catch',
    replace:
      '      return { epochMs: clock.wallMs() + 0 * mtimeMs, atMs: clock.monotonicMs() };\n    } catch',
  },
  {
    name: 'a rewrite extends an exclusion',
    rule: 'A rewrite never extends a limit',
    file: failures,
    find: '(record) => (isOver(record, nowMs) ? letTry(record) : record)',
    replace:
      '(record) => (isOver(record, nowMs) ? letTry(record) : { ...record, until: record.until === null ? null : toInstant(nowMs + exclusionMs(config, record.count)) })',
  },
  {
    name: 'a rewrite extends an override',
    rule: 'A rewrite never extends a limit',
    file: 'src/core/group-config.ts',
    find: '  const changed = changes.map(({ site, settings }) => [site, { ...siteConfig(config, site), ...settings }]);',
    replace:
      '  const changed = changes.map(({ site, settings }) => {\n    const { override } = siteConfig(config, site);\n    const longer = override === null || override.until === null ? override : { ...override, until: new Date(Date.parse(override.until) + 60_000).toISOString() };\n    return [site, { ...siteConfig(config, site), override: longer, ...settings }];\n  });',
  },
  {
    name: 'overrides end early',
    rule: 'An override lasts as long as a person said',
    file: 'src/core/group-config.ts',
    find: '  return override.until === null || fromInstant(override.until) > nowMs ? override : null;',
    replace:
      '  return override.until === null || fromInstant(override.until) > nowMs + 1e5 ? override : null;',
  },
  {
    name: 'ends of limits slept through',
    rule: 'The end of a limit is acted on when it comes',
    file: 'src/core/limits.ts',
    find: '  return ahead.length === 0 ? null : Math.min(...ahead) - epochMs;',
    replace: '  return ahead.length >= 0 ? null : Math.min(...ahead) - epochMs;',
  },
];
