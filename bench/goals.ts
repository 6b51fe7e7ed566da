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
  const limitOf = (measure: string) => of(handover3, names.limit, measure);
  const own = (contender: string, measure: string) => of(handover3, contender, measure);
  const crashed = of(crash, names.agent, 'crash');
  const [lost, bestLost] = [of(crash, names.agent, 'host'), best(crash, 'host')];
  const twoCommits = 2 * of(crash, names.limit, 'commit');
  const started = of(start, names.agent, 'start');
  const cpu = Math.max(
    of(idle, names.agent, 'cpu of the leader'),
    of(idle, names.agent, 'cpu of the others'),
  );
  return [
    ratio(
      'library, from SIGTERM until the next one leads: at most 1.2 × the best ZooKeeper peer',
      1.2,
      own(names.library, 'handover'),
      best(handover3, 'handover'),
    ),
    ratio(
      'library, from the end of the release until the next one leads: at most 1.5 × two commits and a notification',
      1.5,
      own(names.library, 'gap'),
      limitOf('transition'),
    ),
    ratio(
      'agent, from SIGTERM to the start of the takeover hook: at most 1.3 × two commits, a notification and two commands',
      1.3,
      own(names.agent, 'handover'),
      limitOf('handover with commands'),
    ),
    ratio(
      'agent, from the end of the release hook to the start of the takeover hook: at most 1.3 × two commits, a notification and a command',
      1.3,
      own(names.agent, 'gap'),
      limitOf('transition with commands'),
    ),
    goal(
      "the agent's process dies, 6 s sessions, until the takeover hook starts: at most 60 ms",
      crashed <= 60,
      `${ms(crashed)}; the best ZooKeeper peer ${ms(best(crash, 'crash'))}`,
      [crashed],
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
  const notified = at(many, names.library, 'notifications');
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
      'requests of one transition: at most 15, whatever the number of participants',
      many0 <= 15 && few0 <= 15 && notified <= many,
      `${round(few0)} requests of ${few} participants, ${round(many0)} of ${many}; ${round(notified)} notifications`,
      [isSpread ? few0 : Number.NaN, many0],
    ),
    goal(
      'bytes of one transition, notifications apart: at most 1.5 × those of the fewest participants',
      manyBytes <= 1.5 * fewBytes,
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

/** Returns the goal that a time is at most `most` times another one. */
function ratio(text: string, most: number, ownMs: number, otherMs: number): Goal {
  const figure = `${ms(ownMs)} against ${ms(otherMs)}: ${times(ownMs / otherMs)}`;
  return goal(text, ownMs <= most * otherMs, figure, [ownMs, otherMs]);
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
