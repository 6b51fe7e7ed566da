/**
 * Changes to a group's configuration. A request bases its decision on the group as it was read. The decision
 * is written by compare-and-set, together with a record in the history. If another client has changed the
 * configuration first, the request decides again.
 *
 * Not promised: that the elector acts on the change. `core` determines the elector's choice, and `wait.ts`
 * waits for the effect of the change.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Choice } from '../core/choice-input.js';
import { effectiveDecision } from '../core/effective-decision.js';
import { type ClockReading, ensembleNowMs } from '../core/ensemble-clock.js';
import { PetrelError } from '../errors.js';
import type { GroupConfig } from '../model/group-config.js';
import { brief, toInstant } from '../model/names.js';
import { formProblems, prepareConstraints, prepareStrategy, usesScores } from '../model/read-config.js';
import { slotOf, slotStates } from '../model/slots.js';
import type { ChangeRecord, Elected } from '../model/znodes.js';
import { recordedText } from '../tree/history-room.js';
import { readNeighbour } from '../tree/neighbour.js';
import {
  type ConfigWrite,
  type GroupAccess,
  type LostReply,
  wasWritten,
  writeConfig,
} from './config-write.js';
import { judgeSlots, readableConfig, withAnswers } from './judge.js';
import { viewsOfSlots } from './slot-view.js';
import { sizeProblems } from './strategy-versions.js';
import { readEnsembleClock } from './time.js';
import { type GroupView, readGroup, underConfig } from './view.js';

export interface Author {
  /** Author of the request. */
  readonly by: string;
  /** Reason for the request, in one line. Null if none was given. */
  readonly reason: string | null;
}

/** The input on which a request bases its decision. */
export interface ChangeInput {
  readonly view: GroupView;
  readonly config: GroupConfig;
  readonly elected: Elected;
  /** The current time on the ensemble's clock, in milliseconds since the epoch. */
  readonly nowMs: number;
  /** Author, reason and time of the request, as recorded in the configuration. */
  readonly byHand: { readonly by: string; readonly reason: string; readonly at: string };
}

/** Result of a request. If there is nothing to change, `config` is null and `what` says why. */
export interface Decision {
  readonly config: GroupConfig | null;
  /** Describes the change in one line, such as "site a: priority 0 until …". */
  readonly what: string;
  /** The slot that the decision concerns. Missing if it concerns all slots. */
  readonly slot?: number;
}

/**
 * Decides on a change, as a pure function. Throws PetrelError with reasons: REFUSED if the group does not
 * allow the change, CONFLICT while another request or transition is under way. Throws Unanswered if a
 * strategy must be queried first. After the query, the function is called again.
 */
export type Request = (input: ChangeInput) => Decision;

export interface Plan extends Decision {
  /** The group as it was read. */
  readonly before: GroupView;
  readonly nowMs: number;
  /** The group as it will be after the change. */
  readonly after: GroupView;
  /**
   * The slot that `follows` describes. This is the slot that the decision concerns. If the decision concerns
   * all slots, this is the first slot in which the choice changes something. If there is no such slot, this
   * is slot 1.
   */
  readonly slot: number;
  /** The elector's choice after the change. Null if the choice cannot be determined. */
  readonly follows: Choice | null;
  /**
   * Whether the change would leave a slot without a leader. Considers only slots that remain and that have a
   * READY leader now.
   */
  readonly leavesNobody: boolean;
  /** Leaders and elected nodes that lose leadership because of the change, with their slots. */
  readonly ends: readonly SlotLeader[];
}

interface SlotLeader {
  readonly slot: number;
  readonly node: string;
  /** Whether the slot itself is removed because the group will have fewer leaders. */
  readonly slotEnds: boolean;
}

export interface Change extends Plan {
  /** Version of `config` that contains the change. Null if nothing was changed. */
  readonly version: number | null;
  readonly reading: ClockReading;
}

const attempts = 5;

/**
 * Reads the group and decides what the request would change, but writes nothing. Throws whatever the request
 * throws. Also throws StoreError.
 */
export async function planChange(access: GroupAccess, author: Author, request: Request): Promise<Plan> {
  return (await plan(access, author, request)).plan;
}

/**
 * Changes the configuration. Calls `accept` before every attempt. `accept` can stop the change by throwing.
 *
 * Throws whatever the request throws. Throws PetrelError INVALID if the resulting configuration would not be
 * valid, and CONFLICT if other clients changed the configuration during every attempt. Throws StoreError. If
 * the error's `outcomeUnknown` is true, it is unknown whether the change was made.
 */
export async function changeGroup(
  access: GroupAccess,
  author: Author,
  request: Request,
  accept: (plan: Plan) => Promise<void> = async () => {},
): Promise<Change> {
  let unsettled: { readonly write: ConfigWrite; readonly lost: LostReply; readonly change: Change } | null =
    null;
  const settled = async () => {
    if (unsettled === null) return null;
    return (await wasWritten(access, unsettled.write, unsettled.lost)) ? unsettled.change : null;
  };
  for (let attempt = 0; attempt < attempts; attempt++) {
    const made = await settled();
    if (made !== null) return made;
    const { plan: planned, reading, record } = await plan(access, author, request);
    if (planned.config === null) return { ...planned, reading, version: null };
    await accept(planned);
    const { version } = planned.before.config;
    const write = { text: JSON.stringify(planned.config), version, record };
    const change = { ...planned, reading, version: version + 1 };
    const result = await writeConfig(access, write);
    if (result.state === 'written')
      return { ...change, what: `${change.what}${recordedText(result.unrecorded)}` };
    if (result.state === 'unknown') {
      const what = `${change.what}${recordedText(result.isRecorded ? null : 'quota reached')}`;
      unsettled = { write, lost: result, change: { ...change, what } };
    }
  }
  const made = await settled();
  if (made !== null) return made;
  throw new PetrelError(
    'CONFLICT',
    `nothing was changed: ${access.paths.config} was changed by other clients during all ${attempts} attempts to write it. Try again`,
  );
}

async function plan(access: GroupAccess, author: Author, request: Request) {
  const read = await readGroup(access);
  const reading = await readEnsembleClock(access.store, access.paths, access.clock);
  const nowMs = ensembleNowMs(reading, access.clock.monotonicMs());
  const at = toInstant(nowMs);
  const byHand = { by: author.by, reason: author.reason ?? 'no reason given', at };
  const decide = (seen: Seen) =>
    withAnswers(seen.before, (view) => {
      const input = { view, config: readableConfig(view), elected: effectiveDecision(view), nowMs, byHand };
      return decided(request, input, seen.neighbour);
    });
  const first = { before: read, neighbour: read.neighbour };
  const decidedFirst = await decide(first);
  const more = await whatItTakes(access, read, decidedFirst.decision);
  const { before } = more ?? first;
  const { decision, after, choices, ends } = more === null ? decidedFirst : await decide(more);
  const slot = decision.slot ?? [...choices].find(([, { changes }]) => changes)?.[0] ?? 1;
  const follows = choices.get(slot) ?? null;
  const kept = after.config.value?.leaders ?? 1;
  const leavesNobody = slotStates(before).some(({ slot: of, current }) => {
    return of <= kept && current?.value?.status === 'READY' && choices.get(of)?.node === null;
  });
  const record: ChangeRecord = {
    kind: 'change',
    by: author.by,
    what: brief(decision.what),
    reason: author.reason === null ? null : brief(author.reason),
    at,
  };
  return { plan: { ...decision, before, nowMs, after, slot, follows, leavesNobody, ends }, reading, record };
}

/** The state that the effect of a change depends on. */
interface Seen {
  readonly before: GroupView;
  /** State of the group that is named in the affinity of the changed configuration. */
  readonly neighbour: GroupView['neighbour'];
}

/**
 * Reads the scores of nodes, or the state of another group, if the changed configuration uses them but the
 * current configuration does not. Returns null if everything has already been read.
 */
async function whatItTakes(
  access: GroupAccess,
  before: GroupView,
  { config }: Decision,
): Promise<Seen | null> {
  if (config === null) return null;
  const present = readableConfig(before);
  const hasScores = usesScores(present, access.rules) || !usesScores(config, access.rules);
  const hasNeighbour = config.affinity.group === present.affinity.group;
  if (hasScores && hasNeighbour) return null;
  return {
    before: hasScores ? before : await readGroup(access, { scores: true }),
    neighbour: hasNeighbour
      ? before.neighbour
      : await readNeighbour(access.store, config, access.paths, false),
  };
}

/**
 * Decides on the request, as a pure function. Throws whatever the request throws. Also throws Unanswered, and
 * throws PetrelError INVALID if the resulting configuration is invalid.
 */
function decided(request: Request, input: ChangeInput, neighbour: GroupView['neighbour']) {
  const { view, config, nowMs } = input;
  const decision = request(input);
  if (decision.config !== null) mustBeValid(decision.config, view, config);
  const after = decision.config === null ? view : { ...underConfig(view, decision.config), neighbour };
  const choices = choicesOrNull(after, nowMs);
  return { decision, after, choices, ends: endsOf(view, after, choices, nowMs) };
}

type Choices = ReadonlyMap<number, Choice>;

/** Returns the leaders whose leadership ends only because of the change. */
function endsOf(before: GroupView, after: GroupView, choices: Choices, nowMs: number): SlotLeader[] {
  const had = before.config.value?.leaders ?? 1;
  const keeps = after.config.value?.leaders ?? 1;
  const isChanging = [...choices.values()].some(({ changes }) => changes);
  const otherwise: Choices = isChanging ? choicesOrNull(before, nowMs) : new Map();
  return viewsOfSlots(before).flatMap((view): SlotLeader[] => {
    const { node } = effectiveDecision(view);
    const slot = slotOf(view);
    const [choice, without] = [choices.get(slot), otherwise.get(slot)];
    const slotEnds = slot <= had && slot > keeps;
    const isReplaced =
      choice?.changes === true && !(without?.changes === true && without.node === choice.node);
    return node !== null && (slotEnds || isReplaced) ? [{ slot, node, slotEnds }] : [];
  });
}

/**
 * Throws if the configuration is not valid. Checks the strategy and the constraints only if they change. An
 * unchanged strategy or constraint may fail, or this process may not have it. Such a problem must not prevent
 * operators from pausing, draining or failing over.
 */
function mustBeValid(config: GroupConfig, { members, rules }: GroupView, before: GroupConfig): void {
  const rankingOf = (one: GroupConfig) => [one.strategy, one.strategyOptions];
  const ranksAsBefore = isDeepStrictEqual(rankingOf(config), rankingOf(before));
  const refusesAsBefore = isDeepStrictEqual(config.constraints, before.constraints);
  const problems = [
    ...epochProblems(config, before),
    ...formProblems(config),
    ...(ranksAsBefore
      ? []
      : [...(prepareStrategy(config, rules).problems ?? []), ...sizeProblems(config, members.length)]),
    ...(refusesAsBefore ? [] : (prepareConstraints(config, rules).problems ?? [])),
  ];
  if (problems.length === 0) return;
  throw new PetrelError(
    'INVALID',
    `the change would make the configuration invalid: ${problems.join('; ')}`,
    {
      reasons: problems,
    },
  );
}

/**
 * Returns why the epoch must not change as requested. The epoch must not decrease, because nodes would
 * interpret a lower epoch as a sign of a restored backup.
 */
function epochProblems({ tokenEpoch }: GroupConfig, before: GroupConfig): string[] {
  if (tokenEpoch >= before.tokenEpoch) return [];
  return [
    `tokenEpoch: ${tokenEpoch} is lower than the current value, ${before.tokenEpoch}: nodes that have seen ${before.tokenEpoch} would refuse to lead`,
  ];
}

/** Returns the elector's choices, keyed by slot, in slot order. Empty if the choices cannot be determined. */
function choicesOrNull(view: GroupView, nowMs: number): Choices {
  try {
    return new Map([...judgeSlots(view, nowMs)].toSorted(([one], [other]) => one - other));
  } catch (error) {
    if (error instanceof PetrelError) return new Map();
    throw error;
  }
}
