/**
 * Rules about time limits: each is set on the ensemble's clock, lasts as long as it says, and is acted on
 * soon after it ends.
 */
import type { SiteOverride } from '../../src/model/group-config.js';
import type { FailureRecord } from '../../src/model/znodes.js';
import { type Picture, slotsIn } from './ledger.js';
import type { Rule, RuleContext, Step, Write } from './rules.js';

/** Maximum age of the clock reading from which a new limit is computed. */
const readingMs = 5_000;
/**
 * Maximum error of the clock reading that is used when a limit is applied. The reading is at most one second
 * old, and clocks differ in rate.
 */
export const misreadingMs = 120;
/** Maximum age of a clock reading that an elector uses without reading the clock again. */
const youngMs = 1_000;

export function limitRules(context: RuleContext): Rule {
  const { violate, setup, promptMs } = context;
  const promptlyMs = 1.1 * youngMs + promptMs;
  const goodClock = setup.servers === 1 || setup.wallSkewMs <= 50;

  function overrides({ was, is, write }: Step): void {
    if (is.config === was.config || is.config === null || write === null) return;
    for (const [site, { override }] of Object.entries(is.config.content.sites)) {
      const before = was.config?.content.sites[site]?.override ?? null;
      if (override === null || override.at === before?.at) continue;
      onEnsemblesClock(context, { name: `the override of ${site}`, at: override.at, write });
      if (goodClock) endsInTime(site, override);
    }
  }

  function endsInTime(site: string, { at, until }: SiteOverride): void {
    if (until === null) return;
    const lastsMs = (Date.parse(until) - Date.parse(at)) * 1.1;
    const isWrong = () => {
      const now = context.picture();
      if (now.config?.content.sites[site]?.override?.at !== at) return null;
      const inOfficeMs = context.electorForMs();
      if (inOfficeMs >= promptlyMs) return `the override of ${site} has not ended at ${until}`;
      context.soon(promptlyMs - inOfficeMs, 8, isWrong);
      return null;
    };
    context.soon(lastsMs + promptlyMs, 8, isWrong);
  }

  /** Checks that an override does not end before its time. */
  function notEarly({ was, is, isByHand }: Step): void {
    if (is.config === was.config || is.config === null || isByHand) return;
    const { latestMs } = context.wall();
    for (const [site, { override }] of Object.entries(was.config?.content.sites ?? {})) {
      if (override === null || override.until === null) continue;
      if (is.config.content.sites[site]?.override !== null) continue;
      const earlyMs = Math.round(Date.parse(override.until) - latestMs);
      if (earlyMs > misreadingMs) violate(8, `the override of ${site} ends ${earlyMs} ms early`);
    }
  }

  return (step) => {
    overrides(step);
    notEarly(step);
  };
}

export function backoffRules(context: RuleContext): Rule {
  return ({ was, is, write }) => {
    if (is.elected === was.elected || write === null) return;
    for (const { node, failedAt } of is.elected?.content.failures ?? []) {
      const isKnown = failuresKnown(was, node).some((one) => one.failedAt === failedAt);
      if (!isKnown) onEnsemblesClock(context, { name: `the backoff of ${node}`, at: failedAt, write });
    }
  };
}

/** Returns the failures of a node in all slots. */
export function failuresKnown(picture: Picture, node: string): FailureRecord[] {
  const all = slotsIn(picture).flatMap(({ elected }) => elected?.content.failures ?? []);
  return all.filter((record) => record.node === node);
}

function onEnsemblesClock(
  { setup, violate }: RuleContext,
  { name, at, write }: { name: string; at: string; write: Write },
): void {
  const offMs = Math.abs(Date.parse(at) - write.wallMs);
  const toleranceMs = readingMs + 2 * setup.wallSkewMs + 3 * setup.sessionTimeoutMs;
  if (offMs > toleranceMs) violate(8, `${name} is dated ${at}, ${offMs} ms off the ensemble's clock`);
}
