/**
 * Scripted runs. Each run plays a situation that a rule of the protocol exists for and that is too rare to
 * occur by chance. Every tenth seed plays one of these runs. Everything that a script does not specify is
 * drawn.
 */
import { type GroupConfig, groupConfigSchema } from '../../src/model/group-config.js';
import type { Phase } from '../../src/ports/workload.js';
import type { Chance } from '../support/chance.js';
import { bystander, type Fault, type PlannedFault, whoElects, whoLeads } from './faults.js';
import type { Mood } from './machine.js';
import { at, people, plain, type Scenario, type ScriptedRun, settledMs } from './scripted-run.js';
import type { Setup } from './setup.js';

const scenarioEvery = 10;
/** Last digit of the seeds whose runs are scripted. */
const scenarioDigit = 5;

/** Whether this seed's run is scripted. */
export function isScripted(seed: number): boolean {
  return seed % scenarioEvery === scenarioDigit;
}

/** Returns the scripted run of this seed. Null if this seed's run is not scripted. */
export function scenarioOf(seed: number, chance: Chance, setup: Setup): ScriptedRun | null {
  if (!isScripted(seed)) return null;
  const scenario = scenarios[Math.floor(seed / scenarioEvery) % scenarios.length];
  return scenario === undefined ? null : scenario(chance, setup);
}

/**
 * Returns a setup with three nodes. Either they are a leader, an elector and a bystander, or one of them both
 * leads and elects.
 */
function groupOf(setup: Setup, changes: Partial<Setup> = {}): Setup {
  return { ...setup, nodes: ['a1', 'b1', 'a2'], ...plain, ...changes };
}

function configured(setup: Setup, changes: object): GroupConfig {
  return groupConfigSchema.parse({ ...setup.config, ...changes });
}

const failoverTo = (node: number) => people({ do: 'failover', node });
const hook = (node: number, phase: Phase, mood: Mood, forMs: number): Fault => {
  return { kind: 'hook', node, phase, mood, forMs };
};

const fastDelays = { leastMs: 0.2, mostMs: 2 };

/**
 * Another node is elected while the former elected node's claim is under way. The newly elected node cannot
 * claim yet.
 */
const claimOvertaken: Scenario = ({ between }, setup) => ({
  setup: groupOf(setup, { delays: fastDelays, hasPrepare: true, faultPeriodMs: settledMs + 3_000 }),
  faults: [
    at(settledMs, hook(whoElects, 'prepare', 'hangs', 2_000)),
    at(settledMs, {
      kind: 'hold up',
      write: 'claim',
      node: bystander,
      meanwhile: failoverTo(whoElects),
      forMs: between(100, 400),
    }),
    at(settledMs, failoverTo(bystander)),
  ],
});

/** A node's seat is deleted while its claim is under way. */
const claimUnseated: Scenario = ({ between }, setup) => ({
  setup: groupOf(setup),
  faults: [
    at(settledMs, {
      kind: 'hold up',
      write: 'claim',
      node: bystander,
      meanwhile: { kind: 'delete seat', node: bystander, forMs: 0 },
      forMs: between(0.3, 0.5) * setup.sessionTimeoutMs,
    }),
    at(settledMs, failoverTo(bystander)),
  ],
});

/** Another node is elected while the former elected node's READY is under way. */
const readyOvertaken: Scenario = ({ between }, setup) => {
  const forMs = between(0.12, 0.16) * setup.sessionTimeoutMs;
  return {
    setup: groupOf(setup, { delays: fastDelays }),
    faults: [
      at(settledMs, {
        kind: 'hold up',
        write: 'READY',
        node: bystander,
        meanwhile: failoverTo(whoElects),
        forMs,
      }),
      at(settledMs, failoverTo(bystander)),
    ],
  };
};

/** The configuration changes while a decision that is based on the old configuration is under way. */
const decisionOvertaken: Scenario = ({ between }, setup) => {
  const forMs = between(0.1, 0.16) * setup.sessionTimeoutMs;
  return {
    setup: groupOf(setup, { delays: fastDelays }),
    faults: [
      at(settledMs, {
        kind: 'hold up',
        write: 'decision',
        node: null,
        meanwhile: people({ do: 'pause' }),
        forMs,
      }),
      at(settledMs, { kind: 'leave', node: whoLeads, forMs: setup.sessionTimeoutMs }),
    ],
  };
};

/**
 * A fenced claim is removed, and the next node claims. During all this, the first owner's own deletion of its
 * claim is under way.
 */
const deletionOvertaken: Scenario = ({ between }, setup) => {
  const laterMs = settledMs + 2_000;
  return {
    setup: groupOf(setup, {
      hasFence: true,
      delays: fastDelays,
      sessionTimeoutMs: 4_000,
      tickMs: 1_000,
      faultPeriodMs: laterMs + 5_000,
    }),
    faults: [
      at(settledMs, failoverTo(bystander)),
      at(laterMs, hook(whoLeads, 'release', 'stubborn', 4_000)),
      at(laterMs, {
        kind: 'hold up',
        write: 'deletion',
        node: whoLeads,
        meanwhile: null,
        forMs: between(700, 1_200),
      }),
      at(laterMs, failoverTo(bystander)),
    ],
  };
};

/**
 * The owner of a fenced claim releases the claim after all, and the candidate claims. During all this, the
 * elector's removal of the claim is under way.
 */
const removalOvertaken: Scenario = ({ between }, setup) => {
  const laterMs = settledMs + 800;
  const config = configured(setup, { timeouts: { ...setup.config.timeouts, takeover: '6s' } });
  return {
    setup: groupOf(setup, {
      config,
      hasFence: true,
      delays: fastDelays,
      sessionTimeoutMs: 4_000,
      tickMs: 1_000,
      faultPeriodMs: laterMs + 6_000,
    }),
    faults: [
      at(settledMs, hook(bystander, 'takeover', 'hangs', 8_000)),
      at(settledMs, hook(bystander, 'release', 'stubborn', 8_000)),
      at(settledMs, failoverTo(bystander)),
      at(laterMs, hook(bystander, 'takeover', 'slow', 8_000)),
      at(laterMs, { kind: 'hold up', write: 'deletion', node: whoLeads, meanwhile: null, forMs: 450 }),
      at(laterMs, {
        kind: 'hold up',
        write: 'removal',
        node: null,
        meanwhile: null,
        forMs: between(350, 450),
      }),
      at(laterMs, failoverTo(bystander)),
    ],
  };
};

/** The elected node loses its connection, and with it the notification of the decision. */
const decisionMissed: Scenario = (_, setup) => ({
  setup: groupOf(setup, { faultPeriodMs: settledMs + 3_000 }),
  faults: [
    at(settledMs, {
      kind: 'upon',
      write: 'decision',
      node: null,
      delayMs: 0,
      befalls: { kind: 'reset', node: bystander, forMs: 0 },
      forMs: 0,
    }),
    at(settledMs, failoverTo(bystander)),
  ],
});

/** Only the reply to a claim is lost. */
const claimUnanswered: Scenario = (_, setup) => ({
  setup: groupOf(setup, { faultPeriodMs: settledMs + 4_000 }),
  faults: [
    at(settledMs, { kind: 'lose answer', node: bystander, to: 'claim', forMs: 4_000 }),
    at(settledMs, failoverTo(bystander)),
  ],
});

/** A node whose session ended gets another session and is then elected. */
const electedInItsNextSession: Scenario = (_, setup) => {
  const laterMs = settledMs + 3.2 * setup.sessionTimeoutMs + 200;
  return {
    setup: groupOf(setup, { faultPeriodMs: laterMs + 4_000 }),
    faults: [
      at(settledMs, { kind: 'expire session', node: bystander, forMs: 0 }),
      at(laterMs, failoverTo(bystander)),
    ],
  };
};

/** The elector leaves. It leads no slot. */
const electorLeaves: Scenario = (_, setup) => ({
  setup: groupOf(setup, {
    nodes: ['a1', 'b1', 'a2', 'b2', 'a3', 'b3', 'a4'],
    faultPeriodMs: settledMs + 5_000,
  }),
  faults: [
    at(settledMs - 1_300, failoverTo(bystander)),
    at(settledMs, { kind: 'leave', node: whoElects, forMs: 4_000 }),
  ],
});

/** The elector falls silent. The decision is then spoiled by hand, and the leader's agent is killed. */
const electorSilent: Scenario = (_, setup) => ({
  setup: groupOf(setup, { faultPeriodMs: settledMs + 1_000 }),
  faults: [
    at(settledMs - 1_300, failoverTo(bystander)),
    at(settledMs, { kind: 'mute', node: whoElects, forMs: 1_000 }),
    at(settledMs + 100, { kind: 'spoil decision', forMs: 0 }),
    at(settledMs + 200, { kind: 'kill agent', node: whoLeads, forMs: 800 }),
  ],
});

/** The elected node's attempts to claim leadership are lost. */
const candidateSilent: Scenario = (_, setup) => ({
  setup: groupOf(setup, { faultPeriodMs: settledMs + 1_000 }),
  faults: [
    at(settledMs, { kind: 'mute', node: bystander, forMs: 1_000 }),
    at(settledMs, failoverTo(bystander)),
  ],
});

/** A better node is present, but the current leader has led only for a short time. */
const betterComes: Scenario = (_, setup) => {
  const config = configured(setup, {
    strategy: 'site-priority',
    sites: { a: { priority: 200 }, b: { priority: 100 } },
    failback: 'auto',
    minLeadership: '6s',
  });
  return {
    setup: groupOf(setup, { nodes: ['a1', 'b1'], config, faultPeriodMs: settledMs + 5_000 }),
    faults: [at(0, { kind: 'unhealthy', node: 0, forMs: settledMs })],
  };
};

/** The same situation as in `betterComes`, but failback is manual. */
const betterComesByHand: Scenario = (chance, setup) => {
  const { setup: auto, faults } = betterComes(chance, setup);
  return { setup: { ...auto, config: configured(auto, { failback: 'manual' }) }, faults };
};

/** Operators keep one node from leading, and the other node leaves. */
const leavesToIneligible: Scenario = ({ pick }, setup) => ({
  setup: groupOf(setup, { nodes: ['a1', 'b1'], faultPeriodMs: settledMs + 6_000 }),
  faults: [
    at(settledMs, pick<Fault>([people({ do: 'drain', node: 1 }), people({ do: 'drain site', site: 1 })])),
    at(settledMs + 1_500, { kind: 'leave', node: 0, forMs: 3_000 }),
  ],
});

/** The leader leaves, and the site of the only other node has priority 0. */
const leavesToPriority0: Scenario = (_, setup) => ({
  setup: groupOf(setup, { nodes: ['a1', 'b1'], faultPeriodMs: settledMs + 6_000 }),
  faults: [
    at(settledMs, people({ do: 'priority', site: 1, priority: 0, lastsMs: null })),
    at(settledMs + 1_500, { kind: 'leave', node: 0, forMs: 3_000 }),
  ],
});

/** A leader that is not the elector becomes unhealthy. */
const leaderFallsIll: Scenario = (_, setup) => ({
  setup: groupOf(setup, { faultPeriodMs: settledMs + 6_000 }),
  faults: [
    at(settledMs - 1_300, failoverTo(bystander)),
    at(settledMs, { kind: 'unhealthy', node: whoLeads, forMs: 5_000 }),
  ],
});

/** The group is paused, so only the elected node may lead. That node leaves, or returns unhealthy. */
const pausedAndIneligible: Scenario = ({ pick }, setup) => {
  const { sessionTimeoutMs } = setup;
  const laterMs = settledMs + 300;
  return {
    setup: groupOf(setup, { faultPeriodMs: settledMs + 2 * sessionTimeoutMs }),
    faults: [
      at(settledMs, people({ do: 'pause' })),
      ...pick<PlannedFault[]>([
        [at(laterMs, { kind: 'leave', node: whoLeads, forMs: 3 * sessionTimeoutMs })],
        [
          at(laterMs, { kind: 'unhealthy', node: whoLeads, forMs: 3 * sessionTimeoutMs }),
          at(laterMs, { kind: 'kill agent', node: whoLeads, forMs: 0.2 * sessionTimeoutMs }),
        ],
      ]),
    ],
  };
};

/** The group is paused, and the elected node restarts. The claim of its earlier incarnation still exists. */
const pausedAndRestarted: Scenario = (_, setup) => {
  const laterMs = settledMs + 1_500;
  return {
    setup: groupOf(setup, {
      hasFence: true,
      hasMemory: false,
      sessionTimeoutMs: 4_000,
      tickMs: 1_000,
      faultPeriodMs: laterMs + 6_000,
    }),
    faults: [
      at(settledMs, failoverTo(bystander)),
      at(laterMs, people({ do: 'pause' })),
      at(laterMs + 300, { kind: 'kill both', node: whoLeads, forMs: 200 }),
      at(laterMs + 350, { kind: 'delete registration', node: whoLeads, forMs: 0 }),
    ],
  };
};

/**
 * The claim is deleted while the tree cannot be read. The configuration is deleted, and deleted again
 * whenever it has been recreated.
 */
const treeUnreadable: Scenario = (_, setup) => ({
  setup: groupOf(setup, { faultPeriodMs: settledMs + 2_500 }),
  faults: [
    at(settledMs, { kind: 'delete configuration', forMs: 2_000 }),
    at(settledMs + 200, { kind: 'delete claim', forMs: 0 }),
  ],
});

/** The prepare hook fails. */
const prepareFails: Scenario = (_, setup) => ({
  setup: groupOf(setup, { hasPrepare: true, faultPeriodMs: settledMs + 3_500 }),
  faults: [at(settledMs, hook(bystander, 'prepare', 'fails', 3_000)), at(settledMs, failoverTo(bystander))],
});

/**
 * Every takeover fails for a long time. During that time, one node is kept from leading. In the end,
 * everything works again.
 */
const failingForLong: Scenario = ({ between, pick, upTo }, setup) => {
  const wellMs = settledMs + between(9_000, 12_000);
  const keptOut = upTo(2);
  return {
    setup: groupOf(setup, { faultPeriodMs: wellMs + 6_000 }),
    faults: [
      ...[0, 1, 2].map((node) => at(settledMs, hook(node, 'takeover', 'fails', wellMs - settledMs))),
      at(settledMs + 100, failoverTo(bystander)),
      at(settledMs + between(3_000, 5_000), {
        kind: 'upon',
        write: 'deletion',
        node: keptOut,
        delayMs: between(20, 200),
        befalls: pick<Fault>([
          people({ do: 'drain', node: keptOut }),
          { kind: 'unhealthy', node: keptOut, forMs: 20_000 },
        ]),
        forMs: 0,
      }),
    ],
  };
};

/**
 * In a paused group, the elected node fails repeatedly. When the pause ends, the node is in backoff and no
 * other node is eligible.
 */
const resumedInBackoff: Scenario = ({ between }, setup) => {
  const failsMs = settledMs + 400;
  const config = configured(setup, { backoff: { base: '1s', max: '30s' } });
  return {
    setup: groupOf(setup, { nodes: ['a1', 'b1'], config, faultPeriodMs: failsMs + 17_000 }),
    faults: [
      at(settledMs, people({ do: 'drain', node: bystander })),
      at(settledMs, hook(whoLeads, 'takeover', 'fails', 15_000)),
      at(settledMs + 200, people({ do: 'pause' })),
      at(failsMs, { kind: 'delete claim', forMs: 0 }),
      at(failsMs + between(9_000, 11_000), people({ do: 'resume' })),
    ],
  };
};

/** The only eligible node fails and restarts. This happens twice. */
const failsAndRestarts: Scenario = (_, setup) => {
  const failsMs = settledMs + 1_200;
  const config = configured(setup, { backoff: { base: '5s', max: '10s' } });
  return {
    setup: groupOf(setup, { nodes: ['a1', 'b1'], config, faultPeriodMs: failsMs + 10_000 }),
    faults: [
      at(settledMs, people({ do: 'drain', node: 1 })),
      at(failsMs, hook(0, 'takeover', 'fails', 9_000)),
      at(failsMs, { kind: 'delete claim', forMs: 0 }),
      at(failsMs + 1_500, { kind: 'leave', node: 0, forMs: 1_200 }),
      at(failsMs + 5_000, { kind: 'leave', node: 0, forMs: 1_200 }),
    ],
  };
};

/** The better node fails and recovers soon. */
const failedFavourite: Scenario = (_, setup) => {
  const config = configured(setup, {
    strategy: 'site-priority',
    sites: { a: { priority: 200 }, b: { priority: 100 } },
    failback: 'auto',
    minLeadership: '0s',
    backoff: { base: '1s', max: '6s' },
  });
  return {
    setup: groupOf(setup, { nodes: ['a1', 'b1'], config, faultPeriodMs: settledMs + 9_000 }),
    faults: [at(0, hook(0, 'takeover', 'fails', settledMs))],
  };
};

/** An operator lowers the priority of the leader's site. */
const siteLowered: Scenario = (_, setup) => {
  const config = configured(setup, {
    strategy: 'site-priority',
    sites: { a: { priority: 200 }, b: { priority: 100 } },
    failback: 'manual',
  });
  return {
    setup: groupOf(setup, { config, faultPeriodMs: settledMs + 4_500 }),
    faults: [at(settledMs, people({ do: 'priority', site: 0, priority: 10, lastsMs: null }))],
  };
};

/** A takeover hook kills its agent. */
const fatalTakeover: Scenario = (_, setup) => {
  const config = configured(setup, { timeouts: { ...setup.config.timeouts, takeover: '6s' } });
  return {
    setup: groupOf(setup, {
      config,
      sessionTimeoutMs: 4_000,
      tickMs: 1_000,
      faultPeriodMs: settledMs + 9_000,
    }),
    faults: [
      at(settledMs, hook(bystander, 'takeover', 'fatal', 8_000)),
      at(settledMs, hook(bystander, 'release', 'stubborn', 8_000)),
      at(settledMs, failoverTo(bystander)),
    ],
  };
};

/** The workload cannot be killed, and the fence hook fails. */
const fenceFails: Scenario = (_, setup) => {
  const laterMs = settledMs + 1_500;
  return {
    setup: groupOf(setup, { hasFence: true, faultPeriodMs: laterMs + 7_000 }),
    faults: [
      ...[0, 1, 2].map((node) => at(settledMs, hook(node, 'fence', 'fails', 20_000))),
      at(settledMs, hook(bystander, 'takeover', 'undying', 1_400)),
      at(settledMs, failoverTo(bystander)),
      at(laterMs, failoverTo(bystander)),
    ],
  };
};

/**
 * The leader's workload looks like a zombie and ignores SIGTERM. It continues to work after another node is
 * elected.
 */
const mainThreadEnds: Scenario = (_, setup) => {
  const laterMs = settledMs + 1_500;
  return {
    setup: groupOf(setup, { faultPeriodMs: laterMs + 2 * setup.sessionTimeoutMs }),
    faults: [
      at(settledMs, hook(bystander, 'takeover', 'headless', 1_400)),
      at(settledMs, failoverTo(bystander)),
      at(laterMs, failoverTo(bystander)),
    ],
  };
};

/** The leader's agent and guardian die and restart immediately, while their workload survives SIGKILL. */
const backAtOnce: Scenario = (_, setup) => {
  const laterMs = settledMs + 1_500;
  return {
    setup: groupOf(setup, { hasMemory: true, faultPeriodMs: laterMs + 2 * setup.sessionTimeoutMs }),
    faults: [
      at(settledMs, hook(bystander, 'takeover', 'undying', 1_400)),
      at(settledMs, failoverTo(bystander)),
      at(laterMs, { kind: 'kill both', node: whoLeads, forMs: 50 }),
    ],
  };
};

/** The supervisor dies during a takeover, at one of its calls. */
const supervisorDies: Scenario = ({ pick }, setup) => ({
  setup: groupOf(setup, { faultPeriodMs: settledMs + 2 * setup.sessionTimeoutMs }),
  faults: [
    at(settledMs, { kind: 'kill supervisor at a call', node: bystander, calls: pick([1, 1, 2]), forMs: 0 }),
    at(settledMs, failoverTo(bystander)),
  ],
});

/** The supervisor freezes while the leader's network is cut. */
const supervisorHangs: Scenario = (_, setup) => {
  const forMs = 3 * setup.sessionTimeoutMs;
  return {
    setup: groupOf(setup, { faultPeriodMs: settledMs + 1.1 * forMs }),
    faults: [
      at(settledMs, { kind: 'freeze supervisor', node: whoLeads, forMs }),
      at(settledMs + 10, { kind: 'cut', node: whoLeads, server: null, direction: 'both', forMs }),
    ],
  };
};

/** The leader's agent freezes, and the release that its guardian runs would take longer than the lease. */
const frozenReleasing: Scenario = (_, setup) => {
  const forMs = 6_000;
  return {
    setup: groupOf(setup, {
      sessionTimeoutMs: 2_000,
      tickMs: 500,
      delays: fastDelays,
      faultPeriodMs: settledMs + 1.1 * forMs,
    }),
    faults: [
      at(settledMs, hook(whoLeads, 'release', 'stubborn', forMs)),
      at(settledMs, { kind: 'freeze agent', node: whoLeads, forMs }),
    ],
  };
};

/** The leader's guardian dies. */
const guardianDies: Scenario = (_, setup) => ({
  setup: groupOf(setup, { faultPeriodMs: settledMs + 2 * setup.sessionTimeoutMs }),
  faults: [at(settledMs, { kind: 'kill supervisor', node: whoLeads, forMs: 0 })],
});

/** The leader's guardian dies. The supervisor that replaces the guardian dies when it starts the release. */
const supervisorsDie: Scenario = (_, setup) => ({
  setup: groupOf(setup, { faultPeriodMs: settledMs + 2 * setup.sessionTimeoutMs }),
  faults: [
    at(settledMs, hook(whoLeads, 'release', 'stubborn', 140)),
    at(settledMs, { kind: 'kill supervisor', node: whoLeads, forMs: 0 }),
    at(settledMs + 10, { kind: 'kill supervisor at a call', node: whoLeads, calls: 1, forMs: 0 }),
  ],
});

/**
 * A server, possibly the leader's, falls silent. On a slow network, the lease would end before the leader has
 * found another server.
 */
const silentServer: Scenario = (_, setup) => {
  const { sessionTimeoutMs } = setup;
  const forMs = 1.2 * sessionTimeoutMs;
  return {
    setup: groupOf(setup, {
      delays: fastDelays,
      servers: 3,
      tickMs: sessionTimeoutMs / 4,
      faultPeriodMs: settledMs + 16 * sessionTimeoutMs,
    }),
    faults: [0, 1, 2].map((server) =>
      at(settledMs + server * 5 * sessionTimeoutMs, { kind: 'freeze server', server, forMs }),
    ),
  };
};

/** Operators change a site that has a temporary priority. */
const overrideRewritten: Scenario = (_, setup) => ({
  setup: groupOf(setup, { faultPeriodMs: settledMs + 2_000 }),
  faults: [
    at(settledMs, people({ do: 'priority', site: 0, priority: 300, lastsMs: 6_000 })),
    at(settledMs + 600, people({ do: 'drain site', site: 0 })),
  ],
});

/** The network returns when the lease has ended but the release has not. */
const backAfterTheLease: Scenario = ({ between }, setup) => {
  const { sessionTimeoutMs } = setup;
  const forMs = between(0.33, 0.4) * sessionTimeoutMs;
  return {
    setup: groupOf(setup, { delays: fastDelays, faultPeriodMs: settledMs + 2 * sessionTimeoutMs }),
    faults: [
      at(settledMs, hook(whoLeads, 'release', 'stubborn', 2 * sessionTimeoutMs)),
      at(settledMs, { kind: 'cut', node: whoLeads, server: null, direction: 'both', forMs }),
    ],
  };
};

/**
 * A node's heartbeat is delayed, and no write follows. The node's server is partitioned from the other
 * servers afterwards.
 */
const signHeldUp: Scenario = ({ between }, setup) => {
  const { sessionTimeoutMs } = setup;
  const stalls = [0, 1, 2, 3, 4, 5].map((turn) => {
    // The stall covers a ping of the ensemble's leader, but is short enough that the node does not leave the
    // server.
    const stallMs = between(0.14, 0.2) * sessionTimeoutMs;
    return at(settledMs + turn * 4.5 * sessionTimeoutMs, {
      kind: 'partition',
      node: null,
      stallMs,
      pauseMs: between(0.3, 0.37) * sessionTimeoutMs - stallMs,
      forMs: 1.6 * sessionTimeoutMs,
    });
  });
  return {
    setup: groupOf(setup, {
      servers: 3,
      // These rates make leases seem longest and sessions shortest.
      rates: { nodes: 0.955, servers: 1.045 },
      tickMs: sessionTimeoutMs / 2,
      delays: fastDelays,
      faultPeriodMs: settledMs + 27 * sessionTimeoutMs,
    }),
    faults: stalls,
  };
};

/** A deposed leader of the ensemble resumes a session, and its successor ends that session. */
const vouchedByDeposed: Scenario = ({ between }, setup) => {
  const { sessionTimeoutMs } = setup;
  const turns = [0, 1, 2].flatMap((turn) => {
    const atMs = settledMs + turn * 5 * sessionTimeoutMs;
    return [
      at(atMs, { kind: 'partition', node: null, stallMs: 0, pauseMs: 0, forMs: 2 * sessionTimeoutMs }),
      at(atMs + between(0.12, 0.35) * sessionTimeoutMs, { kind: 'reset', node: whoLeads, forMs: 0 }),
    ];
  });
  return {
    setup: groupOf(setup, {
      servers: 3,
      tickMs: sessionTimeoutMs / 2,
      faultPeriodMs: settledMs + 15 * sessionTimeoutMs,
    }),
    faults: turns,
  };
};

/** A node can reach only one server, which is a deposed leader of the ensemble and has fallen behind. */
const leftWithDeposed: Scenario = ({ between }, setup) => {
  const { sessionTimeoutMs } = setup;
  const forMs = 1.5 * sessionTimeoutMs;
  return {
    setup: groupOf(setup, {
      servers: 3,
      delays: fastDelays,
      tickMs: sessionTimeoutMs / 2,
      faultPeriodMs: settledMs + 3 * sessionTimeoutMs,
    }),
    faults: [
      at(settledMs, { kind: 'strand', node: whoLeads, pauseMs: between(0.3, 0.6) * sessionTimeoutMs, forMs }),
      // At least one of the following actions is not performed over the deposed server, so it causes a
      // change.
      at(settledMs + 0.15 * sessionTimeoutMs, { kind: 'unhealthy', node: bystander, forMs: 20 }),
      at(settledMs + 0.2 * sessionTimeoutMs, { kind: 'unhealthy', node: whoElects, forMs: 20 }),
      at(settledMs + 0.25 * sessionTimeoutMs, people({ do: 'pause' })),
    ],
  };
};

/** The leader's connection breaks and is restored immediately. */
const leaderReset: Scenario = ({ between }, setup) => ({
  setup: groupOf(setup, { faultPeriodMs: settledMs + 2 * setup.sessionTimeoutMs }),
  faults: [at(settledMs + between(0, 300), { kind: 'reset', node: whoLeads, forMs: 0 })],
});

/** A node is not notified that its registration was deleted. */
const registrationDeleted: Scenario = (_, setup) => ({
  setup: groupOf(setup, { faultPeriodMs: settledMs + 500 }),
  faults: [at(settledMs, { kind: 'delete registration', node: bystander, forMs: 0 })],
});

const scenarios: readonly Scenario[] = [
  claimOvertaken,
  claimUnseated,
  readyOvertaken,
  decisionOvertaken,
  deletionOvertaken,
  removalOvertaken,
  decisionMissed,
  claimUnanswered,
  electedInItsNextSession,
  electorLeaves,
  electorSilent,
  candidateSilent,
  betterComes,
  betterComesByHand,
  leavesToIneligible,
  leavesToPriority0,
  leaderFallsIll,
  pausedAndIneligible,
  pausedAndRestarted,
  treeUnreadable,
  prepareFails,
  failingForLong,
  resumedInBackoff,
  failsAndRestarts,
  failedFavourite,
  siteLowered,
  fatalTakeover,
  fenceFails,
  backAtOnce,
  supervisorDies,
  supervisorHangs,
  backAfterTheLease,
  frozenReleasing,
  guardianDies,
  supervisorsDie,
  silentServer,
  overrideRewritten,
  signHeldUp,
  vouchedByDeposed,
  leftWithDeposed,
  leaderReset,
  registrationDeleted,
  mainThreadEnds,
];
