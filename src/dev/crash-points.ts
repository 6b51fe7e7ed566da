/**
 * Crash points of a change of leader: the steps of the change, and the processes that may be killed at each
 * step. A point is written `[TRANSITION/]STEP[:WHO]`, for example `takeover-started`,
 * `claim-created:zookeeper`, or `failover/decided:candidate`.
 */
import { distance } from 'fastest-levenshtein';
import { PetrelError } from '../errors.js';
import { cut, quoted } from '../model/outside.js';

export const transitions = {
  switchover: 'a switchover that an operator requests',
  failover: "the leader's agent has been killed, and its guardian has ended its session",
  first: 'a new group holds its first election',
  failed: 'a switchover to a node whose takeover hook fails',
  drain: 'the leader is asked to leave (SIGTERM)',
} as const;
export type Transition = keyof typeof transitions;

export const victims = {
  elector: "the elector's agent, on a node that neither leads nor is elected",
  'elector-guardian': "the elector's guardian",
  'elector-both': "the elector's guardian and agent at once",
  leader: "the old leader's agent",
  'leader-guardian': "the old leader's guardian",
  'leader-both': "the old leader's guardian and agent at once",
  candidate: "the elected node's agent",
  'candidate-guardian': "the elected node's guardian",
  'candidate-both': "the elected node's guardian and agent at once",
  zookeeper: 'the ZooKeeper server; it restarts immediately',
} as const;
export type Victim = keyof typeof victims;

interface Step {
  /** Describes the state in which a process is killed. */
  readonly text: string;
  /** The node that takes the step. By default, the agent of this node is killed. */
  readonly of: 'elector' | 'leader' | 'candidate';
  readonly in: readonly Transition[];
}

const handovers = ['switchover', 'drain'] as const;
const takeovers = ['switchover', 'failover', 'first'] as const;

/** The steps in the order in which they occur. */
export const steps = {
  'leaving-announced': {
    text: 'the old leader has announced that it is leaving, but no node has been notified yet',
    of: 'leader',
    in: ['drain'],
  },
  decided: {
    text: 'the decision has been written, but no node has been notified yet',
    of: 'elector',
    in: ['switchover', 'failover', 'first', 'drain'],
  },
  'prepare-started': { text: "the candidate's prepare hook is running", of: 'candidate', in: takeovers },
  'release-started': { text: "the old leader's release hook is running", of: 'leader', in: handovers },
  'release-ended': {
    text: 'the old leader has completed its release, but its claim still exists',
    of: 'leader',
    in: handovers,
  },
  'claim-deleted': {
    text: "the old leader's claim has been deleted, but no node has been notified yet",
    of: 'leader',
    in: handovers,
  },
  'claim-created': {
    text: "the candidate's claim has been created, but the reply has not reached the candidate",
    of: 'candidate',
    in: takeovers,
  },
  'takeover-started': { text: "the candidate's takeover hook is running", of: 'candidate', in: takeovers },
  'takeover-ended': {
    text: "the candidate's takeover hook has ended, but READY has not been written",
    of: 'candidate',
    in: takeovers,
  },
  'undo-started': {
    text: 'the takeover hook has failed, and the candidate is releasing what it left behind',
    of: 'candidate',
    in: ['failed'],
  },
  'undo-ended': {
    text: 'the candidate has completed its release after the failure, but its claim still exists',
    of: 'candidate',
    in: ['failed'],
  },
  'failure-reported': {
    text: 'the candidate has given up its claim and reported the failure, but no node has been notified yet',
    of: 'candidate',
    in: ['failed'],
  },
  'decided-again': {
    text: 'another node has been elected instead, but no node has been notified yet',
    of: 'elector',
    in: ['failed'],
  },
  'ready-written': {
    text: 'READY has been written, but no node has been notified yet',
    of: 'candidate',
    in: takeovers,
  },
  recorded: {
    text: 'the transition has been recorded in the history, but no node has been notified yet',
    of: 'elector',
    in: takeovers,
  },
} as const satisfies Readonly<Record<string, Step>>;
export type StepName = keyof typeof steps;

export interface CrashPoint {
  readonly transition: Transition;
  readonly step: StepName;
  readonly victim: Victim;
}

export function pointName({ transition, step, victim }: CrashPoint): string {
  return `${transition}/${step}:${victim}`;
}

export function stepOf(step: StepName): Step {
  return steps[step];
}

/**
 * Returns the processes that may be killed in a transition. In a first election, and in an election after the
 * leader's death, there is no old leader.
 */
export function victimsIn(transition: Transition): Victim[] {
  const hasLeader = transition !== 'first' && transition !== 'failover';
  return keysOf(victims).filter((victim) => hasLeader || !victim.startsWith('leader'));
}

export function everyPoint(): CrashPoint[] {
  return keysOf(transitions).flatMap((transition) =>
    stepsIn(transition).flatMap((step) =>
      victimsIn(transition).map((victim) => ({ transition, step, victim })),
    ),
  );
}

function stepsIn(transition: Transition): StepName[] {
  return keysOf(steps).filter((step) => stepOf(step).in.includes(transition));
}

/** Parses a crash point. Throws PetrelError INVALID, with suggestions. */
export function parsePoint(text: string): CrashPoint {
  const [, before, name = '', who] = /^(?:([^/:]*)\/)?([^/:]*)(?::(.*))?$/.exec(text) ?? [];
  const step = chosen(name, keysOf(steps), 'step');
  const [usual] = stepOf(step).in;
  const transition =
    before === undefined ? usual : chosen(before, stepOf(step).in, `transition with step ${step}`);
  if (transition === undefined) throw new PetrelError('FAILED', `${step} belongs to no transition`);
  const { of } = stepOf(step);
  if (who === 'guardian' || who === 'both') return { transition, step, victim: `${of}-${who}` };
  const victim =
    who === undefined ? of : chosen(who, victimsIn(transition), `process in transition ${transition}`);
  return { transition, step, victim };
}

function chosen<Name extends string>(text: string, names: readonly Name[], what: string): Name {
  const found = names.find((name) => name === text);
  if (found !== undefined) return found;
  const word = cut(text);
  const near = names.toSorted((a, b) => distance(a, word) - distance(b, word))[0] ?? '';
  const hint =
    distance(near, word) <= Math.max(2, near.length / 3) ? `did you mean ${near}? Expected` : 'expected';
  throw new PetrelError('INVALID', `${quoted(text)} is not a ${what}: ${hint} one of ${names.join(', ')}`);
}

/** Returns the text about crash points for `--help`. */
export function pointsHelp(): string {
  const list = (entries: readonly (readonly [string, string])[]) =>
    entries.map(([name, text]) => `  ${name.padEnd(17)} ${text}`).join('\n');
  return `
Crash points, written [TRANSITION/]STEP[:WHO], e.g. takeover-started, claim-created:zookeeper, failover/decided:candidate.

STEP: the process is killed when
${list(keysOf(steps).map((step) => [step, stepOf(step).text]))}

WHO: the process that is killed; by default the agent that performs the step (guardian, both: the guardian of that node, or its guardian and agent)
${list(Object.entries(victims))}

TRANSITION: by default the first of these that contains the step
${list(Object.entries(transitions))}`;
}

function keysOf<Key extends string>(table: Readonly<Record<Key, unknown>>): Key[] {
  const isKey = (name: string): name is Key => Object.hasOwn(table, name);
  return Object.keys(table).filter(isKey);
}
