/**
 * Draws runs of groups with site rules. The draws are independent of the seed's other parameters, so they do
 * not change other runs. Some of these runs are scripted, because the situations that site rules exist for
 * are rare by chance.
 */
import { type GroupConfig, groupConfigSchema, withSites } from '../../src/model/group-config.js';
import type { Chance } from '../support/chance.js';
import { bystander, type Fault, type PlannedFault, sweepEvery, whoElects, whoLeads } from './faults.js';
import { isScripted } from './scenarios.js';
import { at, people, type Scenario, type ScriptedRun, settledMs, twoSites } from './scripted-run.js';
import type { Setup } from './setup.js';

/**
 * Share of runs with site rules among all runs that are not scripted and do not step through calls. Four
 * fifths of all runs are of that kind.
 */
const share = 0.155;
const scriptedShare = 0.2;
/** Extra time in which sites can fail and recover. */
const longerMs = 4_000;

/** Whether this seed's group has site rules. This must be the first draw from `chance`. */
export function hasSiteRules(seed: number, chance: Chance): boolean {
  return chance.odds(share) && !isScripted(seed) && seed % sweepEvery !== 0;
}

/** Turns a drawn run into one of a group with site rules. */
export function siteLifeOf(chance: Chance, drawn: ScriptedRun): ScriptedRun {
  if (chance.odds(scriptedShare)) return chance.pick(scenarios)(chance, drawn.setup);
  const setup = { ...drawn.setup, faultPeriodMs: drawn.setup.faultPeriodMs + longerMs };
  const ruled = { ...setup, config: drawRules(chance, setup) };
  const faults = [...drawn.faults, ...drawSiteFaults(chance, ruled)];
  return { setup: ruled, faults: faults.sort((one, other) => one.atMs - other.atMs) };
}

function drawRules(chance: Chance, { config, sites, nodes }: Setup): GroupConfig {
  const { pick, odds, upTo } = chance;
  const only = odds(0.4) ? { sites: [pick(['a', 'b'])], strength: drawStrength(chance) } : {};
  const afterFailure = odds(0.6) ? { from: 'another-site', strength: drawStrength(chance) } : {};
  const failed = {
    after: pick(['500ms', '1s', '2s']),
    recovery: pick(['1s', '2s']),
    strength: drawStrength(chance),
  };
  const ruled = groupConfigSchema.parse({ ...config, siteRules: { only, afterFailure, failed } });
  const changes = sites.map((site, index) => {
    const most = Math.ceil((nodes.length - index) / sites.length);
    return { site, settings: { minNodes: odds(0.6) ? 1 + upTo(most - 1) : 0 } };
  });
  return withSites(ruled, changes);
}

function drawStrength({ pick }: Chance): string {
  return pick(['hard', 'soft']);
}

/**
 * Draws site failures. Either the nodes of a site go down one after the other, or operators mark the site as
 * failed.
 */
function drawSiteFaults(chance: Chance, setup: Setup): PlannedFault[] {
  const { upTo, between, pick, odds } = chance;
  const { sites, nodes, sessionTimeoutMs, faultPeriodMs, isGentle } = setup;
  return Array.from({ length: 1 + upTo(2) }, (): PlannedFault[] => {
    const site = upTo(sites.length - 1);
    const atMs = between(0, 0.8) * faultPeriodMs;
    if (odds(0.4)) {
      const laterMs = atMs + between(0.1, 3) * sessionTimeoutMs;
      return [
        at(atMs, people({ do: 'mark site failed', site })),
        at(laterMs, people({ do: 'mark site healthy', site })),
      ];
    }
    const forMs = between(0.2, 1.5) * sessionTimeoutMs;
    const kind = isGentle ? 'leave' : pick(['power off', 'kill both', 'leave', 'kill agent'] as const);
    const there = nodes.map((_, index) => index).filter((index) => index % sites.length === site);
    return there
      .filter(() => odds(0.7))
      .map((node) => at(atMs + between(0, 300), { kind, node, forMs: Math.round(forMs) }));
  }).flat();
}

// -- Scripted runs

/** Sets `minNodes` of the first site. With fewer nodes, the site has failed. */
function withMinNodes(setup: Setup, minNodes: number): Setup {
  return { ...setup, config: withSites(setup.config, [{ site: 'a', settings: { minNodes } }]) };
}

const failedBy = (after: string, strength: string) => {
  return { siteRules: { failed: { after, recovery: '2s', strength } } };
};

/** A whole site loses power. */
const siteLost: Scenario = ({ between, pick, upTo }, setup) => {
  const rules = failedBy('1s', pick(['hard', 'soft']));
  const forMs = between(0.5, 2) * setup.sessionTimeoutMs + 1_500;
  const faultPeriodMs = settledMs + forMs + 4_000;
  return {
    setup: withMinNodes(twoSites(setup, rules, { faultPeriodMs }), 1 + upTo(1)),
    faults: [0, 2].map((node) => at(settledMs + between(0, 200), { kind: 'power off', node, forMs })),
  };
};

/**
 * A site has one node too few for a long time, so its leader is replaced. Some time after the missing node
 * returns, the site is healthy again.
 */
const siteThinned: Scenario = ({ pick }, setup) => {
  const rules = failedBy('1s', pick(['hard', 'soft']));
  return {
    setup: withMinNodes(
      twoSites(setup, { ...rules, failback: 'auto' }, { faultPeriodMs: settledMs + 14_000 }),
      2,
    ),
    faults: [at(settledMs, { kind: 'leave', node: pick([0, 2]), forMs: 6_000 })],
  };
};

/** A site has just enough nodes. One of them comes and goes, and is never away for long. */
const siteFlaps: Scenario = ({ between }, setup) => {
  const turns = [0, 1, 2, 3].map((turn) => settledMs + 1_500 * turn);
  return {
    setup: withMinNodes(twoSites(setup, failedBy('3s', 'hard'), { faultPeriodMs: settledMs + 9_000 }), 2),
    faults: turns.map((atMs) => at(atMs, { kind: 'leave', node: 2, forMs: between(800, 1_000) })),
  };
};

/**
 * The next elector counts the nodes twice and finds too few each time. Between the two counts, there were
 * enough.
 */
const looksInBetween: Scenario = ({ between }, setup) => ({
  setup: withMinNodes(twoSites(setup, failedBy('6s', 'hard'), { faultPeriodMs: 19_000 }), 2),
  faults: [
    at(0, { kind: 'leave', node: 2, forMs: between(1_500, 2_000) }),
    at(9_000, { kind: 'leave', node: 2, forMs: 5_000 }),
    at(12_600, { kind: 'leave', node: whoElects, forMs: 3_000 }),
  ],
});

/** The leader fails or leaves. Its successor should be in the other site, which has no eligible node. */
const otherSiteInBackoff: Scenario = ({ pick }, setup) => {
  const rules = { siteRules: { afterFailure: { from: 'another-site', strength: pick(['hard', 'soft']) } } };
  const laterMs = settledMs + 2_500;
  const config = { ...rules, failback: 'manual', backoff: { base: '3s', max: '6s' } };
  return {
    setup: twoSites(setup, config, { faultPeriodMs: laterMs + 5_000 }),
    faults: [
      ...[1, 3].map((node) =>
        at(settledMs, { kind: 'hook', node, phase: 'takeover', mood: 'fails', forMs: 5_000 }),
      ),
      at(settledMs, people({ do: 'failover', node: 1 })),
      at(
        laterMs,
        pick<Fault>([
          { kind: 'power off', node: whoLeads, forMs: 4_000 },
          { kind: 'unhealthy', node: whoLeads, forMs: 4_000 },
          { kind: 'leave', node: whoLeads, forMs: 3_000 },
        ]),
      ),
    ],
  };
};

/** The leader fails. Its own site would be the best one for its successor. */
const leaderFails: Scenario = ({ pick }, setup) => {
  const rules = { siteRules: { afterFailure: { from: 'another-site', strength: pick(['hard', 'soft']) } } };
  const fails = pick<Fault>([
    { kind: 'unhealthy', node: whoLeads, forMs: 5_000 },
    { kind: 'kill both', node: whoLeads, forMs: 5_000 },
  ]);
  return {
    setup: twoSites(
      setup,
      { ...rules, failback: pick(['manual', 'after:2s']) },
      { faultPeriodMs: settledMs + 8_000 },
    ),
    faults: [at(settledMs, fails)],
  };
};

/** Only one site has healthy nodes, and its leader fails. */
const noOtherSite: Scenario = ({ pick }, setup) => {
  const rules = { siteRules: { afterFailure: { from: 'another-site', strength: pick(['hard', 'soft']) } } };
  return {
    setup: twoSites(setup, rules, { faultPeriodMs: settledMs + 6_000 }),
    faults: [
      ...[1, 3].map((node) => at(settledMs - 1_000, { kind: 'unhealthy', node, forMs: 6_000 })),
      at(settledMs, { kind: 'unhealthy', node: whoLeads, forMs: 2_000 }),
    ],
  };
};

/**
 * An operator marks the leader's own site as failed although the site has enough nodes. Later, the operator
 * reverts that, or marks the other site as failed.
 */
const leadersSiteFailed: Scenario = ({ pick, odds }, setup) => ({
  setup: withMinNodes(
    twoSites(setup, failedBy('1s', pick(['hard', 'soft'])), { faultPeriodMs: settledMs + 11_000 }),
    1,
  ),
  faults: [
    at(settledMs, people({ do: 'mark site failed', site: 0 })),
    at(
      settledMs + 7_000,
      people(odds(0.5) ? { do: 'mark site healthy', site: 0 } : { do: 'mark site failed', site: 1 }),
    ),
  ],
});

/**
 * A rule has marked a site as failed. An operator marks the site as healthy while it still has too few nodes.
 */
const recoveredByHand: Scenario = (_, setup) => ({
  setup: withMinNodes(twoSites(setup, failedBy('2s', 'hard'), { faultPeriodMs: settledMs + 11_000 }), 2),
  faults: [
    at(settledMs, { kind: 'leave', node: 2, forMs: 9_000 }),
    at(settledMs + 4_500, people({ do: 'mark site healthy', site: 0 })),
  ],
});

/** Only certain sites are allowed to lead, and none of their nodes is eligible. */
const onlySiteIneligible: Scenario = ({ pick }, setup) => {
  const only = { sites: ['b'], strength: pick(['hard', 'soft']) };
  return {
    setup: twoSites(setup, { siteRules: { only } }, { faultPeriodMs: settledMs + 9_000 }),
    faults: [1, 3].map((node) => at(settledMs, { kind: 'unhealthy', node, forMs: 4_000 })),
  };
};

/**
 * The preferred site returns while another one leads. Or it leads, and the site returns that would be better
 * without the preference.
 */
const preferredReturns: Scenario = ({ pick }, setup) => {
  const only = { sites: ['b'], strength: 'soft' };
  const config = { siteRules: { only }, failback: pick(['manual', 'after:2s', 'auto']), minLeadership: '5s' };
  const away = pick([
    [1, 3],
    [0, 2],
  ]);
  return {
    setup: twoSites(setup, config, { faultPeriodMs: settledMs + 7_000 }),
    faults: away.map((node) => at(0, { kind: 'unhealthy', node, forMs: settledMs })),
  };
};

/** An operator requests a node whose site has failed. */
const forcedIntoFailed: Scenario = (_, setup) => ({
  setup: twoSites(setup, {}, { faultPeriodMs: settledMs + 7_000 }),
  faults: [
    at(settledMs, people({ do: 'mark site failed', site: 1 })),
    at(settledMs + 1_000, people({ do: 'failover', node: 1 })),
    at(settledMs + 4_000, { kind: 'unhealthy', node: bystander, forMs: 500 }),
  ],
});

const scenarios: readonly [Scenario, ...Scenario[]] = [
  siteLost,
  siteThinned,
  siteFlaps,
  looksInBetween,
  otherSiteInBackoff,
  leaderFails,
  noOtherSite,
  leadersSiteFailed,
  recoveredByHand,
  onlySiteIneligible,
  preferredReturns,
  forcedIntoFailed,
];
