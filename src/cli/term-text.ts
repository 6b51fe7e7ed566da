/** Formats one transition for operators. Each step is shown with the time since the decision. */

import { phasesInTurn } from '../core/records.js';
import { type TermReport, termSchema } from '../group/term.js';
import { fromInstant } from '../model/names.js';
import { failureLines } from './change.js';
import { type Layout, table } from './layout.js';
import { forTerminal, type Printable } from './output.js';
import { styled } from './style.js';
import { lengthText } from './times.js';

const header = ['when', 'after', 'node', 'step', 'what'];

export function printableTerm(logContext: TermReport): Printable {
  return {
    json: logContext,
    rows: [header, ...cells(logContext)],
    pretty: (layout) => pretty(forTerminal(termSchema, logContext), layout),
  };
}

function cells({ steps, electedAt }: TermReport): string[][] {
  return steps.map(({ at, step, node, text }) => [at ?? '-', after(at, electedAt), node ?? '-', step, text]);
}

function after(at: string | null, electedAt: string): string {
  if (at === null) return '-';
  const afterMs = fromInstant(at) - fromInstant(electedAt);
  return `${afterMs < 0 ? '-' : '+'}${lengthText(Math.abs(afterMs))}`;
}

function pretty(logContext: TermReport, layout: Layout): string {
  const { root, slot, term, outcome, node, reason, lengths, failed, resumes } = logContext;
  const { totalMs, leaderlessMs, leaderlessAtLeast } = lengths;
  const { releaseMs, claimMs, takeoverMs } = phasesInTurn({ phases: lengths, release: logContext.release });
  const from = resumes === null ? 'From the decision' : 'From the end of the earlier leadership';
  const style = outcome === 'READY' ? 'green' : outcome === 'UNDER_WAY' ? 'yellow' : 'red';
  const phases = `release ${lengthText(releaseMs)}, claim ${lengthText(claimMs)}, takeover ${lengthText(takeoverMs)}`;
  return [
    `Term ${term} of ${root}${slot === undefined ? '' : `, slot ${slot}`}, ${node ?? 'no node'}: ${styled(style, outcome)}`,
    `Reason: ${reason}`,
    '',
    table(header, cells(logContext), layout, { wideOnly: ['when'] }),
    ...(logContext.error === null ? [] : failureLines(logContext)),
    '',
    `${from} to READY: ${lengthText(totalMs)} (${phases})`,
    `Time without a leader: ${leaderlessAtLeast ? 'at least ' : ''}${lengthText(leaderlessMs)}`,
    ...(failed.length === 0
      ? []
      : [
          `Failed earlier in this transition: ${failed.map((record) => record.node ?? 'no node').join(', ')}`,
        ]),
  ].join('\n');
}
