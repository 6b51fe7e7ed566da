/** Checks Petrel's goals relative to the other contenders, against the measurements of one run. */
import { scaleScenario } from './scenarios/scale.js';
import type { Samples } from './statistics.js';

export interface Goal {
  readonly text: string;
  /** Whether the goal is met. Null if this run has not measured it. */
  readonly isMet: boolean | null;
  readonly figure: string;
}

export const names = {
  agent: 'Petrel, agent',
  library: 'Petrel, library',
  latch: 'Curator LeaderLatch',
  limit: 'limit',
} as const;

/** The names of the scenarios, shared by all modules. */
export const scenarios = {
  handover3: 'handover, three servers',
  handover1: 'handover, one server',
  crash: 'crash, three servers',
  start: 'start',
  idle: 'idle',
  scale: 'scale',
} as const;

export interface BestPeer {
  readonly name: string;
  readonly median: number;
}

/** Returns the fastest of the other contenders on ZooKeeper. */
export function bestPeer(
  samples: Samples,
  scenario: string,
  measure: string,
  peers: readonly string[],
): BestPeer | null {
  const measured = peers.flatMap((name) => {
    const spread = samples.spread(scenario, name, measure);
    return spread === null ? [] : [{ name, median: spread.median }];
  });
  return measured.toSorted((one, other) => one.median - other.median)[0] ?? null;
}

export function judge(samples: Samples, peers: readonly string[], sizes: readonly number[]): Goal[] {
  const { handover3, crash, start, idle } = scenarios;
  const of = (scenario: string, contender: string, measure: string) =>
    samples.spread(scenario, contender, measure)?.median ?? Number.NaN;
  const best = (scenario: string, measure: string) =>
    bestPeer(samples, scenario, measure, peers)?.median ?? Number.NaN;
  const [handed, bestHanded] = [of(handover3, names.agent, 'handover'), best(handover3, 'handover')];
  const [gap, floor] = [of(handover3, names.agent, 'gap'), of(handover3, names.limit, 'transition')];
  const [crashed, bestCrashed] = [of(crash, names.agent, 'crash'), best(crash, 'crash')];
  const [lost, bestLost] = [of(crash, names.agent, 'host'), best(crash, 'host')];
  const twoCommits = 2 * of(crash, names.limit, 'commit');
  const started = of(start, names.agent, 'start');
  const cpu = Math.max(
    of(idle, names.agent, 'cpu of the leader'),
    of(idle, names.agent, 'cpu of the others'),
  );
  return [
    goal(
      "planned handover, from SIGTERM to the start of the takeover hook: at most 1.2 × the best ZooKeeper peer's",
      handed <= 1.2 * bestHanded,
      `${ms(handed)} against ${ms(bestHanded)}: ${times(handed / bestHanded)}`,
      [handed, bestHanded],
    ),
    goal(
      'from the end of the release hook to the start of the takeover hook: at most 1.3 × two commits and a notification',
      gap <= 1.3 * floor,
      `${ms(gap)} against ${ms(floor)}: ${times(gap / floor)}`,
      [gap, floor],
    ),
    goal(
      "the agent's process dies, 6 s sessions: at least 20 × as fast as every ZooKeeper peer",
      20 * crashed <= bestCrashed,
      `${ms(crashed)} against ${ms(bestCrashed)}: ${times(bestCrashed / crashed)} as fast`,
      [crashed, bestCrashed],
    ),
    goal(
      'the whole node dies: no later than the best ZooKeeper peer and two commits',
      lost <= bestLost + twoCommits,
      `${ms(lost)} against ${ms(bestLost)} and ${ms(twoCommits)}`,
      [lost, bestLost, twoCommits],
    ),
    ...scaleGoals(samples, sizes),
    goal(
      'from the start of the process until it leads: under 350 ms',
      started < 350,
      `${ms(started)} (the library ${ms(of(start, names.library, 'start'))})`,
      [started],
    ),
    goal(
      'agent and guardian of an idle group: at most 12 s of processor an hour',
      cpu <= 12,
      `${round(cpu)} s, that of the leader or of the others, whichever is more`,
      [cpu],
    ),
  ];
}

function scaleGoals(samples: Samples, sizes: readonly number[]): Goal[] {
  const few = Math.min(...sizes);
  const many = Math.max(...sizes);
  const at = (size: number, contender: string, measure: string) =>
    samples.spread(scaleScenario(scenarios.scale, size), contender, measure)?.median ?? Number.NaN;
  const requests = [few, many].map((size) => at(size, names.library, 'requests'));
  const told = at(many, names.library, 'notifications');
  const bytes = [few, many].map(
    (size) => at(size, names.library, 'bytes') - at(size, names.library, 'notification bytes'),
  );
  const memory = [names.library, names.latch].map((name) => at(1_000, name, 'resident'));
  const [few0 = Number.NaN, many0 = Number.NaN] = requests;
  const [fewBytes = Number.NaN, manyBytes = Number.NaN] = bytes;
  const [own = Number.NaN, latch = Number.NaN] = memory;
  const isSpread = few < many;
  return [
    goal(
      'requests of one transition do not grow with the participants, notifications apart, of which there is at most one each',
      many0 <= few0 + 2 && told <= many,
      `${round(few0)} requests of ${few} participants, ${round(many0)} of ${many}; ${round(told)} notifications`,
      [isSpread ? few0 : Number.NaN, many0],
    ),
    goal(
      'bytes of one transition do not grow with the participants, notifications apart',
      manyBytes <= 1.1 * fewBytes,
      `${round(fewBytes)} bytes of ${few} participants, ${round(manyBytes)} of ${many}`,
      [isSpread ? fewBytes : Number.NaN, manyBytes],
    ),
    goal(
      "1,000 participants in one process: less memory than Curator's",
      own < latch,
      `${round(own)} MB against ${round(latch)} MB`,
      memory,
    ),
  ];
}

function goal(text: string, isMet: boolean, figure: string, figures: readonly number[]): Goal {
  const isMeasured = figures.every((value) => !Number.isNaN(value));
  return isMeasured ? { text, isMet, figure } : { text, isMet: null, figure: 'not measured in this run' };
}

function ms(value: number): string {
  return `${round(value)} ms`;
}

function times(ratio: number): string {
  return `${ratio.toFixed(2)} ×`;
}

/** More than three digits would suggest a precision that the measurements do not have. */
export function round(value: number): string {
  if (value >= 100) return Math.round(value).toLocaleString('en');
  return value >= 10 ? value.toFixed(1) : value.toFixed(2);
}
