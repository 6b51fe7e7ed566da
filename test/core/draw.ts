/** Draws groups from a seed. Every part of their state occurs in any combination, likely or not. */

import { toInstant } from '../../src/model/names.js';
import type { Registration } from '../../src/model/registration.js';
import type { Elected, FailureRecord } from '../../src/model/znodes.js';
import { type Chance, chance } from '../support/chance.js';
import { Bench } from './bench.js';
import {
  byHand,
  claim,
  decided,
  epoch0Ms,
  failure,
  instant,
  member,
  sessionOf,
  takeoverDetail,
  unreadable,
  versioned,
} from './builders.js';

const names = ['a1', 'a2', 'b1', 'b2', 'c1'];

function drawSettings({ pick, odds, upTo }: Chance): Parameters<Bench['configure']>[0] {
  const site = () => ({
    priority: pick([0, 50, 100, 100, 200]),
    drained: odds(0.9) ? null : byHand,
    override: odds(0.3)
      ? {
          priority: pick([0, 10, 300]),
          until: pick([null, instant(-5000), instant(upTo(1_200_000))]),
          ...byHand,
        }
      : null,
  });
  const node = () => pick(['a1', 'a2', 'b1', 'b2', 'c1', 'gone']);
  const to = pick<{ node: string } | { site: string } | 'best-other'>([
    { node: node() },
    { site: pick(['a', 'b', 'c']) },
    'best-other',
  ]);
  return {
    ...pick([
      { strategy: 'site-priority' },
      { strategy: 'round-robin' },
      { strategy: 'oldest' },
      { strategy: 'first-available' },
      { strategy: 'preference-list', strategyOptions: { order: ['b2', 'a1'] } },
    ]),
    sites: odds(0.8) ? { a: site(), b: site() } : {},
    failback: pick(['auto', 'manual', 'after:10m']),
    minLeadership: pick(['0s', '1m']),
    paused: odds(0.1) ? byHand : null,
    switchover: odds(0.4)
      ? {
          to,
          replacesTerm: pick([3, 7]),
          notBefore: pick([null, instant(60_000)]),
          force: odds(0.3),
          ...byHand,
        }
      : null,
    drained: odds(0.2) ? { [node()]: byHand } : {},
    clearedFailures: odds(0.2) ? { [node()]: { failedAt: instant(-2000), ...byHand } } : {},
  };
}

/** Two of five groups compare scores. */
function drawScoring({ pick, odds }: Chance): Parameters<Bench['configure']>[0] {
  if (odds(0.6)) return {};
  const margin = pick<number | string>([0, 3, '20%']);
  const width = pick([0, 10]);
  return {
    ...pick<Parameters<Bench['configure']>[0]>([
      { strategy: 'history', strategyOptions: { width, margin } },
      { strategy: 'latency', strategyOptions: { width, margin } },
      { strategy: 'worst-case', strategyOptions: { size: 5 } },
      { strategy: 'pole', strategyOptions: { scores: [{ score: 'consensus', width }, 'history'], margin } },
      { strategy: 'rotating', strategyOptions: {} },
    ]),
    stabilization: { window: pick(['0s', '1m', '20m']), interval: '30s' },
    firstElection: { nodes: pick([1, 3]) },
  };
}

function drawMeasures({ odds, upTo }: Chance, bench: Bench, node: string): void {
  if (odds(0.2)) return;
  const peers = names.filter(() => odds(0.8));
  bench.measure(
    node,
    { ...(odds(0.9) ? { history: upTo(40) } : {}), ...(odds(0.8) ? { requests: upTo(9) } : {}) },
    Object.fromEntries(peers.map((peer) => [peer, upTo(60)])),
  );
}

function drawRegistration({ pick, odds }: Chance): Partial<Registration> {
  return {
    priority: pick([0, 10, 100, 100, 100]),
    health: odds(0.85) ? { ok: true, reason: null } : { ok: false, reason: 'disk full' },
    draining: odds(0.1),
    lastFailure: odds(0.15) ? { electedVersion: pick([4, 5]), token: null, detail: takeoverDetail } : null,
    claimedUnder: pick([null, 4, 5]),
  };
}

function drawFailure({ pick, odds, upTo }: Chance, node: string): FailureRecord {
  const failedAtMs = epoch0Ms - pick([1000, 2000, 30_000, 3_600_000]);
  return failure(node, {
    failedAt: toInstant(failedAtMs),
    until: odds(0.3) ? null : toInstant(failedAtMs + upTo(600_000)),
    incarnation: pick([`${node}-life1`, 'earlier']),
    restarted: odds(0.3),
    count: pick([1, 2, 5]),
  });
}

function drawElected(draw: Chance): Elected {
  const { pick, odds } = draw;
  const node = pick([null, 'a1', 'a2', 'b1', 'b2', 'c1', 'gone']);
  return decided({
    node,
    term: pick([3, 7]),
    previous: pick([null, { node: 'a2', site: 'a' }]),
    priorities: pick([null, [100, 100], [50, 10], [300, 100]]),
    requested: pick([
      null,
      { by: 'ops', overridden: [] },
      { by: 'ops', overridden: ['unhealthy', 'drained'] },
    ]),
    failures: names.filter(() => odds(0.3)).map((one) => drawFailure(draw, one)),
  });
}

export function drawGroup(seed: number): Bench {
  const draw = chance(seed);
  const scored = chance(-seed);
  const { pick, odds } = draw;
  const bench = new Bench([], { ...drawSettings(draw), ...drawScoring(scored) });
  bench.members = names
    .filter(() => odds(0.7))
    .map((node, seat) => {
      const one = member(node, drawRegistration(draw), { seat: odds(0.95) ? seat : null });
      return odds(0.04) ? { ...one, ...unreadable() } : one;
    });
  for (const node of names) drawMeasures(scored, bench, node);
  bench.elected = odds(0.08) ? unreadable(5) : versioned(drawElected(draw), 5, epoch0Ms - 1000);
  const owner = pick(['a1', 'b1', 'b1', 'c1', 'gone']);
  const status = pick(['PROGRESS', 'READY', 'READY'] as const);
  const made = claim(owner, { status, term: pick([3, 7]), owner: sessionOf(owner) });
  bench.current = odds(0.4) ? null : odds(0.05) ? { ...made, ...unreadable() } : made;
  bench.history = pick([
    null,
    unreadable(),
    versioned({ term: 2, fencingToken: null }),
    versioned({ term: 7, fencingToken: '100' }),
  ]);
  if (odds(0.04)) bench.config = unreadable(9);
  bench.canFence = odds(0.2);
  return bench;
}
