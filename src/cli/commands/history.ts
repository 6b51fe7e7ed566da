/** `petrel history` */
import { type Command, Option } from 'commander';
import * as z from 'zod';
import { phasesInTurn } from '../../core/records.js';
import { type History, historySchema, readHistory } from '../../group/history.js';
import { readTerm } from '../../group/term.js';
import { wholeNumber } from '../arguments.js';
import { failureLines } from '../change.js';
import { forTerminal, type Printable, table } from '../output.js';
import { slotOption } from '../slot-option.js';
import { styled } from '../style.js';
import { printableTerm } from '../term-text.js';
import { lengthText } from '../times.js';
import { show, watchOption } from '../watch.js';

const optionsSchema = z.object({ number: z.int(), term: z.int().optional(), slot: z.int().optional() });

export function addHistory(program: Command): void {
  program
    .command('history')
    .description('transitions and changes: who, why, and how long each phase took; the newest last')
    .addOption(
      new Option('-n, --number <n>', 'how many records, the newest ones')
        .argParser(wholeNumber(1, 10_000))
        .default(20),
    )
    .addOption(
      new Option('--term <n>', 'one transition, step by step').argParser(
        wholeNumber(1, Number.MAX_SAFE_INTEGER),
      ),
    )
    .addOption(
      slotOption(
        'whose transitions alone, where the group has several leaders; default: those of all, and with --term: 1',
      ),
    )
    .addOption(watchOption())
    .addHelpText(
      'after',
      `
Columns: TERM, and before it the slot where the group has several leaders; RELEASE, the old leader’s release hook; CLAIM,
from the decision to the claim, without the release; TAKEOVER,
from the claim to READY; GAP, for how long nobody led: from the beginning of the release, after a crash from the
decision. The service is then down for longer: from the crash on, which is up to the session timeout before anybody notices.
A leader that lost its lease and came back has a line of its own, under the same term: it is counted from when it stopped.

Examples:
  petrel history -n 50
  petrel history --term 4
  petrel history --slot 2
  petrel history -f json | jq '.records[] | select(.kind == "transition" and .outcome == "FAILED")'`,
    )
    .action(async (_options, command: Command) => {
      const { number, term, slot } = optionsSchema.parse(command.opts());
      await show(command, async (view, _nowMs, { access }) => {
        if (term !== undefined) {
          return printableTerm(await readTerm(access.store, access.paths, view, { term, slot }));
        }
        return printableHistory(await readHistory(access.store, access.paths, { limit: number, slot }));
      });
    });
}

function ofSlot({ slot }: { readonly slot?: number | undefined }): string {
  return slot === undefined ? '' : ` of slot ${slot}`;
}

type HistoryEntry = History['records'][number];

const header = ['when', 'term', 'what', 'from', 'to', 'release', 'claim', 'takeover', 'gap', 'why'];

function cells(record: HistoryEntry): string[] {
  if (record.kind === 'change') {
    const { at, what, by, reason } = record;
    return [at, '', what, '', '', '', '', '', '', `${by}${reason === null ? '' : `: ${reason}`}`];
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
    resumes === null ? electedAt : (resumes.endedAt ?? claimedAt ?? electedAt),
    // Where there are several leaders each slot counts its own terms.
    slot === undefined ? String(term) : `${slot}:${term}`,
    `${outcome} (${cause})`,
    previous?.node ?? '-',
    node ?? 'nobody',
    lengthText(phases.releaseMs),
    lengthText(phases.claimMs),
    lengthText(phases.takeoverMs),
    `${leaderlessAtLeast && leaderlessMs !== null ? '≥' : ''}${lengthText(leaderlessMs)}`,
    reason,
  ];
}

export function printableHistory(history: History): Printable {
  return {
    json: history,
    rows: [header, ...history.records.map(cells)],
    pretty: () => pretty(forTerminal(historySchema, history)),
  };
}

const notCounted =
  '≥, at least: a leader died or was cut off; until that was noticed, up to a session timeout or an outage passed, which is not counted. Nor is the release of a leader that left';

function pretty({ root, records, gaps, problems }: History): string {
  if (records.length === 0) return `Nothing has happened in ${root} yet.`;
  const oldestFirst = records.toReversed();
  const failed = oldestFirst
    .filter((record) => record.kind === 'transition')
    .filter(({ error }) => error !== null);
  const longest = gaps
    .filter(({ lengthMs }) => lengthMs !== null)
    .toSorted((a, b) => (b.lengthMs ?? 0) - (a.lengthMs ?? 0))[0];
  const open = gaps.filter(({ to }) => to === null);
  return [
    table(header, oldestFirst.map(cells)),
    ...failed.flatMap((record) => [
      '',
      styled(
        'red',
        `Term ${record.term}${ofSlot(record)} failed on ${record.node ?? 'nobody'}: ${record.error?.phase}: ${record.error?.reason}`,
      ),
      ...failureLines(record),
    ]),
    ...(longest === undefined
      ? []
      : [
          '',
          `Longest time without a leader${ofSlot(longest)}: ${longest.atLeast ? 'at least ' : ''}${lengthText(longest.lengthMs)}, from ${longest.from}`,
        ]),
    ...(gaps.some(({ atLeast }) => atLeast) ? [notCounted] : []),
    ...open.map((gap) => styled('red', `Without a leader${ofSlot(gap)} since ${gap.from}, by these records`)),
    ...problems.map(({ path, problem }) => styled('red', `! ${path} ${problem}`)),
  ].join('\n');
}
