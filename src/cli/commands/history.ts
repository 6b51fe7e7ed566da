/** Defines the command `petrel history`. */
import { type Command, Option } from 'commander';
import * as z from 'zod';
import { phasesInTurn } from '../../core/records.js';
import { type History, historySchema, readHistory } from '../../group/history.js';
import { readTerm } from '../../group/term.js';
import { wholeNumber } from '../arguments.js';
import { failureLines } from '../change.js';
import { helpText } from '../help-text.js';
import { type Layout, table, unlimited } from '../layout.js';
import { forTerminal, type Printable } from '../output.js';
import { slotOption } from '../slot-option.js';
import { styled } from '../style.js';
import { printableTerm } from '../term-text.js';
import { agoText, lengthText, sinceText, whenText } from '../times.js';
import { show, watchOption } from '../watch.js';

const optionsSchema = z.object({ number: z.int(), term: z.int().optional(), slot: z.int().optional() });

export function addHistory(program: Command): void {
  program
    .command('history')
    .summary('show past transitions and changes')
    .description('show transitions and changes: by whom, why, and how long each phase took; newest last')
    .addOption(
      new Option('-n, --number <n>', 'show the newest <n> records')
        .argParser(wholeNumber(1, 10_000))
        .default(20),
    )
    .addOption(
      new Option('--term <n>', 'show one transition step by step').argParser(
        wholeNumber(1, Number.MAX_SAFE_INTEGER),
      ),
    )
    .addOption(
      slotOption('show only this slot, in a group with several leaders (default: all slots; with --term: 1)'),
    )
    .addOption(watchOption())
    .addHelpText(
      'after',
      helpText(`
Columns (RELEASE, CLAIM and TAKEOVER with -f wide):
  TERM      term; in a group with several leaders, SLOT:TERM
  RELEASE   time in the old leader’s release hook
  CLAIM     time from the decision to the claim, excluding RELEASE
  TAKEOVER  time from the claim to READY
  GAP       time without a leader: from the start of the release, or, after a crash, from the decision. After a crash the
            service is down for longer: up to one session timeout passes before the crash is detected.
A leader that lost its lease and then led again has a separate line for the same term, timed from when it stopped leading.

Examples:
  petrel history -n 50
  petrel history --term 4
  petrel history --slot 2
  petrel history -f json | jq '.records[] | select(.kind == "transition" and .outcome == "FAILED")'`),
    )
    .action(async (_options, command: Command) => {
      const { number, term, slot } = optionsSchema.parse(command.opts());
      await show(command, async (view, nowMs, { access }) => {
        if (term !== undefined) {
          return printableTerm(await readTerm(access.store, access.paths, view, { term, slot }));
        }
        const history = await readHistory(access.store, access.paths, { limit: number, slot });
        return printableHistory(history, nowMs);
      });
    });
}

function ofSlot({ slot }: { readonly slot?: number | undefined }): string {
  return slot === undefined ? '' : ` of slot ${slot}`;
}

type HistoryEntry = History['records'][number];

const header = ['when', 'term', 'what', 'from', 'to', 'release', 'claim', 'takeover', 'gap', 'why'];

function cells(record: HistoryEntry, nowMs: number, layout: Layout): string[] {
  if (record.kind === 'change') {
    const { at, what, by, reason } = record;
    const why = `${by}${reason === null ? '' : `: ${reason}`}`;
    const when = whenText(at, nowMs, layout);
    // Descriptions of changes are long, so they are in the last column, which is wrapped.
    return layout.isWide
      ? [when, '', what, '', '', '', '', '', '', why]
      : [when, '', 'change', '', '', '', '', '', '', `${what}, by ${why}`];
  }
  const {
    electedAt,
    claimedAt,
    resumes,
    slot,
    term,
    outcome,
    cause,
    previous,
    node,
    leaderlessMs,
    leaderlessAtLeast,
    reason,
  } = record;
  const phases = phasesInTurn(record);
  return [
    whenText(resumes === null ? electedAt : (resumes.endedAt ?? claimedAt ?? electedAt), nowMs, layout),
    // In a group with several leaders, each slot has its own terms.
    slot === undefined ? String(term) : `${slot}:${term}`,
    `${outcome} (${cause})`,
    previous?.node ?? '-',
    node ?? 'none',
    lengthText(phases.releaseMs),
    lengthText(phases.claimMs),
    lengthText(phases.takeoverMs),
    `${leaderlessAtLeast && leaderlessMs !== null ? '≥' : ''}${lengthText(leaderlessMs)}`,
    reason,
  ];
}

/** `nowMs` is in milliseconds since the epoch, on the ensemble's clock. */
export function printableHistory(history: History, nowMs: number): Printable {
  return {
    json: history,
    rows: [header, ...history.records.map((record) => cells(record, nowMs, unlimited))],
    pretty: (layout) => pretty(forTerminal(historySchema, history), nowMs, layout),
  };
}

/**
 * Only the wide layout shows the durations of the phases. `petrel history --term` shows those of one term.
 */
const columns = { wideOnly: ['release', 'claim', 'takeover'] };

const notCounted = '≥: the time to notice the loss is not included';

function pretty({ root, records, gaps, problems }: History, nowMs: number, layout: Layout): string {
  if (records.length === 0) return `The history of ${root} is empty.`;
  const oldestFirst = records.toReversed();
  const failed = oldestFirst
    .filter((record) => record.kind === 'transition')
    .filter(({ error }) => error !== null);
  const longest = gaps
    .filter(({ lengthMs }) => lengthMs !== null)
    .toSorted((a, b) => (b.lengthMs ?? 0) - (a.lengthMs ?? 0))[0];
  const open = gaps.filter(({ to }) => to === null);
  return [
    table(
      header,
      oldestFirst.map((record) => cells(record, nowMs, layout)),
      layout,
      columns,
    ),
    ...failed.flatMap((record) => [
      '',
      styled(
        'red',
        `Term ${record.term}${ofSlot(record)} failed${record.node === null ? '' : ` on ${record.node}`}: ${record.error?.phase}: ${record.error?.reason}`,
      ),
      ...failureLines(record),
    ]),
    ...(longest === undefined
      ? []
      : [
          '',
          `Longest measured time without a leader${ofSlot(longest)}: ${longest.atLeast ? 'at least ' : ''}${lengthText(longest.lengthMs)}, ${layout.isWide ? `from ${longest.from}` : agoText(longest.from, nowMs)}`,
        ]),
    ...(gaps.some(({ atLeast }) => atLeast) ? [notCounted] : []),
    ...open.map((gap) =>
      styled(
        'red',
        `No leader${ofSlot(gap)} ${sinceText(gap.from, nowMs, layout)}, according to these records`,
      ),
    ),
    ...problems.map(({ path, problem }) => styled('red', `! ${path}: ${problem}`)),
  ].join('\n');
}
