/**
 * Changes to a group's configuration. Each is decided on what was read, and written by compare-and-set
 * together with a record in the history. If another client was faster, it is decided again.
 *
 * Not promised: that anything follows. `core` determines what the elector makes of it; `wait.ts` waits for
 * that.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Choice } from '../core/choice.js';
import { effectiveDecision } from '../core/effective-decision.js';
import { type ClockReading, ensembleNowMs } from '../core/ensemble-clock.js';
import { PetrelError } from '../errors.js';
import type { GroupConfig } from '../model/group-config.js';
import { brief, toInstant } from '../model/names.js';
import { formProblems, prepareConstraints, prepareStrategy } from '../model/read-config.js';
import { slotStates } from '../model/slots.js';
import type { ChangeRecord, Elected } from '../model/znodes.js';
import { recordedText } from '../tree/history-room.js';
import {
  type ConfigWrite,
  type GroupAccess,
  type LostReply,
  wasWritten,
  writeConfig,
} from './config-write.js';
import { judgeSlots, readableConfig, withAnswers } from './judge.js';
import { sizeProblems } from './strategy-versions.js';
import { readEnsembleClock } from './time.js';
import { type GroupView, readGroup, underConfig } from './view.js';

export interface Author {
  /** Author of the request. */
  readonly by: string;
  /** One line; null if none was given. */
  readonly reason: string | null;
}

/** The basis on which a request is decided. */
export interface Scene {
  readonly view: GroupView;
  readonly config: GroupConfig;
  readonly elected: Elected;
  /** Milliseconds since the epoch, on the ensemble's clock. */
  readonly nowMs: number;
  /** The author, the reason and the time, as the configuration records them. */
  readonly byHand: { readonly by: string; readonly reason: string; readonly at: string };
}

/** `config` is null if there is nothing to change. `what` then says why. */
export interface Decision {
  readonly config: GroupConfig | null;
  /** One line: "site a: priority 0 until …". */
  readonly what: string;
  /** The slot that the decision concerns; missing for all slots. */
  readonly slot?: number;
}

/**
 * A pure function. Throws PetrelError with reasons: REFUSED for what the group does not allow, CONFLICT while
 * something else is under way. Throws Unanswered if a strategy must be queried first; it is called again
 * after that.
 */
export type Request = (scene: Scene) => Decision;

export interface Plan extends Decision {
  /** The group as it was read. */
  readonly before: GroupView;
  readonly nowMs: number;
  /** The group as it will be. */
  readonly after: GroupView;
  /** The slot that `follows` refers to: one in which the choice changes something, if there is any. */
  readonly slot: number;
  /** The elector's choice after the change; null if that cannot be determined. */
  readonly follows: Choice | null;
  /** Whether a slot that has a READY leader now would have none. */
  readonly leavesNobody: boolean;
}

export interface Change extends Plan {
  /** Version of `config` that contains the change; null if nothing was changed. */
  readonly version: number | null;
  readonly reading: ClockReading;
}

const attempts = 5;

/** Reads and decides, but writes nothing. Throws whatever the request throws, and StoreError. */
export async function planChange(access: GroupAccess, author: Author, request: Request): Promise<Plan> {
  return (await plan(access, author, request)).plan;
}

/**
 * Changes the configuration. Calls `accept` before every attempt; it can stop the change by throwing. Throws
 * whatever the request throws. Throws PetrelError INVALID if the result would not be a valid configuration,
 * and CONFLICT if other clients were faster in every attempt. Throws StoreError; if its `outcomeUnknown` is
 * true, it is unknown whether the change was made.
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
  const before = await readGroup(access);
  const reading = await readEnsembleClock(access.store, access.paths, access.clock);
  const nowMs = ensembleNowMs(reading, access.clock.monotonicMs());
  const at = toInstant(nowMs);
  const byHand = { by: author.by, reason: author.reason ?? 'no reason given', at };
  const { decision, after, choices } = await withAnswers(before, (view) =>
    decided(request, { view, config: readableConfig(view), elected: effectiveDecision(view), nowMs, byHand }),
  );
  const slot = decision.slot ?? [...choices].find(([, { changes }]) => changes)?.[0] ?? 1;
  const follows = choices.get(slot) ?? null;
  const leavesNobody = slotStates(before).some(({ slot: of, current }) => {
    const isKept = of <= (after.config.value?.leaders ?? 1);
    return isKept && current?.value?.status === 'READY' && choices.get(of)?.node === null;
  });
  const record: ChangeRecord = {
    kind: 'change',
    by: author.by,
    what: brief(decision.what),
    reason: author.reason === null ? null : brief(author.reason),
    at,
  };
  return { plan: { ...decision, before, nowMs, after, slot, follows, leavesNobody }, reading, record };
}

/**
 * A pure function. Throws whatever the request throws, PetrelError INVALID for an invalid configuration, and
 * Unanswered.
 */
function decided(request: Request, scene: Scene) {
  const { view, config, nowMs } = scene;
  const decision = request(scene);
  if (decision.config !== null) mustBeValid(decision.config, view, config);
  const after = decision.config === null ? view : underConfig(view, decision.config);
  return { decision, after, choices: choicesOrNull(after, nowMs) };
}

/**
 * Checks the strategy and the constraints only if they change. Otherwise, one that is unusable here or fails
 * would prevent pausing, draining or failing over.
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

/** Nodes take a lower epoch as a sign of a restored backup. */
function epochProblems({ tokenEpoch }: GroupConfig, before: GroupConfig): string[] {
  if (tokenEpoch >= before.tokenEpoch) return [];
  return [
    `tokenEpoch: ${tokenEpoch} is lower than the current value, ${before.tokenEpoch}: nodes that have seen ${before.tokenEpoch} would refuse to lead`,
  ];
}

/** The choices by slot, in slot order. Empty if they cannot be determined. */
function choicesOrNull(view: GroupView, nowMs: number): ReadonlyMap<number, Choice> {
  try {
    return new Map([...judgeSlots(view, nowMs)].toSorted(([one], [other]) => one - other));
  } catch (error) {
    if (error instanceof PetrelError) return new Map();
    throw error;
  }
}
