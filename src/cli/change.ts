/**
 * Runs commands that change a group. Shows the plan, asks for confirmation if the change is dangerous, and
 * follows the change to its outcome.
 */
import type { Command } from 'commander';
import * as z from 'zod';
import { exitCodes } from '../exit-code.js';
import { changeGroup, type Plan, planChange, type Request } from '../group/change.js';
import {
  type ChangeResult,
  changeResult,
  changeResultSchema,
  choiceResult,
  isTransitionExpected,
} from '../group/change-result.js';
import { differenceText } from '../group/config-keys.js';
import { withAnswers } from '../group/judge.js';
import { hasSlot, viewOfSlot } from '../group/slot-view.js';
import { readOrEstimateClock } from '../group/time.js';
import { presentText } from '../group/transition.js';
import { readGroup } from '../group/view.js';
import { awaitSettled, awaitTerm, type Outcome, outcomeSchema, type WaitOptions } from '../group/wait.js';
import { oneLine } from '../model/outside.js';
import type { TransitionRecord } from '../model/znodes.js';
import { dangerLines, makeSure } from './ask.js';
import { forTerminal, isForPeople, type Printable, print, printText } from './output.js';
import { checkAccess, type Session, withSession } from './session.js';
import { styled } from './style.js';
import { lengthText } from './times.js';

const optionsSchema = z.object({
  reason: z.string().optional(),
  dryRun: z.boolean().default(false),
  yes: z.boolean().default(false),
  wait: z.boolean().default(true),
});

/** Adds the options shared by all commands that change a group. */
export function changeOptions(command: Command): Command {
  return command
    .option('--reason <text>', 'reason for the change, shown in the history and in petrel list')
    .option('--dry-run', 'show the changes and their effect without making them')
    .option('-y, --yes', 'skip confirmation prompts (asked only at a terminal)')
    .option('--no-wait', 'return without waiting for the outcome');
}

export function saidYes(command: Command): boolean {
  return optionsSchema.parse(command.opts()).yes;
}

export interface ChangeCommand {
  readonly request: Request;
  /**
   * Question to ask the operator before any change. If it is undefined, only a change that is dangerous or
   * ends a leadership needs confirmation.
   */
  readonly question?: string;
  /**
   * When to stop waiting. settled: when nothing is left to do. term: when the next term has an outcome. With
   * `term`, any outcome other than READY counts as a failure.
   */
  readonly until: 'settled' | 'term';
}

/** Runs a change, prints its result, and sets the exit code according to the outcome. Throws PetrelError. */
export async function runChange(command: Command, change: ChangeCommand): Promise<void> {
  const options = optionsSchema.parse(command.opts());
  await withSession(command, async (session) => {
    const { access, settings } = session;
    const author = session.author(options.reason);
    if (options.dryRun) {
      const plan = await planChange(access, author, change.request);
      const result = changeResult(plan, { dryRun: true, version: null, outcome: null });
      const facts = [...endsLines(plan), ...dangerLines(dangersOf(plan))];
      print(settings.format, printable(result, facts));
      return;
    }
    await checkAccess(session);
    const made = await changeGroup(access, author, change.request, onceConfirmed(change, options.yes));
    process.exitCode = exitCodes.done;
    const announced = changeResult(made, { dryRun: false, version: made.version, outcome: null });
    const { term } = announced;
    const waits = options.wait && term !== null && isTransitionExpected(made);
    const isReported = isForPeople(settings.format);
    const hint = hintLines(announced);
    if (!waits || isReported) print(settings.format, printable(announced, waits ? [] : hint));
    if (!waits) return;
    const outcome = await waitFor(session, change.until, term, made.slot).catch((error: unknown) => {
      // The change was made, so print how to follow its term.
      if (!isReported) print(settings.format, printable(announced));
      else for (const line of hint) printText(line);
      throw error;
    });
    if (isReported) await printOutcome(session, outcome, made.slot);
    else print(settings.format, printable({ ...announced, outcome }));
    process.exitCode = exitCodeOf(outcome, change.until, announced.follows?.node ?? null);
  });
}

/**
 * Returns a hint on how to follow a term. The hint is printed only if this process does not follow the term
 * itself.
 */
function hintLines({ term, slot }: ChangeResult): string[] {
  if (term === null) return [];
  return [`To follow the transition: petrel wait --term ${term}${slot === 1 ? '' : ` --slot ${slot}`}`];
}

/** How serious a change is. Confirming one level also confirms all lower levels. */
const levels = { harmless: 0, endsLeadership: 1, danger: 2 };

function levelOf(plan: Plan): number {
  if (dangersOf(plan).length > 0) return levels.danger;
  return plan.ends.length > 0 || isUncertain(plan) ? levels.endsLeadership : levels.harmless;
}

/**
 * True if this process cannot determine the elector's choice and the group is not paused. The change might
 * then end a leadership.
 */
function isUncertain({ follows, config }: Plan): boolean {
  return follows === null && config?.paused === null;
}

/**
 * Returns a function that asks for confirmation before the first attempt. The function asks again only if the
 * change turns out to be more serious in a later attempt.
 */
function onceConfirmed({ question }: ChangeCommand, yes: boolean): (plan: Plan) => Promise<void> {
  let confirmed = -1;
  return async (plan) => {
    const level = levelOf(plan);
    if (confirmed >= level) return;
    if (question !== undefined || level > levels.harmless) {
      const follows = followsLines(plan.follows === null ? null : choiceResult(plan.follows));
      const uncertain = isUncertain(plan) ? ['The effect on the leader cannot be determined here'] : [];
      const facts = [...follows, ...endsLines(plan), ...uncertain];
      await makeSure(
        { question: question ?? `${plan.what}: proceed?`, facts, dangers: dangersOf(plan) },
        yes,
      );
    }
    confirmed = level;
  };
}

function dangersOf({ leavesNobody, follows }: Plan): string[] {
  return leavesNobody ? [`the group would have no leader: ${follows?.reason ?? 'no node is eligible'}`] : [];
}

/**
 * Returns lines about leaders that stop leading because their slots are removed. The elector's choices do not
 * mention these leaders.
 */
function endsLines({ ends }: Plan): string[] {
  return ends
    .filter(({ slotEnds }) => slotEnds)
    .map(({ slot, node }) => styled('yellow', `Slot ${slot} ends: ${node} stops leading it`));
}

function waitFor(
  session: Session,
  until: ChangeCommand['until'],
  term: number,
  slot: number,
): Promise<Outcome> {
  const options = { ...waitOptions(session), slot };
  return until === 'term' ? awaitTerm(session.access, term, options) : awaitSettled(session.access, options);
}

export function waitOptions({ settings, signal }: Session): WaitOptions {
  return {
    signal,
    ...(settings.waitTimeoutMs === null ? {} : { timeoutMs: settings.waitTimeoutMs }),
    ...(isForPeople(settings.format) ? { onProgress: printProgress } : {}),
  };
}

function printProgress(line: string): void {
  process.stderr.write(`${styled('dim', oneLine(line), process.stderr)}\n`);
}

/**
 * Returns the exit code for an outcome. A switchover must end with the expected leader. For other changes, it
 * is enough that nothing is left to do.
 */
function exitCodeOf(outcome: Outcome, until: ChangeCommand['until'], expected: string | null): number {
  if (until === 'settled') return exitCodes.done;
  return outcome.state === 'READY' && outcome.node === expected ? exitCodes.done : exitCodes.failed;
}

/** In the output for people, the lines in `more` follow the result. */
function printable(result: ChangeResult, more: readonly string[] = []): Printable {
  return {
    json: result,
    rows: [
      ['what', 'changed', 'config version', 'term', 'outcome', 'node'],
      [
        result.what,
        String(result.changed),
        String(result.configVersion ?? '-'),
        String(result.term ?? '-'),
        result.outcome?.state ?? '-',
        result.outcome?.node ?? result.follows?.node ?? '-',
      ],
    ],
    pretty: () => [...pretty(forTerminal(changeResultSchema, result)), ...more].join('\n'),
  };
}

function pretty({ what, changed, dryRun, changes, configVersion, follows }: ChangeResult): string[] {
  if (changes.length === 0) return [`Nothing to change: ${what}`];
  const head = dryRun
    ? [styled('bold', `Dry run: ${what}`), ...changes.map((each) => `  ${differenceText(each)}`)]
    : changed
      ? [`Done: ${what} (configuration version ${configVersion})`]
      : [what];
  return [...head, ...followsLines(follows)];
}

function followsLines(follows: ChangeResult['follows']): string[] {
  if (follows === null) return [];
  const who = follows.node ?? 'No node';
  return [
    follows.changes
      ? styled('yellow', `${who} will be elected: ${oneLine(follows.reason)}`)
      : `${follows.node === null ? 'Still no node is elected' : `${who} remains elected`}: ${oneLine(follows.reason)}`,
  ];
}

/**
 * Prints the outcome for operators. If the outcome is not READY, also prints the current state of the slot.
 * If the slot has been removed, prints the state of the first slot instead.
 */
export async function printOutcome({ access }: Session, outcome: Outcome, slot = 1): Promise<void> {
  printText(outcomeText(outcome));
  if (outcome.state === 'READY') return;
  const group = await readGroup(access);
  const view = hasSlot(group, slot) ? viewOfSlot(group, slot) : group;
  const reading = await readOrEstimateClock(access.store, view, access.clock);
  const text = await withAnswers(view, (judged) => presentText(judged, reading.epochMs));
  printText(oneLine(text));
}

export function outcomeText(outcome: Outcome): string {
  const { state, term, node, reason, record } = forTerminal(outcomeSchema, outcome);
  switch (state) {
    case 'READY':
      return styled('green', `${node} is the leader: term ${term} is READY`);
    case 'NOBODY':
      return styled('red', `Term ${term} has no leader: ${reason}`);
    case 'SUPERSEDED':
      return styled('red', `Term ${term} was superseded: ${reason}`);
    case 'FAILED':
      return [
        styled('red', `Term ${term} failed${node === null ? '' : ` on ${node}`}: ${reason}`),
        ...failureLines(record),
      ].join('\n');
  }
}

/** Returns lines that describe a failed hook. Returns an empty list if no hook failed. */
export function failureLines(record: Pick<TransitionRecord, 'error'> | null): string[] {
  if (record === null || record.error === null) return [];
  const { command, exitCode, signal, durationMs, outputTail } = record.error;
  const how = [
    ...(command === null ? [] : [`command ${command}`]),
    ...(exitCode === null ? [] : [`exit code ${exitCode}`]),
    ...(signal === null ? [] : [`signal ${signal}`]),
    ...(durationMs === null ? [] : [`after ${lengthText(durationMs)}`]),
  ];
  return [...(how.length === 0 ? [] : [`  ${how.join(', ')}`]), ...outputTail.map((line) => `  | ${line}`)];
}
